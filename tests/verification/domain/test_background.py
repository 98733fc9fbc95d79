from hypothesis import assume, given

from tests.logs import line, started, turn, verdict
from tests.verification.domain.concluding import concluded, summary
from tests.verification.domain.test_conclude_generated import LOGS, MARKS
from verification.domain.background import needs_background
from verification.domain.signals import BACKGROUND_TYPES


def without_background(lines):
    return [each for each in lines if each.type not in BACKGROUND_TYPES]


def all_passed(lines):
    """The same log, with every verdict a pass on one of the turns."""
    turns = [each.event_id for each in lines if each.type == "agent.decided"]
    assume(turns)
    return [
        each._replace(payload={**each.payload, "target": turns[at % len(turns)], "verdict": "pass"})
        if each.type == "agent.verified"
        else each
        for at, each in enumerate(lines)
    ]


@given(LOGS.map(all_passed), MARKS)
def test_where_the_background_is_not_needed_it_changes_nothing(lines, marks):
    found = concluded(*without_background(lines), *marks)

    assert needs_background(found) or summary(found) == summary(concluded(*lines, *marks))


def test_a_run_whose_verdicts_all_pass_needs_none():
    lines = [started(), turn(1), verdict(2, "e1", "pass"), line(3, "node.completed", {}, "n1")]

    assert not needs_background(concluded(*without_background(lines)))


def test_a_fail_and_a_target_that_is_no_turn_need_it():
    assert needs_background(concluded(started(), turn(1), verdict(2, "e1", "fail")))
    assert needs_background(concluded(started(), turn(1), verdict(2, "call-1", "pass")))
