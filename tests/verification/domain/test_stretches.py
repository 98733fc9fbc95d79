"""Whether something lies between two moments of a run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.stretches import SHOWN_RANGES, Stretches, first_between, missing_between

PLACES = st.integers(0, 20)


@given(st.lists(st.tuples(PLACES, PLACES)), PLACES, PLACES)
def test_a_stretch_is_found_exactly_if_one_lies_inside(pairs, after, before):
    pairs = [(min(pair), max(pair)) for pair in pairs]
    stretches = Stretches()
    for start, end in pairs:
        stretches.add(start, end, (start, end))

    inside = [(start, end) for start, end in pairs if start > after and end < before]

    found = stretches.within(after, before)
    assert (found is None) is (not inside)
    assert found is None or found[1] == min(end for _, end in inside)


@given(st.lists(PLACES).map(sorted), PLACES, PLACES)
def test_the_first_item_between_is_found(items, after, before):
    inside = [each for each in items if after < each < before]

    assert first_between(items, after, before, int) == (inside[0] if inside else None)


@pytest.mark.parametrize(
    ("after", "before", "expected"),
    [
        (2, 5, ((3, 4),)),
        (3, 5, ((4, 4),)),
        (-1, 99, ((0, 0), (3, 4), (9, 9))),
        (4, 9, ()),
        (5, 5, ()),
        (9, 3, ()),
    ],
)
def test_missing_ranges_are_cut_to_what_lies_between(after, before, expected):
    assert missing_between([(0, 0), (3, 4), (9, 9)], after, before) == expected


def test_only_the_first_of_very_many_ranges_are_named():
    gaps = [(2 * each, 2 * each) for each in range(10_000)]

    assert len(missing_between(gaps, -1, 99_999)) == SHOWN_RANGES
