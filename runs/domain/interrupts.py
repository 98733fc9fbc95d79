"""The host's interrupts: when each opened, what it asks for, and what closed it.

Most hosts emit no `interrupt.*` event at all: one opens with `node.suspended` and closes with
whatever the host says first about going on. Hosts also announce one twice. Both are settled
here, by sequence only, so that the status of a run and the requests for a person agree on what is
open. Of some a host's log says nothing: what its snapshot told of those is a line of the Console's,
which stands right after the last event that was held then. Source: OpenWOP interrupt.md,
suspend-request.schema.json; the shapes of five live hosts.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from runs.domain.log import LogLine
from runs.domain.readers import agent_of, fields, node_of, text

SUSPENDED = "node.suspended"
RUN_RESUMED = "run.resumed"
RUN_PAUSED = "run.paused"
ENDING_TYPES = frozenset({"run.completed", "run.failed", "run.cancelled", "run.dead_lettered"})

_KIND_BY_TYPE: Mapping[str, str | None] = MappingProxyType(
    {
        SUSPENDED: None,
        "interrupt.requested": None,
        "approval.requested": "approval",
        "clarification.requested": "clarification",
        "conversation.opened": "conversation",
    }
)
OPENING_TYPES = frozenset(_KIND_BY_TYPE)
CLOSING_TYPES = frozenset(
    {
        "node.resumed",
        "node.suspend-failed",
        "node.interrupt.resolved",
        "interrupt.resolved",
        "approval.received",
        "clarification.resolved",
        "conversation.closed",
    }
)
FOUND = "console.interrupt.found"
"""The host's own snapshot names an interrupt that its log does not show to be open."""
GONE = "console.interrupt.gone"
"""It names it no more."""
FOUND_TYPES = frozenset({FOUND, GONE})

SIGNAL_TYPES = OPENING_TYPES | CLOSING_TYPES | ENDING_TYPES | {RUN_RESUMED, RUN_PAUSED}

_OPENING, _CLOSING = OPENING_TYPES | {FOUND}, CLOSING_TYPES | {GONE}
LOW_CONFIDENCE = "low-confidence"
_REFUSALS = frozenset({"reject", "rejected", "decline", "declined", "deny", "denied", "timeout"})


class Closed(StrEnum):
    """Why an interrupt is no longer open."""

    ANSWERED = "answered"
    RUN_ENDED = "run_ended"


@dataclass(frozen=True, slots=True)
class Announcement:
    """What one line says about an interrupt that opens."""

    node_id: str | None
    interrupt_id: str | None
    conversation_id: str | None
    kind: str | None
    actions: tuple[str, ...]
    agent_id: str | None
    is_low_confidence: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Return the ids under which a later line may mean this interrupt."""
        return tuple(each for each in (self.interrupt_id, self.conversation_id) if each)


@dataclass(frozen=True, slots=True)
class Interrupt:
    """One interrupt of the host, open or closed."""

    node_id: str | None
    interrupt_id: str | None
    kind: str | None
    actions: tuple[str, ...]
    agent_id: str | None
    is_low_confidence: bool
    lines: tuple[LogLine, ...]
    """The lines that opened it, in sequence order; hosts may announce one interrupt twice."""
    closed: Closed | None = None
    closed_by: LogLine | None = None

    @property
    def is_open(self) -> bool:
        """Say whether the host still waits."""
        return self.closed is None

    @property
    def is_only_found(self) -> bool:
        """Say whether the host's log shows nothing of it."""
        return all(line.type == FOUND for line in self.lines)

    @property
    def opened_at(self) -> float:
        """Return the sequence of the line that opened it; half a step more where it was found."""
        line = self.lines[0]
        return sequence_of(line) + (0.5 if line.type == FOUND else 0)

    @property
    def was_let_through(self) -> bool:
        """Say whether somebody answered it with anything but a refusal."""
        if self.closed is not Closed.ANSWERED or self.closed_by is None:
            return False
        return answer_action(self.closed_by) not in _REFUSALS


@dataclass(slots=True)
class _Draft:
    """An interrupt while it is being folded."""

    node_id: str | None
    said: list[Announcement]
    lines: list[LogLine]
    closed: Closed | None = None
    closed_by: LogLine | None = None

    @property
    def interrupt_id(self) -> str | None:
        return next((each.interrupt_id for each in self.said if each.interrupt_id), None)


def sequence_of(line: LogLine) -> int:
    """Return a host line's sequence, or the one after which an interrupt was found or gone.

    Other lines of the Console have none and stand before them all.
    """
    if line.sequence is not None:
        return line.sequence
    at = fields(line.payload).get("atSequence") if line.type in FOUND_TYPES else None
    return at if type(at) is int else -1


def announcement_of(line: LogLine) -> Announcement | None:
    """Return what a line says of an interrupt that it opens, or None when it opens none."""
    if line.type not in _OPENING:
        return None
    payload = fields(line.payload)
    reason = text(payload.get("reason"))
    return Announcement(
        node_id=node_of(line),
        interrupt_id=text(payload.get("interruptId")),
        conversation_id=text(payload.get("conversationId")),
        kind=_KIND_BY_TYPE.get(line.type) or text(payload.get("kind")) or _kind_by_reason(reason),
        actions=_actions(payload),
        agent_id=agent_of(line),
        is_low_confidence=LOW_CONFIDENCE in (reason, payload.get("kind")),
    )


def answer_action(line: LogLine) -> str | None:
    """Return the action that a closing line says was taken, if it says one."""
    payload = fields(line.payload)
    return text(payload.get("action")) or text(fields(payload.get("resumeValue")).get("action"))


def interrupts(lines: Iterable[LogLine]) -> tuple[Interrupt, ...]:
    """Return every interrupt of a run, in the order in which they opened.

    Args:
        lines: the host's lines in sequence order, at least those of `SIGNAL_TYPES`, and among them
            the Console's of `FOUND_TYPES`.
    """
    fold = _Fold()
    for line in lines:
        fold.take(line)
    return tuple(_finished(draft) for draft in fold.drafts)


class _Fold:
    """Walks the log once and keeps what is open, by node and by the ids that a line may name."""

    def __init__(self) -> None:
        self.drafts: list[_Draft] = []
        self._by_node: dict[str | None, dict[int, _Draft]] = defaultdict(dict)
        self._by_name: dict[str, _Draft] = {}
        self._without_id: dict[str | None, _Draft] = {}
        """At most one at a node: a second announcement without an id joins what is open there."""
        self._is_paused = False
        self._has_ended = False

    def take(self, line: LogLine) -> None:
        if line.type in _OPENING:
            self._open_or_join(line)
        elif line.type in ENDING_TYPES:
            self._has_ended = True
            self._close(self._all(), Closed.RUN_ENDED, line)
        elif line.type == RUN_PAUSED:
            self._is_paused = True
        elif line.type == RUN_RESUMED:
            self._resume(line)
        elif line.type in _CLOSING and not _only_asks_back(line):
            self._close(self._meant_by(line), Closed.ANSWERED, line)

    def _all(self) -> list[_Draft]:
        return [draft for drafts in self._by_node.values() for draft in drafts.values()]

    def _open_or_join(self, line: LogLine) -> None:
        said = announcement_of(line)
        if said is None or self._has_ended:
            return
        draft = self._already_open(said)
        if draft is None:
            draft = _Draft(said.node_id, [], [])
            self.drafts.append(draft)
            self._by_node[draft.node_id][id(draft)] = draft
            self._without_id[draft.node_id] = draft
        draft.said.append(said)
        draft.lines.append(line)
        for name in said.names:
            self._by_name[name] = draft
        if draft.interrupt_id is not None and self._without_id.get(draft.node_id) is draft:
            del self._without_id[draft.node_id]

    def _already_open(self, said: Announcement) -> _Draft | None:
        """Return the open interrupt that a second announcement is about."""
        known = (self._by_name.get(name) for name in said.names)
        found = next((draft for draft in known if draft is not None), None)
        if found is not None or said.node_id is None:
            return found
        if said.interrupt_id is not None:
            return self._without_id.get(said.node_id)
        return next(iter(self._by_node.get(said.node_id, {}).values()), None)

    def _resume(self, line: LogLine) -> None:
        """Close what the run went on from; resuming a paused run answers no interrupt."""
        self._has_ended = False
        node = text(fields(line.payload).get("resumedAtNode"))
        if node is not None:
            self._close([*self._at(node), *self._at(None)], Closed.ANSWERED, line)
        elif not self._is_paused:
            self._close(self._all(), Closed.ANSWERED, line)
        self._is_paused = False

    def _meant_by(self, line: LogLine) -> list[_Draft]:
        payload = fields(line.payload)
        interrupt_id, node = text(payload.get("interruptId")), node_of(line)
        names = {interrupt_id, text(payload.get("conversationId"))} - {None}
        if node is None and not names:
            everything = self._all()
            return everything if len(everything) == 1 else []
        named = [draft for name in names if (draft := self._by_name.get(name or ""))]
        if node is None:
            return named
        if interrupt_id is None:
            return [*named, *self._at(node)]
        without_id = self._without_id.get(node)
        return [*named, without_id] if without_id is not None else named

    def _at(self, node: str | None) -> list[_Draft]:
        return list(self._by_node.get(node, {}).values())

    def _close(self, drafts: list[_Draft], how: Closed, line: LogLine) -> None:
        for draft in drafts:
            if draft.closed is None:
                draft.closed, draft.closed_by = how, line
                self._forget(draft)

    def _forget(self, draft: _Draft) -> None:
        self._by_node[draft.node_id].pop(id(draft), None)
        if self._without_id.get(draft.node_id) is draft:
            del self._without_id[draft.node_id]
        for name in {name for said in draft.said for name in said.names}:
            self._by_name.pop(name, None)


def _finished(draft: _Draft) -> Interrupt:
    said = draft.said
    named = [each.kind for each in said if each.kind and not each.is_low_confidence]
    return Interrupt(
        node_id=next((each.node_id for each in said if each.node_id), None),
        interrupt_id=draft.interrupt_id,
        kind=next(iter(named), None) or next((each.kind for each in said if each.kind), None),
        actions=next((each.actions for each in said if each.actions), ()),
        agent_id=next((each.agent_id for each in said if each.agent_id), None),
        is_low_confidence=any(each.is_low_confidence for each in said),
        lines=tuple(draft.lines),
        closed=draft.closed,
        closed_by=draft.closed_by,
    )


def _only_asks_back(line: LogLine) -> bool:
    """`ask` is a side channel: the interrupt stays open. Source: OpenWOP interrupt.md, Approval."""
    return answer_action(line) == "ask"


def _kind_by_reason(reason: str | None) -> str | None:
    if reason == LOW_CONFIDENCE:
        return LOW_CONFIDENCE
    return "conversation" if reason == "conversation-input" else None


def _actions(payload: Mapping[str, object]) -> tuple[str, ...]:
    """Return the offered actions; `edit`, an older spelling, reads as `edit-accept`."""
    for place in (payload, fields(payload.get("config")), fields(payload.get("data"))):
        offered = place.get("actions")
        if isinstance(offered, list):
            named = (each for each in offered if isinstance(each, str) and each)
            return tuple("edit-accept" if each == "edit" else each for each in named)
    return ()
