"""Whether two views are the same."""

from hypothesis import given
from hypothesis import strategies as st

from verification.domain.freshness import View, changes

VIEWS = st.builds(
    View,
    version=st.integers(0, 2),
    position=st.integers(-1, 2),
    digest=st.sampled_from(["", "a", "b"]),
    verdicts=st.frozensets(st.sampled_from(["v1", "v2"])),
)


@given(VIEWS, VIEWS)
def test_nothing_changed_exactly_when_the_views_are_equal(seen, current):
    assert (changes(seen, current) == ()) == (seen == current)


def test_every_change_is_named():
    before, after = View(1), View(2, 3, "d", frozenset({"v"}))

    assert changes(before, after) == ("escalation", "verdicts", "subject", "events")
