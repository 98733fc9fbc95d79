"""From a decision to the value a host takes, for every kind of interrupt."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.verification.domain.recorded import recordings, resume_value
from verification.domain.decisions import Action, Decision, Refinement, Scope
from verification.domain.interrupt_request import (
    InterruptKind,
    InterruptRequest,
    Question,
    read_interrupt,
)
from verification.domain.resume import (
    GATE_ACTIONS,
    Decided,
    NothingToDeliver,
    NotOffered,
    Resume,
    WhyNothing,
    meaning_at,
    offered_by,
    resume_for,
)
from verification.domain.resume_schema import ResumeMismatch

AT = datetime(2026, 11, 30, 9, 0, 0, 123456, tzinfo=timezone(timedelta(hours=1)))
STAMP = {"decidedAt": "2026-11-30T08:00:00.123Z", "decidedBy": "p-1"}
EVERYTHING = ("accept", "reject", "refine", "edit-accept", "ask")


def interrupt(kind, **more):
    return InterruptRequest(InterruptKind(kind), "gate", **more)


def value(decision, request):
    outcome = resume_for(Decided(decision, AT, "p-1"), request)
    assert isinstance(outcome, Resume)
    return outcome.value


APPROVAL = interrupt("approval", actions=EVERYTHING)
DOUBT = interrupt("low-confidence")
APP_DOUBT_SCHEMA = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"ratified": {"const": True}},
            "required": ["ratified"],
        },
        {"type": "object", "properties": {"decision": {}}, "required": ["decision"]},
        {
            "type": "object",
            "properties": {"rejected": {"const": True}},
            "required": ["rejected"],
        },
    ]
}
APP_DOUBT = interrupt(
    "low-confidence", resume_schema=APP_DOUBT_SCHEMA, decision={"kind": "terminate"}
)


@pytest.mark.parametrize(
    ("decision", "request_", "expected"),
    [
        (Decision(Action.ACCEPT), APPROVAL, {"action": "accept", **STAMP}),
        (
            Decision(Action.ACCEPT, reason="secret", feedback="fine"),
            APPROVAL,
            {"action": "accept", "feedback": "fine", **STAMP},
        ),
        (
            Decision(Action.REJECT, feedback="no"),
            APPROVAL,
            {"action": "reject", "feedback": "no", **STAMP},
        ),
        (
            Decision(Action.REFINE, feedback="shorter"),
            APPROVAL,
            {
                "action": "refine",
                "refineFeedback": {"scope": "whole", "text": "shorter"},
                **STAMP,
            },
        ),
        (
            Decision(
                Action.REFINE,
                refinement=Refinement("t", Scope.SECTION, section_path="$.a", tags=("tone",)),
            ),
            APPROVAL,
            {
                "action": "refine",
                "refineFeedback": {
                    "scope": "section",
                    "sectionPath": "$.a",
                    "tags": ["tone"],
                    "text": "t",
                },
                **STAMP,
            },
        ),
        (
            Decision(Action.EDIT_ACCEPT, edited={"text": "better"}),
            APPROVAL,
            {"action": "edit-accept", "editedArtifactData": {"text": "better"}, **STAMP},
        ),
        (
            Decision(Action.ASK, feedback="why?"),
            APPROVAL,
            {"action": "ask", "feedback": "why?", **STAMP},
        ),
        (Decision(Action.UPHOLD), APPROVAL, {"action": "reject", **STAMP}),
        (Decision(Action.OVERRIDE, reason="r"), APPROVAL, {"action": "accept", **STAMP}),
        (
            Decision(Action.SEND_BACK, feedback="again"),
            APPROVAL,
            {
                "action": "refine",
                "refineFeedback": {"scope": "whole", "text": "again"},
                **STAMP,
            },
        ),
        (
            Decision(Action.ACCEPT),
            interrupt(
                "approval",
                actions=("accept",),
                resume_schema={
                    "properties": {"action": {}, "decidedAt": {}},
                    "additionalProperties": False,
                },
            ),
            {"action": "accept", "decidedAt": STAMP["decidedAt"]},
        ),
        (
            Decision(Action.ACCEPT),
            interrupt(
                "approval",
                actions=("accept",),
                resume_schema={"properties": {"action": {}}, "additionalProperties": False},
            ),
            {"action": "accept"},
        ),
        (
            Decision(Action.ANSWER, answers={"approved": True}),
            interrupt(
                "approval",
                actions=("accept",),
                resume_schema={"required": ["approved"]},
            ),
            {"approved": True},
        ),
        (
            Decision(Action.ANSWER, answers={"q1": "blue"}),
            interrupt("clarification", questions=(Question("q1", "Colour?"),)),
            {"answers": {"q1": "blue"}},
        ),
        (
            Decision(Action.ANSWER, answers={"q1": "blue"}),
            interrupt(
                "clarification",
                resume_schema={"properties": {"answers": {"type": "array"}}},
            ),
            {"answers": [{"id": "q1", "answer": "blue"}]},
        ),
        (
            Decision(Action.ANSWER, answers={"value": "blue"}),
            interrupt("clarification", resume_schema={"type": "string"}),
            "blue",
        ),
        (
            Decision(Action.OVERRIDE, reason="r", answers={"q1": "go on"}),
            interrupt("clarification", questions=(Question("q1", "?"),)),
            {"answers": {"q1": "go on"}},
        ),
        (
            Decision(Action.REPORT_EVENT),
            interrupt("external-event", correlation={"orderId": "A1"}),
            {"orderId": "A1"},
        ),
        (
            Decision(Action.REPORT_EVENT, edited={"orderId": "forged", "paid": True}),
            interrupt("external-event", correlation={"orderId": "A1"}),
            {"orderId": "A1", "paid": True},
        ),
        (
            Decision(Action.REPORT_EVENT),
            interrupt(
                "external-event",
                correlation={"orderId": "A1"},
                resume_schema={"required": ["eventPayload"]},
            ),
            {"eventPayload": {"orderId": "A1"}},
        ),
        (Decision(Action.RATIFY), DOUBT, {"ratified": True}),
        (
            Decision(Action.RATIFY),
            interrupt("low-confidence", decision={"kind": "terminate"}),
            {"kind": "terminate"},
        ),
        (Decision(Action.RATIFY), APP_DOUBT, {"ratified": True}),
        (Decision(Action.OVERRIDE, reason="r"), APP_DOUBT, {"ratified": True}),
        (Decision(Action.REJECT, reason="r"), APP_DOUBT, {"rejected": True}),
        (Decision(Action.UPHOLD), APP_DOUBT, {"rejected": True}),
        (
            Decision(Action.REPLACE, reason="r", edited={"kind": "ask-user"}),
            APP_DOUBT,
            {"decision": {"kind": "ask-user"}},
        ),
        (
            Decision(Action.RATIFY),
            interrupt("low-confidence", resume_schema={"required": ["action"]}),
            {"action": "accept", **STAMP},
        ),
        (
            Decision(Action.REJECT, reason="r"),
            interrupt("low-confidence", resume_schema={"required": ["action"]}),
            {"action": "reject", **STAMP},
        ),
        (
            Decision(Action.REPLY, feedback="hello"),
            interrupt("conversation"),
            {"operation": "exchange", "turn": {"content": "hello"}},
        ),
        (
            Decision(Action.CLOSE_CONVERSATION),
            interrupt("conversation"),
            {"operation": "close"},
        ),
        (
            Decision(Action.ANSWER, answers={"value": "hello"}),
            interrupt("conversation.exchange"),
            "hello",
        ),
        (
            Decision(Action.ANSWER, answers={"n": 3}),
            interrupt("conversation.exchange", resume_schema={"required": ["n"]}),
            {"n": 3},
        ),
        (
            Decision(Action.AUTHORIZED, edited={"token": "hunter2"}, answers={"t": "x"}),
            interrupt("credential"),
            {"outcome": "authorized"},
        ),
        (Decision(Action.DECLINED), interrupt("credential"), {"outcome": "declined"}),
        (
            Decision(Action.ANSWER, edited=[1, 2]),
            interrupt("custom"),
            [1, 2],
        ),
        (
            Decision(Action.ANSWER, answers={"value": {"a": 1}}),
            interrupt("custom"),
            {"a": 1},
        ),
    ],
)
def test_the_table(decision, request_, expected):
    assert value(decision, request_) == expected


ANSWERED = [recording for recording in recordings() if recording.accepted()]


def decision_like(recorded):
    if recorded.get("answers"):
        return Decision(Action.ANSWER, answers=recorded["answers"])
    if recorded.get("action") == "reject":
        return Decision(Action.REJECT, reason="r", feedback=recorded.get("feedback", ""))
    if recorded.get("action") == "accept":
        return Decision(Action.ACCEPT)
    return Decision(Action.REPORT_EVENT)


@pytest.mark.parametrize("recording", ANSWERED, ids=lambda recording: recording.name)
def test_what_live_hosts_took_is_what_we_send(recording):
    recorded = resume_value(recording.accepted())
    if recording.accepted()["path"].endswith("/cancel") or "confidence" in recording.name:
        # Not an answer, or answered by hand in a form of its own; the table has these.
        assert recorded
        return
    request = read_interrupt(*recording.documents, node_id=recording.node_id)

    ours = value(decision_like(recorded), request)

    free = {"decidedAt", "decidedBy", "answeredBy", "comment"}
    assert {k: v for k, v in ours.items() if k not in free} == {
        k: v for k, v in recorded.items() if k not in free
    }


def test_the_reason_stays_in_the_console():
    sent = value(Decision(Action.OVERRIDE, reason="CANARY", feedback="told"), APPROVAL)

    assert "CANARY" not in str(sent)


def test_without_an_interrupt_nothing_is_sent_and_the_host_reads_the_gate():
    for action in (Action.UPHOLD, Action.OVERRIDE, Action.SEND_BACK, Action.ANSWER):
        outcome = resume_for(Decided(Decision(action), AT, "p"), None)
        assert outcome == NothingToDeliver(WhyNothing.NO_INTERRUPT)


def test_who_cannot_decide_tells_the_host_nothing():
    outcome = resume_for(Decided(Decision(Action.CANNOT_DECIDE), AT, "p"), APPROVAL)

    assert outcome == NothingToDeliver(WhyNothing.UNDECIDED)


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        (Action.RELEASE_HOLD, "approval"),
        (Action.DISPUTE, "approval"),
        (Action.CONFIRM, "approval"),
        (Action.UPHOLD, "external-event"),
        (Action.OVERRIDE, "credential"),
        (Action.SEND_BACK, "low-confidence"),
        (Action.OVERRIDE, "conversation"),
    ],
)
def test_a_gate_decision_that_the_pause_does_not_ask_about_is_not_sent(action, kind):
    outcome = resume_for(Decided(Decision(action), AT, "p"), interrupt(kind))

    assert outcome == NothingToDeliver(WhyNothing.NOT_ASKED)


@pytest.mark.parametrize("action", list(Action))
@pytest.mark.parametrize("kind", list(InterruptKind))
def test_no_action_is_sent_that_the_host_did_not_offer(action, kind):
    request = interrupt(kind, actions=("accept", "reject"))
    if action is Action.CANNOT_DECIDE:
        return
    meant = meaning_at(action, request)
    decided = Decided(Decision(action, feedback="f", edited={}), AT, "p")

    if meant is None:
        assert action in GATE_ACTIONS
        assert isinstance(resume_for(decided, request), NothingToDeliver)
    elif meant in offered_by(request):
        assert isinstance(resume_for(decided, request), Resume)
    else:
        with pytest.raises(NotOffered) as caught:
            resume_for(decided, request)
        assert caught.value.offered == offered_by(request)


@pytest.mark.parametrize(
    ("actions", "offered"),
    [
        ((), (Action.ACCEPT, Action.REJECT)),
        (("accept",), (Action.ACCEPT,)),
        (("refine", "edit-accept"), (Action.REFINE, Action.EDIT_ACCEPT)),
        (("approve-all",), ()),
        (("override", "accept"), (Action.ACCEPT,)),
    ],
)
def test_an_approval_offers_what_the_host_says_and_no_gate_action(actions, offered):
    assert offered_by(interrupt("approval", actions=actions)) == offered


def test_a_decision_that_no_form_can_express_is_refused_before_the_host_is_asked():
    request = interrupt("clarification", resume_schema={"required": ["somethingElse"]})

    with pytest.raises(ResumeMismatch) as caught:
        value(Decision(Action.ANSWER, answers={"q": "x"}), request)
    assert caught.value.wrong[0].keyword == "required"


def test_a_schema_that_cannot_be_used_does_not_stand_in_the_way():
    request = interrupt(
        "approval", actions=("accept",), resume_schema={"$ref": "https://x.example/s"}
    )

    assert value(Decision(Action.ACCEPT), request) == {"action": "accept", **STAMP}


def test_the_moment_is_written_in_utc():
    at_utc = Decided(Decision(Action.ACCEPT), AT.astimezone(UTC), "p-1")

    assert resume_for(at_utc, APPROVAL) == resume_for(
        Decided(Decision(Action.ACCEPT), AT, "p-1"), APPROVAL
    )
