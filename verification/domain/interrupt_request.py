"""What a host's interrupt asks for, read from whichever document the host put it in.

The same pause is described by an event (`node.suspended`, `interrupt.requested`, the older
`approval.requested` and `clarification.requested`), by the run's snapshot and by a host's own list
of open interrupts, each in several shapes. The reader takes the first usable value of each field
and invents none. Tokens and callback addresses are secrets and are not read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any


class InterruptKind(StrEnum):
    """What a pause waits for. Source: OpenWOP suspend-request.schema.json, and live hosts."""

    APPROVAL = "approval"
    CLARIFICATION = "clarification"
    EXTERNAL_EVENT = "external-event"
    LOW_CONFIDENCE = "low-confidence"
    CONVERSATION = "conversation"
    """A conversation that goes on until it is closed, as openwop-app runs it."""
    CONVERSATION_TURN = "conversation.exchange"
    """One turn, after which the run goes on."""
    CREDENTIAL = "credential"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a clarification."""

    id: str
    text: str
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class InterruptRequest:
    """A host's pause, as far as the host described it."""

    kind: InterruptKind
    node_id: str
    interrupt_id: str = ""
    title: str = ""
    prompt: str = ""
    actions: tuple[str, ...] = ()
    """As offered, in the schema's spelling; empty: the host did not say."""
    questions: tuple[Question, ...] = ()
    event_type: str = ""
    correlation: Mapping[str, Any] = field(default_factory=dict)
    resume_schema: Mapping[str, Any] | bool | None = None
    artifact: Any = None
    decision: Any = None
    """The decision that a host holds back until a person ratifies it."""
    required_approvals: int = 1
    approvers: tuple[str, ...] = ()
    timeout_ms: int | None = None
    """How long the host itself waits, if it says so."""
    provider: str = ""
    """Of a credential that somebody should connect on the host."""
    child_run_id: str = ""
    """Where the pause merely mirrors one of a child run."""


_SPELLINGS = {"edit": "edit-accept"}


def read_interrupt(*documents: Mapping[str, Any], node_id: str = "") -> InterruptRequest | None:
    """Return what the documents say about one pause, the first that says something winning.

    Args:
        documents: payloads and snapshots about the same pause, the most telling first.
        node_id: of the event's envelope, where payloads leave it out.

    Returns:
        None when no document is about a pause.
    """
    layers = [layer for document in documents for layer in _layers(document)]
    kind = _kind(layers)
    node = node_id or _text(layers, "nodeId")
    if kind is None or not node:
        return None
    approvals = _first(layers, "requiredApprovals", int)
    correlation = _first(layers, "correlation", Mapping)
    return InterruptRequest(
        kind=kind,
        node_id=node,
        interrupt_id=_text(layers, "interruptId"),
        title=_text(layers, "title"),
        prompt=_text(layers, "prompt", "description", "question", "initialPrompt"),
        actions=_actions(layers),
        questions=_questions(layers),
        event_type=_text(layers, "eventType"),
        correlation=correlation if correlation is not None else {},
        resume_schema=_schema(layers),
        artifact=_any(layers, "artifactData"),
        decision=_any(layers, "decision", "originalDecision"),
        required_approvals=max(1, approvals or 1),
        approvers=_texts(_first(layers, "approversList", list)),
        timeout_ms=_timeout_ms(layers),
        provider=_text(layers, "provider"),
        child_run_id=_text(layers, "childRunId"),
    )


def _layers(document: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Yield a document and the objects inside in which hosts put the same fields.

    It goes no deeper: below that is content, which may say anything.
    """
    inner = document.get("payload")
    for part in (document, inner) if isinstance(inner, Mapping) else (document,):
        yield part
        for key in ("data", "config"):
            nested = part.get(key)
            if isinstance(nested, Mapping):
                yield nested


def _kind(layers: Sequence[Mapping[str, Any]]) -> InterruptKind | None:
    has_actions = _first(layers, "actions", list) is not None
    is_doubt = any(layer.get("reason") == InterruptKind.LOW_CONFIDENCE for layer in layers)
    if is_doubt and not has_actions:
        return InterruptKind.LOW_CONFIDENCE
    named = _text(layers, "kind")
    if named in _KINDS:
        return InterruptKind(named)
    if named:
        return InterruptKind.CUSTOM
    if _first(layers, "questions", list) is not None:
        return InterruptKind.CLARIFICATION
    return InterruptKind.APPROVAL if has_actions else None


_KINDS = frozenset(kind.value for kind in InterruptKind)


def _actions(layers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    offered = _texts(_first(layers, "actions", list))
    return tuple(dict.fromkeys(_SPELLINGS.get(action, action) for action in offered))


def _questions(layers: Sequence[Mapping[str, Any]]) -> tuple[Question, ...]:
    found: list[Question] = []
    for item in _first(layers, "questions", list) or []:
        if isinstance(item, Mapping) and isinstance(item.get("id"), str):
            schema = item.get("schema")
            text = item.get("question")
            found.append(
                Question(
                    item["id"],
                    text if isinstance(text, str) else item["id"],
                    schema if isinstance(schema, Mapping) else None,
                )
            )
    lone = _text(layers, "question")
    if lone and not found:
        found.append(Question("answer", lone, _first(layers, "schema", Mapping)))
    return tuple(found)


def _schema(layers: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | bool | None:
    for key in ("resumeSchema", "answerSchema", "outcomeSchema"):
        for layer in layers:
            schema = layer.get(key)
            if isinstance(schema, Mapping | bool):
                return schema
    return None


def _timeout_ms(layers: Sequence[Mapping[str, Any]]) -> int | None:
    """Return how long the host waits: as stated, or from its own two clock readings.

    The two are read by the same clock, so that a wrong one does no harm.
    """
    for key, factor in (("timeoutMs", 1), ("timeoutSec", 1000)):
        stated = _first(layers, key, int)
        if stated is not None:
            return int(stated) * factor
    began, ends = _moment(layers, "createdAt"), _moment(layers, "expiresAt")
    return None if began is None or ends is None else (ends - began) // timedelta(milliseconds=1)


def _moment(layers: Sequence[Mapping[str, Any]], key: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_text(layers, key))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _any(layers: Sequence[Mapping[str, Any]], *keys: str) -> Any:
    return next(
        (layer[key] for key in keys for layer in layers if layer.get(key) is not None), None
    )


def _first(layers: Sequence[Mapping[str, Any]], key: str, wanted: type) -> Any:
    for layer in layers:
        value = layer.get(key)
        if isinstance(value, wanted) and not isinstance(value, bool):
            return value
    return None


def _text(layers: Sequence[Mapping[str, Any]], *keys: str) -> str:
    for key in keys:
        value = _first(layers, key, str)
        if value:
            return str(value)
    return ""


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        return ()
    return tuple(value for value in values if isinstance(value, str))
