"""Lines of logs for tests of the rules, written as shortly as a reader can follow."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from runs.domain.log import LogLine, Origin
from verification.domain.capabilities import CapabilitySpan

FIXTURES = Path(__file__).parent / "fixtures"
START = datetime(2026, 11, 30, 8, tzinfo=UTC)


def at(sequence: float) -> datetime:
    """The host's clock at a sequence: one second for each."""
    return START + timedelta(seconds=sequence)


def line(sequence: int, type_: str, payload: Any = None, node: str | None = None, **more: Any):
    """A line of the host; its event id is `e<sequence>` unless said otherwise."""
    return LogLine(
        **{
            "position": sequence + 1,
            "origin": Origin.HOST,
            "sequence": sequence,
            "event_id": f"e{sequence}",
            "type": type_,
            "payload": payload,
            "node_id": node,
            "timestamp": at(sequence),
        }
        | more
    )


def mark(position: int, type_: str, payload: Any) -> LogLine:
    """A line of the Console."""
    return LogLine(
        position=position,
        origin=Origin.CONSOLE,
        sequence=None,
        event_id=f"console-{position}",
        type=type_,
        payload=payload,
        timestamp=at(position),
    )


def arrived(position: int, late: LogLine) -> LogLine:
    """The same line, but arrived at another time."""
    return late._replace(position=position)


def started(sequence: int = 0) -> LogLine:
    return line(sequence, "run.started", {"workflowId": "wf"})


def turn(sequence: int, node: str | None = "n1", agent: str = "worker-1", **fields: Any) -> LogLine:
    """A result of an actor."""
    payload = {"agentId": agent, "decision": {"kind": "answer"}, **fields}
    return line(sequence, "agent.decided", payload, node)


def verdict(sequence: int, target: str, said: str, agent: str = "critic-1", **fields: Any):
    payload = {"agentId": agent, "target": target, "verdict": said, **fields}
    return line(sequence, "agent.verified", payload)


def decided(sequence: int, kind: str, node: str | None = None, **fields: Any) -> LogLine:
    """A decision of the orchestrator."""
    payload = {"agentId": "supervisor", "decision": {"kind": kind, **fields}}
    return line(sequence, "runOrchestrator.decided", payload, node)


def terminate(sequence: int, *met: bool, **fields: Any) -> LogLine:
    criteria = [{"key": f"c{index}", "met": each} for index, each in enumerate(met)]
    return decided(sequence, "terminate", successCriteria=criteria, **fields)


def step(sequence: int, phase: str, child: str | None, worker: str = "w", **fields: Any) -> LogLine:
    """A step of the handoff to a child run."""
    payload = {"phase": phase, "workerId": worker, "parentRunId": "p", "childRunId": child}
    return line(sequence, "core.workflowChain.event", payload | fields)


def merged(sequence: int, child: str = "child-1", worker: str = "w") -> LogLine:
    return step(sequence, "output.harvested", child, worker)


def suspended(sequence: int, node: str, kind: str | None = "approval", **fields: Any) -> LogLine:
    return line(sequence, "node.suspended", {"kind": kind, **fields}, node)


def resumed(sequence: int, node: str, **fields: Any) -> LogLine:
    return line(sequence, "node.resumed", fields, node)


def completed(sequence: int) -> LogLine:
    return line(sequence, "run.completed", {})


def document(*, gating: bool = True, level: int = 6, **more: Any) -> Mapping[str, object]:
    """A discovery document (v1)."""
    verifier = {"supported": True, "gating": gating}
    model = {"supported": True, "version": level, "verifier": verifier}
    return {"multiAgent": {"executionModel": model}, **more}


GATING = (CapabilitySpan(document(), START - timedelta(days=1)),)
ADVISORY = (CapabilitySpan(document(gating=False), START - timedelta(days=1)),)


@dataclass(frozen=True)
class Scenario:
    """A whole run, and what must be concluded from it."""

    name: str
    lines: Sequence[LogLine]
    gaps: Sequence[tuple[int, int]]
    capabilities: Sequence[CapabilitySpan]
    expect: Mapping[str, Any]


def scenarios() -> Iterator[Scenario]:
    """The worked examples of gates: one run a line."""
    capabilities = {True: GATING, False: ADVISORY, None: ()}
    for row in _rows("gates/scenarios.jsonl"):
        lines = [
            line(sequence, type_, payload, node, near_miss_of=NEAR_MISSES.get(type_))
            for sequence, type_, node, payload in row["lines"]
        ]
        yield Scenario(
            name=row["name"],
            lines=lines,
            gaps=gaps_of(lines),
            capabilities=capabilities[row["gating"]],
            expect=row["expect"],
        )


NEAR_MISSES = {"agent.verifed": "agent.verified"}


def gaps_of(lines: Sequence[LogLine]) -> list[tuple[int, int]]:
    """The sequences missing between the first and the last line."""
    held = sorted({each.sequence for each in lines if each.sequence is not None})
    return [(a + 1, b - 1) for a, b in pairwise(held) if b > a + 1]


@dataclass(frozen=True)
class Capture:
    """A run of a real host, and the status its snapshot had at the end."""

    host: str
    label: str
    status: str
    lines: Sequence[LogLine]


def captures() -> Iterator[Capture]:
    """Every recorded run."""
    for path in sorted((FIXTURES / "captures").glob("*.jsonl")):
        for row in _rows(f"captures/{path.name}"):
            lines = [
                line(
                    event["sequence"],
                    event["type"],
                    event["payload"],
                    event.get("nodeId"),
                    causation_id=event.get("causationId"),
                    timestamp=datetime.fromisoformat(event["timestamp"]),
                )
                for event in row["events"]
            ]
            yield Capture(path.stem, row["label"], row["status"], lines)


def _rows(name: str) -> Iterator[Any]:
    for text in (FIXTURES / name).read_text().splitlines():
        yield json.loads(text)
