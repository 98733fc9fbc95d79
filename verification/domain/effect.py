"""Which of a host's own lines proves that a decision took effect.

A 2xx says that a host took the decision, not that anything happened. Proof is a later line of the
run about the same interrupt. Hosts differ in what they write: some only `node.resumed`, some only
`node.interrupt.resolved`, and one writes nothing but `node.completed` when it was told to reject.
Lines that end the pause for another reason (the run was cancelled, the time ran out) are told
apart: after those the decision can no longer take effect.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from runs.domain.log import LogLine, Origin


class EffectKind(StrEnum):
    """What a line says about a pause."""

    RESUMED = "resumed"
    VOTED = "voted"
    """The decision counts, but the host waits for more of them."""
    REPLIED = "replied"
    """A turn of a conversation that goes on."""
    ENDED = "ended"
    """The node or run ended without a line about the pause."""
    OVERTAKEN = "overtaken"
    """The pause ended for another reason."""


@dataclass(frozen=True, slots=True)
class Suspension:
    """A pause of a run, as it began."""

    node_id: str
    sequence: int
    """Of the line that began it."""
    interrupt_id: str | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """A line, and what it says about the pause."""

    kind: EffectKind
    line: LogLine


_KINDS: Mapping[str, EffectKind] = {
    "node.resumed": EffectKind.RESUMED,
    "node.interrupt.resolved": EffectKind.RESUMED,
    "interrupt.resolved": EffectKind.RESUMED,
    "run.resumed": EffectKind.RESUMED,
    "approval.received": EffectKind.RESUMED,
    "approval.granted": EffectKind.RESUMED,
    "approval.rejected": EffectKind.RESUMED,
    "approval.overridden": EffectKind.RESUMED,
    "clarification.resolved": EffectKind.RESUMED,
    "conversation.closed": EffectKind.RESUMED,
    "node.completed": EffectKind.RESUMED,
    "node.failed": EffectKind.ENDED,
    "node.skipped": EffectKind.OVERTAKEN,
    "node.cancelled": EffectKind.OVERTAKEN,
    "interrupt.vote": EffectKind.VOTED,
    "interrupt.vote.recorded": EffectKind.VOTED,
    "conversation.exchanged": EffectKind.REPLIED,
    "run.completed": EffectKind.ENDED,
    "run.failed": EffectKind.ENDED,
    "run.cancelled": EffectKind.OVERTAKEN,
}
_PAUSES = frozenset({"node.suspended", "interrupt.requested"})
_TERMINAL = frozenset({"run.completed", "run.failed", "run.cancelled"})


def effects(lines: Iterable[LogLine], suspension: Suspension) -> tuple[Effect, ...]:
    """Return every later line about the pause, in the host's order, whatever order they came in."""
    ours = sorted(
        (line for line in lines if line.origin is Origin.HOST and line.sequence is not None),
        key=_sequence,
    )
    found: list[Effect] = []
    for line in ours:
        if _sequence(line) <= suspension.sequence:
            continue
        if _pauses_again(line, suspension, found):
            break
        if line.type in _TERMINAL or (line.type in _KINDS and _concerns(line, suspension, ours)):
            found.append(Effect(_kind(line), line))
    return tuple(found)


def proof(
    lines: Iterable[LogLine], suspension: Suspension, *, is_reply: bool = False, after: int = -1
) -> Effect | None:
    """Return the first line that proves a decision took effect, or that it no longer can.

    Args:
        lines: the run's log, or the part of it that is at hand.
        suspension: the pause that the decision was about.
        is_reply: the decision was a turn of a conversation, which leaves the pause open.
        after: only lines above this sequence count; for replies, the last line before the reply.
    """
    passing = {EffectKind.VOTED} if is_reply else {EffectKind.VOTED, EffectKind.REPLIED}
    for effect in effects(lines, suspension):
        if effect.kind not in passing and _sequence(effect.line) > after:
            return effect
    return None


def votes(lines: Iterable[LogLine], suspension: Suspension) -> int:
    """Return how many votes the host has recorded while it waits for more."""
    return sum(effect.kind is EffectKind.VOTED for effect in effects(lines, suspension))


def payload_of(line: LogLine) -> Mapping[str, Any]:
    """Return a line's payload as an object; hosts also send null."""
    return line.payload if isinstance(line.payload, Mapping) else {}


def _pauses_again(line: LogLine, suspension: Suspension, found: Sequence[Effect]) -> bool:
    """Say whether a line begins the next pause; a second line about the same one does not."""
    is_pause = line.type in _PAUSES and _node(line) == suspension.node_id
    return is_pause and any(effect.kind is EffectKind.RESUMED for effect in found)


def _kind(line: LogLine) -> EffectKind:
    payload = payload_of(line)
    if line.type == "approval.granted" and _is_short(payload.get("quorumProgress")):
        return EffectKind.VOTED
    if payload.get("action") == "ask":
        return EffectKind.REPLIED  # a side channel: the pause stays open
    if "timeout" in (payload.get("action"), payload.get("reason")):
        return EffectKind.OVERTAKEN
    return _KINDS[line.type]


def _is_short(progress: object) -> bool:
    if not isinstance(progress, Mapping):
        return False
    granted, required = progress.get("granted"), progress.get("required")
    return isinstance(granted, int) and isinstance(required, int) and granted < required


def _concerns(line: LogLine, suspension: Suspension, log: Sequence[LogLine]) -> bool:
    payload = payload_of(line)
    if line.type == "run.resumed" and "resumedAtNode" not in payload:
        return _was_the_only_pause(line, suspension, log)
    named = payload.get("interruptId")
    if isinstance(named, str) and suspension.interrupt_id:
        return named == suspension.interrupt_id
    names = (line.node_id, payload.get("nodeId"), payload.get("gateId"))
    return suspension.node_id in (*names, payload.get("resumedAtNode"))


def _was_the_only_pause(line: LogLine, suspension: Suspension, log: Sequence[LogLine]) -> bool:
    """Say whether a `run.resumed` that names no node can only be about this pause.

    It may also end a `run.paused`, or another node's pause.
    """
    waiting: set[str] = set()
    for earlier in log:
        if _sequence(earlier) >= _sequence(line):
            break
        node = _node(earlier)
        if earlier.type in _PAUSES:
            waiting.add(node)
        elif earlier.type == "run.paused":
            waiting.add("")
        elif earlier.type == "run.resumed":
            waiting.discard("")
        elif _KINDS.get(earlier.type) in {EffectKind.RESUMED, EffectKind.OVERTAKEN}:
            waiting.discard(node)
    return waiting <= {suspension.node_id}


def _node(line: LogLine) -> str:
    return line.node_id or str(payload_of(line).get("nodeId") or "")


def _sequence(line: LogLine) -> int:
    return -1 if line.sequence is None else line.sequence
