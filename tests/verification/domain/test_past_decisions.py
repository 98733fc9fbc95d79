"""What a past decision is about, and what was on screen."""

import pytest

from tests.logs import arrived, turn
from verification.domain.decisions import Action
from verification.domain.past_decisions import PastDecision


@pytest.mark.parametrize(
    ("key", "target", "about"),
    [
        ("target:e1", None, "e1"),
        ("target:target:x", None, "target:x"),
        ("interrupt:n:3", "e1", "e1"),
        ("interrupt:n:3", None, None),
        ("held", None, None),
    ],
)
def test_a_decision_knows_its_target(key, target, about):
    assert PastDecision(key, Action.OVERRIDE, 9, target=target).about == about


def test_a_line_was_seen_if_it_was_there():
    made = PastDecision("held", Action.RELEASE_HOLD, seen_position=4)

    assert made.saw(arrived(4, turn(3)))
    assert not made.saw(arrived(5, turn(3)))


def test_asking_back_settles_nothing():
    assert PastDecision("held", Action.UPHOLD, 1).settles
    assert not PastDecision("held", Action.ASK, 1).settles
    assert not PastDecision("held", Action.CANNOT_DECIDE, 1).settles
