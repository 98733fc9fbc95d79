import json
from pathlib import Path

import pytest

from runs.domain.codemap import REGISTERED
from runs.domain.envelope import read
from runs.domain.limits import Limits
from runs.domain.log import Mismatch
from runs.domain.payloads import MOST, SHAPES, mismatches
from tests.runs.domain.events import NOW

SEEN = Path(__file__).parents[2] / "fixtures" / "real_shapes" / "events.jsonl"
REAL = [json.loads(line) for line in SEEN.read_text().splitlines()]

UNDESCRIBED = {
    "channel.presence",
    "goal.closed",
    "goal.evaluated",
    "import.applied",
    "proposal.activated",
    "proposal.created",
    "roster.run.initiated",
}


def test_every_registered_type_has_a_shape_unless_no_schema_describes_it():
    assert REGISTERED - SHAPES.keys() == UNDESCRIBED
    assert SHAPES.keys() <= REGISTERED


@pytest.mark.parametrize("seen", REAL, ids=lambda seen: f"{seen['host']}-{seen['event']['type']}")
def test_what_real_hosts_send_is_taken_and_flagged_where_it_misses(seen):
    envelope = read(seen["event"], now=NOW, limits=Limits())

    assert sorted({each.pointer for each in envelope.mismatches}) == seen["offSchema"]
    assert envelope.payload == seen["event"]["payload"]
    assert envelope.near_miss_of is None
    assert envelope.extra == {}


DECISION = {"agentId": "sup-1", "decision": {"kind": "terminate"}}


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("run.started", {"workflowId": "w", "owner": {"tenant": "t"}, "transport": "mcp"}),
        ("run.started", {"workflowId": "w", "owner": {"tenant": "t", "subject": {"id": "s"}}}),
        ("run.completed", {}),
        ("run.failed", {"error": {"code": "c", "message": "m", "category": "x"}}),
        ("run.dead_lettered", {"runId": "r", "reason": "x", "attempts": 1}),
        ("node.suspended", {"nodeId": "n", "interruptId": "i", "kind": "conversation"}),
        ("agent.decided", {"agentId": "w-1", "decision": None, "confidence": 1}),
        ("agent.promptResolved", {"nodeId": "n", "kind": "system", "chain": [], "resolved": None}),
        ("runOrchestrator.decided", DECISION),
        (
            "runOrchestrator.decided",
            {"agentId": "sup-1", "decision": {"kind": "ask-user", "prompt": "?"}, "iteration": 1},
        ),
        ("approval.requested", {"kind": "custom", "key": "k", "data": {"customKind": "x"}}),
        ("approval.received", {"nodeId": "n", "interruptId": "i"}),
        ("compensation.started", {}),
        ("envelope.retry.attempted", {"nodeId": "n", "attempt": 2, "reason": "x-host-acme-odd"}),
        ("acme.canvas.published", {"anything": [1]}),
        ("goal.closed", None),
    ],
)
def test_a_payload_that_meets_its_schema_has_no_mismatch(name, payload):
    assert mismatches(name, payload) == ()


@pytest.mark.parametrize(
    ("name", "payload", "pointer", "reason"),
    [
        ("node.completed", None, "/payload", "type"),
        ("node.completed", {}, "/payload/nodeId", "required"),
        ("node.completed", {"nodeId": ""}, "/payload/nodeId", "length"),
        ("node.completed", {"nodeId": "n", "durationMs": True}, "/payload/durationMs", "type"),
        ("node.completed", {"nodeId": "n", "durationMs": -1}, "/payload/durationMs", "range"),
        ("run.failed", {"error": {"code": "c"}}, "/payload/error/message", "required"),
        ("run.started", {"workflowId": "w", "transport": "x"}, "/payload/transport", "enum"),
        (
            "approval.granted",
            {"gateId": "g", "principal": "p", "x": 1},
            "/payload/x",
            "unexpected_key",
        ),
        (
            "approval.granted",
            {"gateId": "g", "principal": "p", "said by the user": 1},
            "/payload",
            "unexpected_key",
        ),
        (
            "agent.decided",
            {"agentId": "w-1", "decision": 1, "confidence": 2},
            "/payload/confidence",
            "range",
        ),
        ("log.appended", {"level": "fatal", "message": "x"}, "/payload/level", "enum"),
        (
            "runOrchestrator.decided",
            {"agentId": "sup-1", "decision": {"kind": "done"}},
            "/payload/decision/kind",
            "enum",
        ),
        (
            "runOrchestrator.decided",
            {"agentId": "sup-1", "decision": {"kind": "next-worker", "nextWorkerIds": []}},
            "/payload/decision/nextWorkerIds",
            "length",
        ),
        (
            "runOrchestrator.decided",
            {
                "agentId": "sup-1",
                "decision": {"kind": "terminate", "successCriteria": [{"key": "k"}]},
            },
            "/payload/decision/successCriteria/0/met",
            "required",
        ),
        (
            "interrupt.requested",
            {
                "kind": "approval",
                "key": "k",
                "data": {"artifactId": "a", "artifactType": "t", "title": "T", "actions": []},
            },
            "/payload/data/actions",
            "length",
        ),
        (
            "provider.usage",
            {"provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 1, "currency": "usd"},
            "/payload/currency",
            "pattern",
        ),
        (
            "eval.started",
            {"suiteId": "s", "suiteVersion": "1", "taskCount": 1, "modes": ["golden", "golden"]},
            "/payload/modes",
            "unique",
        ),
    ],
)
def test_a_mismatch_is_told_with_its_place(name, payload, pointer, reason):
    assert mismatches(name, payload) == (Mismatch(pointer, reason),)


def test_only_so_many_mismatches_are_kept():
    payload = {"gateId": "g", "principal": "p"} | {f"k{n}": n for n in range(100)}

    assert len(mismatches("approval.granted", payload)) == MOST
