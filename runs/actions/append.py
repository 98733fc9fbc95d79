"""Adds a batch to the runs of one host: facts, gaps, status and judgements commit together.

The run rows are locked first, in one order for everybody. Under the locks it is decided what is
new, new events get their positions, and the derived columns are folded again where they could
change.
"""

import hashlib
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from runs import live
from runs.actions.held import held_beside, locked_runs
from runs.actions.log import NewLine, console_line, line_of, write
from runs.actions.runs import save_derived
from runs.domain import gaps as gap_rules
from runs.domain.intake import Conflict, Intake, sort_out
from runs.domain.log import Envelope, LogLine, Origin
from runs.domain.projection import SIGNAL_TYPES, project
from runs.lines import signal_lines
from runs.models import Event, Gap, Host, Run
from runs.signals import Appended, events_appended

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """A refused event that could have been a verdict: a content-free marker holds its run."""

    event_id: str
    sequence: int | None
    reason: str
    pointer: str
    verdict: str | None = None
    target_digest: str | None = None
    """What it said, as far as that is no content: it must not be taken back by another event."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What arrives for one run, with each envelope's place in the request."""

    envelopes: list[tuple[int, Envelope]] = field(default_factory=list)
    turned_away: list[TurnedAway] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request's batches."""

    accepted: int
    duplicates: int
    conflicts: Sequence[Conflict]
    runs: Sequence[Run]


@dataclass(slots=True)
class _Addition:
    """One run while a batch is added to it."""

    run: Run
    was_empty: bool
    was_torn: bool
    intake: Intake
    new: list[NewLine]
    lines: list[LogLine] = field(default_factory=list)
    gaps_changed: bool = False


def append(*, host: Host, batches: Mapping[str, Batch], now: datetime | None = None) -> Outcome:
    """Add events to the runs of a host and tell whoever judges or watches.

    Args:
        host: whose runs these are; a run is created when it is first heard of.
        batches: by run id.
        now: our clock; tests give it.

    Returns:
        Counts, conflicts with what we hold, and the runs as they are now.

    A judgement that fails must not take the facts with it: then they are added without one, the
    runs are held, and the sweep tries again.
    """
    now = now or timezone.now()
    try:
        return _append(host, batches, now, _judge)
    except _NotJudged as failed:
        if failed.__cause__ is not None and connection.connection is None:
            raise failed.__cause__ from None  # the database went away: nothing is known of a fault
        logger.exception("judging failed; the runs are held", exc_info=failed.__cause__)
        return _append(host, batches, now, _hold)


@transaction.atomic
def _append(
    host: Host,
    batches: Mapping[str, Batch],
    now: datetime,
    judge: Callable[[Sequence["_Addition"]], None],
) -> Outcome:
    runs = locked_runs(host, batches)
    additions = [_sort(runs[run_id], batch, now) for run_id, batch in sorted(batches.items())]
    changed = [addition for addition in additions if addition.new]
    if changed:
        _commit(host, changed, now, judge)
    return Outcome(
        accepted=sum(len(addition.intake.new) for addition in additions),
        duplicates=sum(addition.intake.repeats for addition in additions),
        conflicts=[each for addition in additions for each in addition.intake.conflicts],
        runs=[addition.run for addition in additions],
    )


def _sort(run: Run, batch: Batch, now: datetime) -> _Addition:
    """Decide what is new and write down, without content, what is not taken."""
    held = held_beside(run, (envelope for _, envelope in batch.envelopes))
    intake = sort_out(batch.envelopes, held)
    newest = -1 if run.last_sequence is None else run.last_sequence
    new = [line_of(each, is_late=each.sequence < newest) for each in intake.new]
    markers = [
        *(_refused_marker(each, now) for each in batch.turned_away),
        *(_conflict_marker(each, now) for each in intake.conflicts),
    ]
    new_lines = [*new, *_unheld(run, markers)]
    return _Addition(run, not run.last_position, run.may_miss_events, intake, new_lines)


def _unheld(run: Run, markers: Sequence[NewLine]) -> list[NewLine]:
    """Return the markers that the run does not have yet, each once: a repeat adds no line."""
    wanted = {marker.event_id: marker for marker in markers}
    if wanted:
        held = Event.objects.filter(run=run, event_id__in=wanted)
        for event_id in held.values_list("event_id", flat=True):
            del wanted[event_id]
    return list(wanted.values())


def _refused_marker(refused: TurnedAway, now: datetime) -> NewLine:
    return console_line(
        event_id=_marker_id("refused", refused),
        type="console.verdict.refused",
        at=now,
        payload={
            "eventId": refused.event_id,
            "sequence": refused.sequence,
            "reason": refused.reason,
            "pointer": refused.pointer,
            "verdict": refused.verdict,
            "targetDigest": refused.target_digest,
        },
        caused_by=refused.event_id,
    )


def _conflict_marker(conflict: Conflict, now: datetime) -> NewLine:
    arrived, held = conflict.arrived, conflict.held
    return console_line(
        event_id=_marker_id("conflict", (arrived.event_id, arrived.sequence, arrived.digest)),
        type="console.event.conflicted",
        at=now,
        payload={
            "eventId": arrived.event_id,
            "sequence": arrived.sequence,
            "heldEventId": held.event_id,
            "heldDigest": held.digest.hex(),
            "offeredDigest": arrived.digest.hex(),
        },
        caused_by=held.event_id,
    )


def _marker_id(kind: str, about: object) -> str:
    """Return an event id that is the same for the same thing, so that a repeat adds no line."""
    return f"console:{kind}:{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}"


def _commit(
    host: Host,
    changed: Sequence[_Addition],
    now: datetime,
    judge: Callable[[Sequence[_Addition]], None],
) -> None:
    written = write([(addition.run, addition.new) for addition in changed], now=now)
    for addition, lines in zip(changed, written, strict=True):
        addition.lines = lines
    _count(changed, now)
    _fold_gaps(changed)
    _fold_status(changed)
    judge(changed)
    save_derived([addition.run for addition in changed])
    groups = [live.run_group(addition.run.pk) for addition in changed]
    transaction.on_commit(partial(live.ring, live.workspace_group(host.workspace_id), *groups))


def _count(changed: Sequence[_Addition], now: datetime) -> None:
    for addition in changed:
        arrived = len(addition.intake.new)
        addition.run.event_count += arrived
        addition.run.marked_lines += len(addition.lines) - arrived
        addition.run.last_event_at = now


def _fold_gaps(changed: Sequence[_Addition]) -> None:
    """Bring first and last sequence and the missing ranges up to date."""
    held: dict[int, list[gap_rules.Range]] = defaultdict(list)
    torn = [addition.run.pk for addition in changed if addition.was_torn]
    for gap in Gap.objects.filter(run__in=torn) if torn else ():
        held[gap.run_id].append((gap.first, gap.last))
    for addition in changed:
        _fold_gaps_of(addition, sorted(held[addition.run.pk]))


def _fold_gaps_of(addition: _Addition, before: list[gap_rules.Range]) -> None:
    run = addition.run
    inner = [each for each in before if run.first_sequence is None or each[0] > run.first_sequence]
    span = gap_rules.Span(run.first_sequence, run.last_sequence, tuple(inner))
    span = gap_rules.extend(span, (each.sequence for each in addition.intake.new))
    if any(each.sequence == 1 and each.type == "run.started" for each in addition.intake.new):
        run.starts_at_one = True
    run.first_sequence, run.last_sequence = span.first, span.last
    after = span.missing(starts_at_one=run.starts_at_one)
    gone, found = set(before) - set(after), set(after) - set(before)
    if gone:
        Gap.objects.filter(run=run, first__in=[first for first, _ in gone]).delete()
    if found:
        Gap.objects.bulk_create([Gap(run=run, first=a, last=b) for a, b in sorted(found)])
    addition.gaps_changed = bool(gone or found)


def _fold_status(changed: Sequence[_Addition]) -> None:
    """Fold again the runs that got a line which can change their status."""
    touched = [
        addition
        for addition in changed
        if any(line.type in SIGNAL_TYPES for line in addition.lines)
    ]
    grown = [addition.run.pk for addition in touched if not addition.was_empty]
    stored = signal_lines(grown, SIGNAL_TYPES) if grown else {}
    for addition in touched:
        apply_projection(addition.run, stored.get(addition.run.pk, addition.lines))


def apply_projection(run: Run, lines: Sequence[LogLine]) -> None:
    """Set the columns that are folded from a run's log."""
    folded = project([line for line in lines if line.origin is Origin.HOST])
    run.status = folded.status
    run.outcome = folded.outcome or ""
    run.is_terminal = folded.is_terminal
    run.workflow_id = folded.workflow_id or ""
    run.parent_run_id = folded.parent_run_id or ""
    run.started_at, run.ended_at = folded.started_at, folded.ended_at


def add_found(*, run: Run, lines: Sequence[NewLine], now: datetime) -> None:
    """Add lines of the Console's own, from which conclusions follow, to a locked run.

    As with a host's events, a judgement that fails holds the run and is made later.
    """
    nothing = Intake((), 0, ())
    addition = _Addition(run, was_empty=False, was_torn=False, intake=nothing, new=list(lines))
    [addition.lines] = write([(run, lines)], now=now)
    position = run.last_position
    try:
        with transaction.atomic():
            _judge([addition])
    except _NotJudged as failed:
        logger.exception("judging failed; the run is held", exc_info=failed.__cause__)
        run.refresh_from_db()
        run.last_position = position
        _hold([addition])
    save_derived([run])
    groups = live.run_group(run.pk), live.workspace_group(run.workspace_id)
    transaction.on_commit(partial(live.ring, *groups))


class _NotJudged(Exception):
    """A judgement failed."""


def _judge(changed: Sequence[_Addition]) -> None:
    """Let the judging side look, inside this transaction."""
    appended = [
        Appended(run=each.run, lines=each.lines, gaps_changed=each.gaps_changed) for each in changed
    ]
    try:
        answers: list[tuple[Any, Any]] = events_appended.send(sender=Run, appended=appended)
        for _, do in answers:
            if do is not None:
                do()
    except Exception as error:
        raise _NotJudged from error


def _hold(changed: Sequence[_Addition]) -> None:
    """Hold the runs until they are judged."""
    for addition in changed:
        addition.run.held = True
        addition.run.hold_reasons = sorted({*addition.run.hold_reasons, JUDGING_FAILED})


JUDGING_FAILED = "judging_failed"
