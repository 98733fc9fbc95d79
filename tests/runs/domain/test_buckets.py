from hypothesis import given
from hypothesis import strategies as st

from runs.domain.buckets import Bucket, Rate

TEN = Rate(per_second=10, at_once=20)


def test_a_new_bucket_lets_a_burst_in_and_then_no_more():
    bucket = Bucket(TEN, now=0)

    bucket.spend(20, now=0)

    assert bucket.left(now=0) == 0
    assert bucket.wait_s(now=0) == 0.1


def test_what_was_spent_comes_back_with_time_and_no_further_than_full():
    bucket = Bucket(TEN, now=0)
    bucket.spend(20, now=0)

    assert bucket.left(now=1) == 10
    assert bucket.left(now=100) == 20
    assert bucket.is_full(now=100)


def test_a_debt_must_be_paid_before_anything_comes_in():
    bucket = Bucket(TEN, now=0)
    bucket.spend(50, now=0)

    assert bucket.wait_s(now=0) == 3.1
    assert bucket.wait_s(now=3) > 0
    assert bucket.wait_s(now=3.1) == 0


def test_a_clock_that_stands_still_gives_nothing():
    bucket = Bucket(TEN, now=5)
    bucket.spend(20, now=5)

    assert bucket.left(now=4) == 0


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(1, 30)), max_size=40))
def test_in_the_long_run_no_more_comes_in_than_the_rate_and_one_burst_and_one_debt(steps):
    bucket, now, came = Bucket(TEN, now=0), 0.0, 0
    largest = max((amount for _, amount in steps), default=0)
    for pause, amount in steps:
        now += pause
        if bucket.wait_s(now) == 0:
            bucket.spend(amount, now)
            came += amount

    assert came <= TEN.at_once + TEN.per_second * now + largest
