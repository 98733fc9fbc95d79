"""Who held what at a moment of a run."""

from tests.logs import mark
from verification.domain.past_claims import reviews


def told(position, what, escalation, by="ada"):
    return mark(position, f"console.escalation.{what}", {"escalation": escalation, "by": by})


def test_a_claim_lasts_until_it_is_released_lapses_or_is_decided():
    lines = [told(1, "claimed", 7), told(2, "claimed", 8, "ben"), told(3, "claimed", 9)]
    ends = [told(4, "released", 7), told(5, "resolved", 9)]

    assert reviews(lines).claimed == {7: "ada", 8: "ben", 9: "ada"}
    assert reviews([*lines, *ends]).claimed == {8: "ben"}
    assert reviews([*lines, *ends]).resolved == {9}


def test_what_was_released_can_be_claimed_again():
    lines = [told(1, "claimed", 7), told(2, "lapsed", 7), told(3, "claimed", 7, "ben")]

    assert reviews(lines).claimed == {7: "ben"}


def test_a_decision_that_was_taken_back_leaves_the_claim_with_who_took_it_back():
    lines = [told(1, "claimed", 7), told(2, "resolved", 7), told(3, "undone", 7)]

    assert reviews(lines).claimed == {7: "ada"}
    assert not reviews(lines).resolved


def test_the_order_in_which_lines_are_given_does_not_matter():
    lines = [told(1, "claimed", 7), told(2, "released", 7)]

    assert reviews(reversed(lines)) == reviews(lines)


def test_lines_that_say_nothing_readable_are_passed_over():
    unreadable = mark(1, "console.escalation.claimed", {"escalation": "7"})

    assert reviews([unreadable, mark(2, "console.gate.changed", {"escalation": 7})]).claimed == {}
