"""Makes what tests need, through the actions that make it in the product."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from runs.actions.hosts import add_host
from runs.actions.ingest import Body, Receipt, ingest
from runs.models import Host, Run

START = datetime(2026, 11, 30, 8, tzinfo=UTC)


def add_host_named(name: str, *, workspace: str, gating: bool | None = True) -> Host:
    """Add a host; `gating` as it advertises it, None where it advertises nothing."""
    added = add_host(name=name, workspace=workspace, capabilities=capabilities(gating))
    host = Host.objects.get(slug=added.id)
    host.key_for_tests = added.key  # type: ignore[attr-defined]
    return host


def capabilities(gating: bool | None) -> dict[str, Any] | None:
    """Return a discovery document as far as judgements read it."""
    if gating is None:
        return None
    model = {"supported": True, "version": 6, "verifier": {"supported": True, "gating": gating}}
    return {"protocolVersion": "1.0", "multiAgent": {"executionModel": model}}


def person(name: str) -> User:
    return User.objects.create_user(name)


def event(sequence: int, type: str = "node.started", run: str = "r-1", **more: Any) -> dict:
    """Return an event as a host sends it; its id is made from run and sequence."""
    at = START + timedelta(seconds=sequence)
    made = {
        "eventId": f"{run}-e{sequence}",
        "runId": run,
        "type": type,
        "payload": {},
        "timestamp": at.isoformat().replace("+00:00", "Z"),
        "sequence": sequence,
    }
    return made | more


def decided(sequence: int, agent: str = "worker-1", node: str = "n1", **more: Any) -> dict:
    payload = {"agentId": agent, "decision": {"kind": "answer"}}
    return event(sequence, "agent.decided", nodeId=node, payload=payload, **more)


def verified(sequence: int, target: str, verdict: str, critic: str = "critic-1", **more: Any):
    payload = {"agentId": critic, "target": target, "verdict": verdict}
    run = more.pop("run", "r-1")
    return event(sequence, "agent.verified", run=run, payload={**payload, **more})


def send(host: Host, *events: dict) -> Receipt:
    """Bring events in by the front door, as one batch."""
    raw = json.dumps({"events": list(events)}).encode()
    return ingest(host=host, body=Body(raw, "application/json"))


def run_of(host: Host, run_id: str = "r-1") -> Run:
    return Run.objects.get(host=host, run_id=run_id)
