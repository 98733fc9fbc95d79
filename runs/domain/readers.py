"""What a rule wants to know of a line, whatever shape its host gave it.

Real hosts miss the published schemas more often than they meet them: payloads are null, node ids
stand on the envelope or inside the payload, decisions are objects or bare words. Each reader here
asks one question and knows every shape seen in the field. None raises and none guesses: what is not
there, or is not readable, is None. Types are the canonical (v1) names.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from runs.domain.log import LogLine

VERDICT = "agent.verified"
ACTOR_TURN = "agent.decided"
ORCHESTRATOR_DECISION = "runOrchestrator.decided"
CHAIN_STEP = "core.workflowChain.event"
CONFIDENCE_ESCALATED = "core.workflowChain.confidence-escalated"
DISPATCHED = "node.dispatched"
NODE_COMPLETED = "node.completed"
TOOL_CALLED = "agent.toolCalled"
TOOL_RETURNED = "agent.toolReturned"
APPROVAL_OVERRIDDEN = "approval.overridden"
APPROVAL_GRANTED = "approval.granted"

_NOTHING: Mapping[str, object] = MappingProxyType({})


class VerdictKind(StrEnum):
    """What a verifier says of a result. Source: RFC 0090 §A."""

    PASS = "pass"  # noqa: S105  (a verdict, not a password)
    REVISE = "revise"
    FAIL = "fail"


_VERDICT_KINDS = {kind.value: kind for kind in VerdictKind}


@dataclass(frozen=True, slots=True)
class VerdictRead:
    """The closed, content-free payload of `agent.verified`."""

    agent_id: str
    target: str
    kind: VerdictKind
    criteria: tuple[str, ...]
    confidence: float | None
    causation_host_id: str | None


class DecisionKind(StrEnum):
    """What an orchestrator decides.

    Source: orchestrator-decision.schema.json; `clarify` and `escalate` are the names that the prose
    of multi-agent-execution.md gives to decisions that wait for a person.
    """

    NEXT_WORKER = "next-worker"
    ASK_USER = "ask-user"
    CLARIFY = "clarify"
    ESCALATE = "escalate"
    TERMINATE = "terminate"


_DECISION_KINDS = {kind.value: kind for kind in DecisionKind}

ASKS_A_PERSON = frozenset({DecisionKind.ASK_USER, DecisionKind.CLARIFY, DecisionKind.ESCALATE})


@dataclass(frozen=True, slots=True)
class DecisionRead:
    """An orchestrator's decision, as far as it can be read."""

    kind: DecisionKind
    agent_id: str | None
    confidence: float | None
    met: tuple[bool, ...]
    """What `successCriteria` says of each criterion that can be read."""
    has_readable_criteria: bool
    """False when some criterion does not say plainly whether it was met."""


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One step of the handoff between a parent run and a child run. Source: RFC 0037."""

    phase: str | None
    worker_id: str | None
    child_run_id: str | None
    causation_host_id: str | None
    has_merged: bool
    """Output was applied to the parent: `output.harvested` with keys and without an error."""


@dataclass(frozen=True, slots=True)
class ChildLink:
    """A child run that a line names."""

    run_id: str
    workflow_id: str | None
    status: str | None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that a line names."""

    call_id: str
    agent_id: str | None
    tool: str | None


def text(value: object) -> str | None:
    """Return the value if it is a string with something in it."""
    return value if isinstance(value, str) and value else None


def fields(value: object) -> Mapping[str, object]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict | Mapping) else _NOTHING


def confidence(value: object) -> float | None:
    """Return a confidence from 0 to 1.

    A boolean, NaN, an infinity and a number outside the range say nothing about confidence.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def node_of(line: LogLine) -> str | None:
    """Return the node a line is about, from the envelope or else from the payload."""
    return text(line.node_id) or text(fields(line.payload).get("nodeId"))


def agent_of(line: LogLine) -> str | None:
    """Return the agent a line is about; of a handoff, the one who hands over."""
    payload = fields(line.payload)
    return text(payload.get("agentId")) or text(payload.get("fromAgentId"))


def confidence_of(line: LogLine) -> float | None:
    """Return the confidence that a line states about itself."""
    return confidence(fields(line.payload).get("confidence"))


def causation_host_of(line: LogLine) -> str | None:
    """Return the other host that a line's cause or target lives on. Source: RFC 0040 §A."""
    return text(fields(line.payload).get("causationHostId"))


def workflow_of(line: LogLine) -> str | None:
    """Return the workflow that a run was started with."""
    return text(fields(line.payload).get("workflowId"))


def parent_of(line: LogLine) -> str | None:
    """Return the parent run that a `run.*` line names."""
    payload = fields(line.payload)
    return text(payload.get("parentRunId")) or text(fields(payload.get("parent")).get("runId"))


def verdict_of(line: LogLine) -> VerdictRead | None:
    """Return the verdict, or None when it is not one of `pass`, `revise`, `fail` on a target."""
    payload = fields(line.payload)
    agent_id, target = text(payload.get("agentId")), text(payload.get("target"))
    kind = _VERDICT_KINDS.get(text(payload.get("verdict")) or "")
    if agent_id is None or target is None or kind is None:
        return None
    return VerdictRead(
        agent_id=agent_id,
        target=target,
        kind=kind,
        criteria=tuple(_texts(payload.get("criteria"))),
        confidence=confidence(payload.get("confidence")),
        causation_host_id=text(payload.get("causationHostId")),
    )


def decision_of(line: LogLine) -> DecisionRead | None:
    """Return an orchestrator's decision, or None when its kind cannot be read.

    `{"decision": {"kind": "terminate", …}}` is the schema's form; `{"decision": "terminate", …}` is
    the form of the RFC's prose, with the other fields beside it.
    """
    payload = fields(line.payload)
    decision = payload.get("decision")
    body = payload if isinstance(decision, str) else fields(decision)
    named = decision if isinstance(decision, str) else body.get("kind") or body.get("decision")
    kind = _DECISION_KINDS.get(text(named) or "")
    if kind is None:
        return None
    met, is_readable = _criteria(body.get("successCriteria"))
    return DecisionRead(
        kind=kind,
        agent_id=text(payload.get("agentId")),
        confidence=confidence(body.get("confidence")),
        met=met,
        has_readable_criteria=is_readable,
    )


def chain_step_of(line: LogLine) -> ChainStep:
    """Return the step of a `core.workflowChain.event`."""
    payload = fields(line.payload)
    phase = text(payload.get("phase"))
    return ChainStep(
        phase=phase,
        worker_id=text(payload.get("workerId")),
        child_run_id=text(payload.get("childRunId")),
        causation_host_id=text(payload.get("causationHostId")),
        has_merged=(
            phase == "output.harvested"
            and payload.get("harvestedKeys") != []
            and payload.get("error") is None
        ),
    )


def children_of(line: LogLine) -> tuple[ChildLink, ...]:
    """Return the child runs that a line names, in its payload or in a node's outputs."""
    payload = fields(line.payload)
    outputs = fields(payload.get("outputs"))
    listed = outputs.get("dispatched")
    places = [payload, outputs, *(listed if isinstance(listed, list) else [])]
    return tuple(_child_links(fields(place) for place in places))


def tool_call_of(line: LogLine) -> ToolCall | None:
    """Return the tool call of `agent.toolCalled` and `agent.toolReturned`."""
    payload = fields(line.payload)
    call_id = text(payload.get("callId"))
    if call_id is None:
        return None
    return ToolCall(call_id, text(payload.get("agentId")), text(payload.get("toolName")))


def gate_of(line: LogLine) -> str | None:
    """Return the gate that an `approval.*` line was decided for."""
    return text(fields(line.payload).get("gateId"))


def _child_links(places: Iterable[Mapping[str, object]]) -> Iterable[ChildLink]:
    for place in places:
        run_id = text(place.get("childRunId"))
        if run_id is not None:
            workflow_id = text(place.get("childWorkflowId")) or text(place.get("workerId"))
            yield ChildLink(run_id, workflow_id, text(place.get("childStatus")))


def _criteria(value: object) -> tuple[tuple[bool, ...], bool]:
    """Return what is said of each criterion, and whether that is everything."""
    if value is None:
        return (), True
    entries = value if isinstance(value, list) else [value]
    said = [fields(entry).get("met") for entry in entries]
    met = tuple(each for each in said if isinstance(each, bool))
    return met, len(met) == len(said)


def _texts(value: object) -> Iterable[str]:
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, str) and entry:
            yield entry
