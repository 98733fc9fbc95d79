"""What a host's pause asks for, whichever document says it."""

import pytest

from tests.verification.domain.recorded import recordings
from verification.domain.interrupt_request import (
    InterruptKind,
    InterruptRequest,
    Question,
    read_interrupt,
)

KINDS = {
    "approval": InterruptKind.APPROVAL,
    "auth-required": InterruptKind.APPROVAL,
    "quorum": InterruptKind.APPROVAL,
    "subworkflow-mid-run": InterruptKind.APPROVAL,
    "agent-low-confidence": InterruptKind.LOW_CONFIDENCE,
    "orchestrator-low-confidence": InterruptKind.LOW_CONFIDENCE,
    "clarification": InterruptKind.CLARIFICATION,
    "console-ask-user": InterruptKind.CLARIFICATION,
    "console-low-confidence-terminate": InterruptKind.CLARIFICATION,
    "confidence-escalation": InterruptKind.CLARIFICATION,
    "conversation": InterruptKind.CONVERSATION,
    "external-event": InterruptKind.EXTERNAL_EVENT,
}


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.name)
def test_every_recorded_pause_is_understood(recording):
    found = read_interrupt(*recording.documents, node_id=recording.node_id)

    label = recording.name.partition(":")[2].partition(".")[0]
    assert found is not None
    assert found.kind is KINDS[label]
    assert found.node_id == recording.node_id
    if found.kind is InterruptKind.APPROVAL and label != "subworkflow-mid-run":
        assert found.actions == ("accept", "reject")


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.name)
def test_tokens_are_never_read(recording):
    found = read_interrupt(*recording.documents, node_id=recording.node_id)

    assert "token" not in repr(found).lower()


def test_a_pause_is_read_from_the_published_payload():
    payload = {
        "kind": "approval",
        "key": "r1:gate:1",
        "interruptId": "i1",
        "nodeId": "gate",
        "timeoutMs": 60000,
        "data": {
            "artifactId": "a1",
            "artifactType": "draft",
            "title": "Publish?",
            "description": "The text for the press.",
            "actions": ["accept", "edit", "refine", "edit-accept"],
            "artifactData": {"text": "x"},
            "requiredApprovals": 2,
            "approversList": ["ada", 7],
        },
    }

    assert read_interrupt(payload) == InterruptRequest(
        InterruptKind.APPROVAL,
        "gate",
        interrupt_id="i1",
        title="Publish?",
        prompt="The text for the press.",
        actions=("accept", "edit-accept", "refine"),
        artifact={"text": "x"},
        required_approvals=2,
        approvers=("ada",),
        timeout_ms=60000,
    )


@pytest.mark.parametrize(
    ("said", "timeout_ms"),
    [
        ({"timeoutMs": 60_000, "timeoutSec": 5}, 60_000),
        ({"config": {"timeoutSec": 30}}, 30_000),
        (
            {"createdAt": "2026-11-30T03:00:00.000Z", "expiresAt": "2026-11-30T03:30:00.000Z"},
            1_800_000,
        ),
        ({"expiresAt": "2026-11-30T03:30:00.000Z"}, None),
        ({"createdAt": "2026-11-30T03:00:00", "expiresAt": "2026-11-30T03:30:00Z"}, None),
        ({"createdAt": "yesterday", "expiresAt": "2026-11-30T03:30:00Z"}, None),
        ({"timeoutMs": True}, None),
        ({}, None),
    ],
)
def test_how_long_the_host_waits_is_read_and_never_from_two_clocks(said, timeout_ms):
    assert read_interrupt({"kind": "approval", **said}, node_id="n").timeout_ms == timeout_ms


def test_the_first_document_that_says_something_wins():
    event = {"kind": "approval", "interruptId": "i1"}
    snapshot = {"kind": "clarification", "nodeId": "n", "data": {"actions": ["accept"]}}

    found = read_interrupt(event, snapshot)

    assert (found.kind, found.interrupt_id) == (InterruptKind.APPROVAL, "i1")
    assert (found.node_id, found.actions) == ("n", ("accept",))


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"actions": ["accept"]}, InterruptKind.APPROVAL),
        ({"questions": []}, InterruptKind.CLARIFICATION),
        ({"reason": "low-confidence"}, InterruptKind.LOW_CONFIDENCE),
        ({"reason": "low-confidence", "actions": ["accept"]}, InterruptKind.APPROVAL),
        ({"kind": "conversation.exchange"}, InterruptKind.CONVERSATION_TURN),
        ({"kind": "credential"}, InterruptKind.CREDENTIAL),
        ({"kind": "vendor-thing"}, InterruptKind.CUSTOM),
    ],
)
def test_the_kind_is_named_or_shows_in_the_fields(document, kind):
    assert read_interrupt(document, node_id="n").kind is kind


@pytest.mark.parametrize(
    "documents", [(), ({},), ({"nodeId": "n"},), ({"kind": 3},), ({"reason": "input"},)]
)
def test_what_is_not_a_pause_is_not_made_into_one(documents):
    assert read_interrupt(*documents, node_id="n") is None


def test_a_pause_without_a_node_cannot_be_answered():
    assert read_interrupt({"kind": "approval"}) is None


ARTIFACT = {"kind": "approval", "actions": ["accept"], "resumeSchema": True}


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "custom", "data": {"customKind": "x", "payload": ARTIFACT}},
        {"kind": "custom", "payload": {"customKind": "x", "payload": ARTIFACT}},
        {"kind": "custom", "data": {"data": ARTIFACT}},
    ],
)
def test_content_below_the_pause_cannot_add_actions(document):
    found = read_interrupt(document, node_id="n")

    assert (found.kind, found.actions, found.resume_schema) == (InterruptKind.CUSTOM, (), None)


def test_a_lone_question_is_one_question():
    schema = {"type": "string"}
    found = read_interrupt(
        {"kind": "clarification", "data": {"question": "Which?", "schema": schema}}, node_id="n"
    )

    assert found.questions == (Question("answer", "Which?", schema),)


def test_odd_values_are_passed_over():
    found = read_interrupt(
        {
            "kind": "clarification",
            "questions": [None, {"id": 1}, {"id": "q", "question": 7, "schema": "s"}],
            "requiredApprovals": True,
            "timeoutMs": "soon",
            "correlation": [],
            "title": {},
        },
        node_id="n",
    )

    assert found.questions == (Question("q", "q"),)
    assert (found.required_approvals, found.timeout_ms, found.title) == (1, None, "")


def test_other_names_of_the_schema_are_known():
    for key in ("resumeSchema", "answerSchema", "outcomeSchema"):
        found = read_interrupt({"kind": "custom", "data": {key: {"type": "string"}}}, node_id="n")
        assert found.resume_schema == {"type": "string"}
