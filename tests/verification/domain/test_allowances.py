"""What a person may have allowed at the host."""

import pytest

from tests.logs import line, resumed, suspended, turn, verdict
from tests.verification.domain.concluding import case_of
from verification.domain.allowances import Allowances
from verification.domain.index import index
from verification.domain.ties import interrupts_of_decisions

FAILED = [turn(1), verdict(2, "e1", "fail")]


def allowed(*lines, before=9):
    """Whether an answer between the fail and a moment may have let the target through."""
    log = index([*FAILED, *lines])
    case = case_of("e1", *FAILED, *lines)
    allowances = Allowances(log, {"e1", "e7"}, interrupts_of_decisions(log, []))
    return allowances.between(case, case.standing[0], before) is not None


@pytest.mark.parametrize(
    "lines",
    [
        [suspended(3, "gate"), resumed(4, "gate")],
        [suspended(3, "n1", "clarification"), resumed(4, "n1")],
        [line(3, "node.suspended", {"kind": "custom"}, "x", causation_id="e2"), resumed(4, "x")],
        [line(3, "node.suspended", {"kind": "custom"}, "x", causation_id="e1"), resumed(4, "x")],
        [line(3, "approval.granted", {"gateId": "e1"})],
        [line(3, "approval.granted", {"gateId": "somewhere"})],
        [line(3, "approval.overridden", {})],
    ],
)
def test_an_answer_that_may_have_been_about_the_target_counts(lines):
    assert allowed(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [suspended(3, "gate")],
        [suspended(3, "gate"), resumed(4, "gate", action="reject")],
        [suspended(3, "gate"), line(4, "run.failed", {})],
        [suspended(3, "x", "clarification"), resumed(4, "x")],
        [suspended(3, "gate", "external-event"), resumed(4, "gate")],
        [suspended(0, "gate"), resumed(3, "gate")],
        [line(3, "approval.granted", {"gateId": "e7"})],
        [line(3, "approval.rejected", {"gateId": "e1"})],
    ],
)
def test_an_answer_about_something_else_does_not(lines):
    assert not allowed(*lines)


def test_an_answer_counts_only_if_it_came_in_time():
    lines = [suspended(3, "gate"), resumed(6, "gate")]

    assert allowed(*lines, before=7)
    assert not allowed(*lines, before=6)
