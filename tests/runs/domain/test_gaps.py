from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from runs.domain.gaps import Span, extend, missing_between

sequences = st.sets(st.integers(0, 60), max_size=40)


def missing_by_counting(held: set[int], *, origin: int = 0) -> set[int]:
    return set(range(origin, max(held) + 1)) - held if held else set()


def spelled_out(ranges) -> set[int]:
    return {number for first, last in ranges for number in range(first, last + 1)}


@given(st.lists(sequences, max_size=6))
def test_the_missing_ranges_are_what_counting_finds_however_the_events_arrive(batches):
    held: set[int] = set()
    span = Span()
    for batch in batches:
        span = extend(span, batch - held)
        held |= batch

    assert spelled_out(span.missing(starts_at_one=False)) == missing_by_counting(held)


@given(st.permutations(range(12)), st.sets(st.integers(0, 11)))
def test_the_order_of_arrival_makes_no_difference(order, lost):
    arrived = [number for number in order if number not in lost]
    one_by_one = Span()
    for number in arrived:
        one_by_one = extend(one_by_one, [number])

    assert one_by_one == extend(Span(), arrived)


@given(sequences)
def test_ranges_never_touch_each_other(held):
    ranges = extend(Span(), held).missing(starts_at_one=False)

    for (_, end), (start, _) in pairwise(ranges):
        assert end + 1 < start


def test_a_log_that_starts_at_one_misses_nothing_before_it():
    span = extend(Span(), [1, 2])

    assert span.missing(starts_at_one=True) == ()
    assert span.missing(starts_at_one=False) == ((0, 0),)


def test_a_far_jump_costs_one_range():
    assert extend(Span(), [0, 2**53 - 1]).gaps == ((1, 2**53 - 2),)


def test_only_what_lies_strictly_between_two_events_counts():
    assert missing_between(((0, 3), (6, 9)), 2, 8) == ((3, 3), (6, 7))
    assert missing_between(((0, 3),), 3, 8) == ()
