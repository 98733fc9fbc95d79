"""Why a run is held: something in its log may have been a `fail`, and cannot be read.

A mistyped type, a refused verdict, a verdict or decision that says nothing readable, two versions
of one event. None of them opens a gate by being unreadable. A hold ends when the same event arrives
readable and says nothing else, or when a person who saw it says so; what a person did not see is
not released.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from runs.domain import readers
from runs.domain.content_free import digest_of_target
from runs.domain.interrupts import sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import VerdictRead, fields, text
from verification.domain.decisions import Action
from verification.domain.index import Index
from verification.domain.past_decisions import PastDecision
from verification.domain.signals import EVENT_CONFLICTED, VERDICT_REFUSED

KEY = "held"
"""Key of the one matter that all holds of a run are."""


class HoldReason(StrEnum):
    """Why a line holds its run. Stored; add, never repurpose."""

    NEAR_MISS = "near_miss_type"
    VERDICT_REFUSED = "verdict_refused"
    VERDICT_UNREADABLE = "verdict_unreadable"
    DECISION_UNREADABLE = "decision_unreadable"
    CONFLICT = "conflicting_event"


@dataclass(frozen=True, slots=True)
class Hold:
    """One line that holds the run, or held it."""

    reason: HoldReason
    line: LogLine
    sequence: int | None
    """Where the unreadable event stands among the host's, if it said so."""
    is_readable_now: bool
    """The same event has arrived again and says what it must."""
    released_by: PastDecision | None = None
    misses: str | None = None
    """The type that a near miss was probably meant to be."""

    @property
    def holds(self) -> bool:
        """Say whether the run is held because of it."""
        return not self.is_readable_now and self.released_by is None

    @property
    def may_be_verdict(self) -> bool:
        """Say whether it could have been a `fail` on any target."""
        if self.reason is HoldReason.NEAR_MISS:
            return self.misses == readers.VERDICT
        return self.line.type == VERDICT_REFUSED or self.reason is HoldReason.VERDICT_UNREADABLE


def holds(index: Index, decisions: Sequence[PastDecision]) -> tuple[Hold, ...]:
    """Return everything that holds the run or held it, near misses first.

    Args:
        index: the run's log.
        decisions: what people decided about the run.
    """
    readable = _Readable(index)
    releases = [each for each in decisions if each.action is Action.RELEASE_HOLD]
    found = [
        *(_near_miss(line) for line in index.near_misses),
        *(_unreadable(line, readable) for line in index.unreadable),
        *(_mark(line, readable) for line in index.marks if line.type in _MARKED),
    ]
    return tuple(_released(hold, releases) for hold in found)


class _Readable:
    """The verdicts and decisions that can be read, by what identifies an event."""

    def __init__(self, index: Index) -> None:
        said = {each.line.event_id: each.said for each in index.verdicts}
        decisions = [each.line for each in index.decisions if each.said.has_readable_criteria]
        lines = [*(each.line for each in index.verdicts), *decisions]
        self._by_id = {line.event_id: said.get(line.event_id) for line in lines}
        self._id_at = {line.sequence: line.event_id for line in lines}

    def holds_event(self, event_id: str | None) -> bool:
        return event_id in self._by_id

    def versions_of(self, event_id: str | None, sequence: int | None) -> list[VerdictRead | None]:
        """Return what stands under the id and at the sequence; None is a decision."""
        ids = {event_id, None if sequence is None else self._id_at.get(sequence)}
        return [self._by_id[each] for each in ids if each in self._by_id]


_MARKED = frozenset({VERDICT_REFUSED, EVENT_CONFLICTED})


def _near_miss(line: LogLine) -> Hold:
    return Hold(
        HoldReason.NEAR_MISS,
        line,
        sequence_of(line),
        is_readable_now=False,
        misses=line.near_miss_of,
    )


def _unreadable(line: LogLine, readable: _Readable) -> Hold:
    is_decision = line.type == readers.ORCHESTRATOR_DECISION
    reason = HoldReason.DECISION_UNREADABLE if is_decision else HoldReason.VERDICT_UNREADABLE
    return Hold(reason, line, line.sequence, readable.holds_event(line.event_id))


def _mark(line: LogLine, readable: _Readable) -> Hold:
    payload = fields(line.payload)
    sequence = payload.get("sequence")
    at = sequence if type(sequence) is int else None
    if line.type == EVENT_CONFLICTED:
        return Hold(HoldReason.CONFLICT, line, at, is_readable_now=False)
    versions = readable.versions_of(text(payload.get("eventId")), at)
    agrees = [_is_same(payload, version) for version in versions]
    reason = HoldReason.VERDICT_REFUSED if all(agrees) else HoldReason.CONFLICT
    return Hold(reason, line, at, is_readable_now=bool(agrees) and all(agrees))


def _is_same(refused: Mapping[str, Any], held: VerdictRead | None) -> bool:
    """Say whether a readable event may be what was refused, as far as that could be read."""
    verdict, target = refused.get("verdict"), refused.get("targetDigest")
    if held is None:
        return verdict is None
    is_other = target is not None and target != digest_of_target(held.target)
    return not is_other and verdict in (None, held.kind)


def _released(hold: Hold, releases: Sequence[PastDecision]) -> Hold:
    by = next((each for each in releases if each.saw(hold.line)), None)
    if by is None:
        return hold
    return Hold(hold.reason, hold.line, hold.sequence, hold.is_readable_now, by, hold.misses)
