"""What a run's log adds up to: its status, its outcome, and what it waits for.

A fold over the host's lines in sequence order. Arrival, clocks and batches play no part, and a line
of a type not in `SIGNAL_TYPES` changes nothing. Status and outcome are kept apart, because a run
that gave up also ends with `run.completed`. Source: OpenWOP run-snapshot.schema.json; RFC 0090 §C.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from runs.domain.interrupts import (
    LOW_CONFIDENCE,
    RUN_PAUSED,
    RUN_RESUMED,
    Interrupt,
    interrupts,
    sequence_of,
)
from runs.domain.interrupts import SIGNAL_TYPES as INTERRUPT_TYPES
from runs.domain.log import LogLine, Origin
from runs.domain.readers import (
    ORCHESTRATOR_DECISION,
    DecisionKind,
    DecisionRead,
    decision_of,
    parent_of,
    workflow_of,
)

_T = TypeVar("_T")

STARTED = "run.started"
COMPLETED = "run.completed"

SIGNAL_TYPES: frozenset[str] = INTERRUPT_TYPES | {STARTED, ORCHESTRATOR_DECISION}
"""The only types that the fold reads: lines of other types need not be loaded."""


class RunStatus(StrEnum):
    """Where a run stands. Stored; add, never repurpose.

    `cancelling` has no event and comes from a host's snapshot only; `unknown` stands for a status
    that a snapshot spells in a way we do not know.
    """

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    WAITING_APPROVAL = "waiting-approval"
    WAITING_INPUT = "waiting-input"
    WAITING_EXTERNAL = "waiting-external"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Outcome(StrEnum):
    """How a run ended. Stored; add, never repurpose. Only `goal_met` can count as success."""

    GOAL_MET = "goal_met"
    GAVE_UP = "gave_up"
    ENDED = "ended"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})

WAITING = frozenset(
    {RunStatus.WAITING_APPROVAL, RunStatus.WAITING_INPUT, RunStatus.WAITING_EXTERNAL}
)

_STATUS_AFTER: Mapping[str, RunStatus] = MappingProxyType(
    {
        STARTED: RunStatus.RUNNING,
        RUN_PAUSED: RunStatus.PAUSED,
        RUN_RESUMED: RunStatus.RUNNING,
        COMPLETED: RunStatus.COMPLETED,
        "run.failed": RunStatus.FAILED,
        "run.dead_lettered": RunStatus.FAILED,
        "run.cancelled": RunStatus.CANCELLED,
    }
)
_WAITS_FOR: Mapping[str, RunStatus] = MappingProxyType(
    {
        "approval": RunStatus.WAITING_APPROVAL,
        LOW_CONFIDENCE: RunStatus.WAITING_APPROVAL,
        "external-event": RunStatus.WAITING_EXTERNAL,
    }
)
_SPELLED_OTHERWISE: Mapping[str, RunStatus] = MappingProxyType(
    {"waiting-clarification": RunStatus.WAITING_INPUT}
)


@dataclass(frozen=True, slots=True)
class Projection:
    """A run as its log tells it. What the log does not tell is None."""

    status: RunStatus
    outcome: Outcome | None
    workflow_id: str | None
    parent_run_id: str | None
    started_at: datetime | None
    ended_at: datetime | None
    interrupts: tuple[Interrupt, ...]
    """All of them, in the order in which they opened."""
    last_terminate: LogLine | None
    """The readable `terminate` decision with the highest sequence: the one that counts."""
    ended_by: LogLine | None
    """The line that ended the run."""

    @property
    def is_terminal(self) -> bool:
        """Say whether the run is over."""
        return self.status in TERMINAL


def project(lines: Sequence[LogLine], found: Iterable[LogLine] = ()) -> Projection:
    """Fold a run's log.

    Args:
        lines: in any order, repeats allowed; lines of the Console and of types that are not in
            `SIGNAL_TYPES` are passed over. Without any signal the run is `pending`.
        found: the Console's own lines of `FOUND_TYPES`, where the interrupts that only a snapshot
            tells of are wanted too.
    """
    signals = in_sequence(line for line in lines if line.type in SIGNAL_TYPES)
    return _fold(signals, interrupts(_with(signals, found)))


def _with(lines: list[LogLine], found: Iterable[LogLine]) -> list[LogLine]:
    """Return the host's lines with the Console's own behind those they were found after."""
    ours = sorted(found, key=lambda line: line.position)
    return sorted([*lines, *ours], key=sequence_of) if ours else lines


def in_sequence(lines: Iterable[LogLine]) -> list[LogLine]:
    """Return the host's lines in sequence order, each sequence once."""
    by_sequence: dict[int, LogLine] = {}
    for line in lines:
        if line.origin is Origin.HOST and line.sequence is not None:
            by_sequence.setdefault(line.sequence, line)
    return [by_sequence[sequence] for sequence in sorted(by_sequence)]


def status_of(snapshot_status: object) -> RunStatus:
    """Return the status that a host's snapshot names; one that we do not know is `unknown`."""
    if not isinstance(snapshot_status, str):
        return RunStatus.UNKNOWN
    if snapshot_status in set(RunStatus):
        return RunStatus(snapshot_status)
    return _SPELLED_OTHERWISE.get(snapshot_status, RunStatus.UNKNOWN)


def waiting_status(kind: str | None) -> RunStatus:
    """Return the status of a run that waits on an interrupt of a kind; most wait for input.

    Source: OpenWOP suspend-request.schema.json, `kind`; hosts differ on conversations, and the live
    ones say `waiting-input`.
    """
    return _WAITS_FOR.get(kind or "", RunStatus.WAITING_INPUT)


def outcome_of(decision: DecisionRead | None) -> Outcome:
    """Return how a completed run ended, by its last `terminate`.

    Criteria that cannot be read never make a success. Source: RFC 0090 §C.
    """
    if decision is None or not (decision.met and decision.has_readable_criteria):
        gave_up = decision is not None and not all(decision.met)
        return Outcome.GAVE_UP if gave_up else Outcome.ENDED
    return Outcome.GOAL_MET if all(decision.met) else Outcome.GAVE_UP


def _fold(lines: Sequence[LogLine], found: tuple[Interrupt, ...]) -> Projection:
    status, started, ended = _walk(lines)
    decisions = [(line, decision_of(line)) for line in lines if line.type == ORCHESTRATOR_DECISION]
    terminate = _last_terminate(decisions)
    return Projection(
        status=_waiting(status, found),
        outcome=_outcome(status, terminate[1] if terminate else None),
        workflow_id=workflow_of(started) if started else None,
        parent_run_id=next((each for line in lines if (each := _parent(line))), None),
        started_at=started.timestamp if started else None,
        ended_at=ended.timestamp if ended else None,
        interrupts=found,
        last_terminate=terminate[0] if terminate else None,
        ended_by=ended,
    )


def _walk(lines: Iterable[LogLine]) -> tuple[RunStatus, LogLine | None, LogLine | None]:
    """Return the status before interrupts are looked at, the starting line and the ending line."""
    status = RunStatus.PENDING
    started: LogLine | None = None
    ended: LogLine | None = None
    for line in lines:
        if line.type == STARTED:
            started = started or line
        if line.type == STARTED and status is not RunStatus.PENDING:
            continue
        after = _STATUS_AFTER.get(line.type)
        if after is None:
            status = RunStatus.RUNNING if status is RunStatus.PENDING else status
        elif not (after is RunStatus.PAUSED and status in TERMINAL):
            status = after
            ended = line if after in TERMINAL else None
    return status, started, ended


def _waiting(status: RunStatus, found: Sequence[Interrupt]) -> RunStatus:
    """Return the status with what the run waits for; of several, the last that opened."""
    if status is not RunStatus.RUNNING:
        return status
    waiting = [each for each in found if each.is_open]
    return waiting_status(waiting[-1].kind) if waiting else status


def _outcome(status: RunStatus, terminate: DecisionRead | None) -> Outcome | None:
    match status:
        case RunStatus.COMPLETED:
            return outcome_of(terminate)
        case RunStatus.FAILED:
            return Outcome.FAILED
        case RunStatus.CANCELLED:
            return Outcome.CANCELLED
        case _:
            return None


def _last_terminate(
    decisions: Iterable[tuple[LogLine, DecisionRead | None]],
) -> tuple[LogLine, DecisionRead] | None:
    return _last(
        (line, read)
        for line, read in decisions
        if read is not None and read.kind is DecisionKind.TERMINATE
    )


def _parent(line: LogLine) -> str | None:
    return parent_of(line) if line.type in (STARTED, "run.cancelled") else None


def _last(values: Iterable[_T | None]) -> _T | None:
    found = None
    for value in values:
        found = value if value is not None else found
    return found
