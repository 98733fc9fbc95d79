"""Saves what a run's log adds up to, and the stamp that judgements leave on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone

from runs import live
from runs.actions.log import NewLine, write
from runs.models import Run
from runs.rows import execute, execute_together, update

_DERIVED = {
    "last_position": "bigint",
    "event_count": "bigint",
    "first_sequence": "bigint",
    "last_sequence": "bigint",
    "starts_at_one": "boolean",
    "last_event_at": "timestamptz",
    "marked_lines": "integer",
    "status": "text",
    "outcome": "text",
    "is_terminal": "boolean",
    "workflow_id": "text",
    "parent_run_id": "text",
    "started_at": "timestamptz",
    "ended_at": "timestamptz",
}
_STAMPED = {
    "held": "boolean",
    "hold_reasons": "text[]",
    "standing": "text",
    "verdict_strip": "text[]",
    "open_escalations": "integer",
    "worst_finding": "text",
}


def save_derived(runs: Sequence[Run]) -> None:
    """Save the folded columns and the stamps of some locked runs in one statement."""
    _save(runs, {**_DERIVED, **_STAMPED})


def _save(runs: Sequence[Run], columns: Mapping[str, str]) -> None:
    rows = [{"id": run.pk, **{name: getattr(run, name) for name in columns}} for run in runs]
    execute_together([*update("runs_run", columns, rows)])


@dataclass(frozen=True, slots=True)
class Stamp:
    """What judgements say of a run as a whole, kept on it so that a list is one query."""

    held: bool
    hold_reasons: tuple[str, ...]
    standing: str
    """State of the worst gate, or empty."""
    verdict_strip: tuple[str, ...]
    """The last five verdicts, oldest first."""
    open_escalations: int
    worst_finding: str
    """Highest severity of a standing finding, or empty."""


def stamp(*, run: Run, stamp: Stamp) -> None:
    """Leave the judgement's stamp on a run, in memory."""
    run.held, run.hold_reasons = stamp.held, list(stamp.hold_reasons)
    run.standing, run.verdict_strip = stamp.standing, list(stamp.verdict_strip)
    run.open_escalations, run.worst_finding = stamp.open_escalations, stamp.worst_finding


def save_judged(run: Run, *, has_news: bool) -> None:
    """Save the stamp of a locked run, and where its log ends if judging told anything."""
    _save([run], {"last_position": "bigint", **_STAMPED} if has_news else _STAMPED)


def locked(run: int) -> Run:
    """Return a run with its row locked until the transaction ends."""
    return Run.objects.select_for_update().get(pk=run)


def note(*, run: Run, lines: Sequence[NewLine], now: datetime | None = None) -> None:
    """Add the Console's own lines to a locked run's log and ring for its pages."""
    if lines:
        tell(run=run, lines=lines, now=now or timezone.now())
        execute("UPDATE runs_run SET last_position = %s WHERE id = %s", [run.last_position, run.pk])


def tell(*, run: Run, lines: Sequence[NewLine], now: datetime) -> None:
    """Do what `note` does, for a caller who saves the run."""
    if lines:
        write([(run, lines)], now=now)
        groups = live.run_group(run.pk), live.workspace_group(run.workspace_id)
        transaction.on_commit(partial(live.ring, *groups))
