"""Whether the host's log shows our decision, somebody else's, or nothing to tell them by."""

import pytest

from tests.verification.domain.recorded import line, recordings, resume_value
from verification.domain.effect import Suspension
from verification.domain.frozen import resume_body
from verification.domain.readback import ReadBack, compare

PAUSE = Suspension("gate", 5, "i1")
AT = "2026-11-30T08:00:00.000Z"
ACCEPT = {"action": "accept", "decidedAt": AT, "decidedBy": "p1"}
REJECT = {"action": "reject", "decidedAt": AT, "decidedBy": "p1"}
REFINE = {"action": "refine", "decidedAt": AT, "refineFeedback": {"scope": "whole", "text": "x"}}
ANSWERS = {"answers": {"q1": "blue"}}

SILENT = {
    "sqlite:clarification.answered",
    "sqlite:console-ask-user.answered",
    "sqlite:external-event.matched",
}
"""Hosts that do not record what they were told: nobody can say whose decision it was."""


def found(ours, *lines):
    return compare(lines, PAUSE, resume_body(ours))


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.name)
def test_a_decision_that_a_live_host_took_is_found_in_its_log(recording):
    pause = Suspension(recording.node_id, recording.pause.sequence, recording.interrupt_id)
    exchange = recording.accepted()
    if exchange is None or exchange["path"].endswith("/cancel"):
        expected = ReadBack.OVERTAKEN if recording.name.endswith("while-waiting") else ReadBack.OPEN
        assert compare(recording.lines, pause, resume_body(ACCEPT)) is expected
        return

    ours = resume_value(exchange)
    expected = ReadBack.UNKNOWN if recording.name in SILENT else ReadBack.EQUAL
    assert compare(recording.lines, pause, resume_body(ours)) is expected


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.name)
def test_the_opposite_of_what_a_live_host_took_is_never_found_in_its_log(recording):
    pause = Suspension(recording.node_id, recording.pause.sequence, recording.interrupt_id)
    exchange = recording.accepted()
    action = resume_value(exchange).get("action") if exchange else None
    opposite = REJECT if action == "accept" else ACCEPT

    verdict = compare(recording.lines, pause, resume_body(opposite))

    assert verdict is not ReadBack.EQUAL
    is_told = action in {"accept", "reject"}
    assert (verdict is ReadBack.DIFFERENT) == is_told


@pytest.mark.parametrize(
    ("type_", "payload", "ours", "expected"),
    [
        ("interrupt.resolved", {"resumeValue": ACCEPT}, ACCEPT, ReadBack.EQUAL),
        ("interrupt.resolved", {"resumeValue": REJECT}, ACCEPT, ReadBack.DIFFERENT),
        ("interrupt.resolved", {"resumeValue": None}, ACCEPT, ReadBack.DIFFERENT),
        ("node.resumed", {"resumeValue": {**ACCEPT, "decidedBy": "x"}}, ACCEPT, ReadBack.EQUAL),
        (
            "node.resumed",
            {"resumeValue": {**ACCEPT, "decidedAt": "2026-11-30T09:00:00+01:00"}},
            ACCEPT,
            ReadBack.EQUAL,
        ),
        (
            "node.resumed",
            {"resumeValue": {**ACCEPT, "decidedAt": "2026-11-30T08:00:01Z"}},
            ACCEPT,
            ReadBack.DIFFERENT,
        ),
        (
            "node.resumed",
            {"resumeValue": {**ACCEPT, "feedback": "no"}},
            ACCEPT,
            ReadBack.DIFFERENT,
        ),
        ("node.resumed", {"resumeValue": {"action": "accept"}}, ACCEPT, ReadBack.EQUAL),
        ("node.resumed", {"action": "accept"}, ACCEPT, ReadBack.EQUAL),
        ("node.resumed", {"action": "reject"}, ACCEPT, ReadBack.DIFFERENT),
        ("node.resumed", {"action": "resolve"}, ACCEPT, ReadBack.UNKNOWN),
        ("node.resumed", {"action": "refine"}, REFINE, ReadBack.UNKNOWN),
        ("node.resumed", {"action": "accept"}, REFINE, ReadBack.DIFFERENT),
        ("node.resumed", {"action": "accept"}, ANSWERS, ReadBack.UNKNOWN),
        ("node.resumed", None, ACCEPT, ReadBack.UNKNOWN),
        ("node.completed", {"outcome": "rejected"}, REJECT, ReadBack.EQUAL),
        ("node.completed", {"outcome": "rejected"}, ACCEPT, ReadBack.DIFFERENT),
        ("node.completed", {"outputs": {"output": ACCEPT}}, ACCEPT, ReadBack.EQUAL),
        ("node.completed", {"outputs": {"output": REJECT}}, ACCEPT, ReadBack.DIFFERENT),
        (
            "node.completed",
            {"outputs": {"output": {**ACCEPT, "decidedAt": "2026-11-30T08:00:09Z"}}},
            ACCEPT,
            ReadBack.DIFFERENT,
        ),
        (
            "node.completed",
            {"outputs": {"output": {**ACCEPT, "artifact": {"a": 1}}}},
            ACCEPT,
            ReadBack.EQUAL,
        ),
        ("node.completed", {"outputs": {"output": ANSWERS}}, ANSWERS, ReadBack.EQUAL),
        (
            "node.completed",
            {"outputs": {"output": {"answers": {"q1": "red"}}}},
            ANSWERS,
            ReadBack.DIFFERENT,
        ),
        ("node.completed", {"outputs": {"output": {"sum": 3}}}, ANSWERS, ReadBack.UNKNOWN),
        ("node.completed", {"outputs": {"output": "text"}}, ANSWERS, ReadBack.UNKNOWN),
        ("node.completed", {"outputs": {"output": {}}}, ANSWERS, ReadBack.UNKNOWN),
        ("run.failed", {"error": {"code": "interrupt_rejected"}}, REJECT, ReadBack.EQUAL),
        ("run.failed", {"code": "approval_rejected"}, ACCEPT, ReadBack.DIFFERENT),
        ("run.failed", {"error": {"code": "boom"}}, ACCEPT, ReadBack.UNKNOWN),
        ("approval.received", {"nodeId": "gate", **ACCEPT}, ACCEPT, ReadBack.EQUAL),
        ("approval.received", {"nodeId": "gate", **REJECT}, ACCEPT, ReadBack.DIFFERENT),
        ("approval.received", {"action": "accept"}, ACCEPT, ReadBack.EQUAL),
        ("clarification.resolved", ANSWERS, ANSWERS, ReadBack.EQUAL),
        ("clarification.resolved", {"answers": {"q1": "red"}}, ANSWERS, ReadBack.DIFFERENT),
        ("run.cancelled", None, ACCEPT, ReadBack.OVERTAKEN),
        ("approval.received", {"action": "timeout", "decidedAt": AT}, REJECT, ReadBack.OVERTAKEN),
        ("interrupt.vote", {"votes": []}, ACCEPT, ReadBack.OPEN),
        ("node.started", None, ACCEPT, ReadBack.OPEN),
    ],
)
def test_each_record_is_read_for_what_it_says(type_, payload, ours, expected):
    node = None if type_.startswith("run.") else "gate"

    assert found(ours, line(6, type_, node, payload)) is expected


def test_no_line_at_all_means_still_open():
    assert found(ACCEPT) is ReadBack.OPEN


def test_the_first_line_that_says_anything_decides():
    silent = line(6, "node.resumed", "gate", {"action": "resolve"})
    told = line(7, "node.completed", "gate", {"outputs": {"output": ANSWERS}})
    later = line(9, "node.resumed", "gate", {"resumeValue": {"answers": {"q1": "red"}}})

    assert found(ANSWERS, later, told, silent) is ReadBack.EQUAL


def test_a_value_that_is_no_object_is_compared_whole():
    resolved = line(6, "interrupt.resolved", "gate", {"resumeValue": "yes"})

    assert found("yes", resolved) is ReadBack.EQUAL
    assert found("no", resolved) is ReadBack.DIFFERENT


def test_a_record_without_canonical_form_is_not_ours():
    resolved = line(6, "interrupt.resolved", "gate", {"resumeValue": {"n": 2**60}})

    assert found({"n": 1}, resolved) is ReadBack.DIFFERENT
