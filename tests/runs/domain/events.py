"""An event as a host would send it, for tests to bend."""

from datetime import UTC, datetime
from typing import Any

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)

VERDICT = {
    "agentId": "critic-1",
    "target": "e42",
    "verdict": "fail",
    "criteria": ["schema-valid", "grounded"],
    "confidence": 0.9,
}


def event(**fields: Any) -> dict[str, Any]:
    return {
        "eventId": "e1",
        "runId": "run-a",
        "type": "node.completed",
        "payload": {"nodeId": "n1", "durationMs": 12},
        "timestamp": "2026-11-30T08:00:00Z",
        "sequence": 1,
    } | fields


def verdict(**fields: Any) -> dict[str, Any]:
    return event(type="agent.verified", payload=VERDICT | fields)
