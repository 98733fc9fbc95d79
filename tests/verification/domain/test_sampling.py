"""Which passes are looked at."""

from hypothesis import given
from hypothesis import strategies as st

from verification.domain.sampling import is_sampled


@given(st.text())
def test_nothing_of_none_and_everything_of_all(about):
    assert not is_sampled(about, 0)
    assert is_sampled(about, 100)


@given(st.text(), st.floats(0, 100), st.floats(0, 100))
def test_a_larger_share_holds_the_smaller_one(about, one, other):
    low, high = sorted((one, other))
    assert not is_sampled(about, low) or is_sampled(about, high)


def test_the_share_is_about_as_large_as_asked_and_depends_on_the_salt():
    drawn = [is_sampled(f"run-{n}", 10, "salt") for n in range(5000)]
    assert 400 < sum(drawn) < 600
    assert drawn != [is_sampled(f"run-{n}", 10, "pepper") for n in range(5000)]
