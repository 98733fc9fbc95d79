"""Puts matters into the queue of a running Console, as a host does."""

import httpx

from tests.factories import event, verified
from tests.system.running import Running


def send_failed(console: Running, *names: str) -> None:
    """Send runs that do not wait and whose result failed its critic."""
    events = []
    for name in names:
        decided = {"agentId": "worker-1", "decision": {"kind": "answer"}}
        said = {"agentId": "critic-1", "target": f"{name}-e1", "verdict": "fail",
                "criteria": ["cites-policy"]}  # fmt: skip
        events += [
            event(0, "run.started", run=name, payload={"workflowId": name}),
            event(1, "agent.decided", run=name, nodeId="n1", payload=decided),
            event(2, "agent.verified", run=name, payload=said),
        ]
    send_events(console, *events)


def send_another_fail(console: Running, name: str) -> None:
    """Let a second critic fail the same result."""
    send_events(console, verified(3, f"{name}-e1", "fail", critic="critic-2", run=name))


def send_events(console: Running, *events: dict) -> None:
    card = console.card
    answer = httpx.post(
        f"{card['url']}/api/v1/events",
        json={"events": list(events)},
        headers={"Authorization": f"Bearer {card['host']['key']}"},
    )
    assert answer.status_code in (200, 201), answer.text
