"""Saves what a run's log adds up to, and the stamp that judgements leave on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import orjson
from django.db import connection, transaction
from django.utils import timezone

from runs import live
from runs.actions.log import NewLine, write
from runs.domain.log import LogLine
from runs.models import Run

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
_SAVE = f"""
    UPDATE runs_run SET {", ".join(f"{name} = new.{name}" for name in _DERIVED)}
      FROM jsonb_to_recordset(%s::jsonb)
        AS new (id bigint, {", ".join(f"{name} {kind}" for name, kind in _DERIVED.items())})
     WHERE runs_run.id = new.id
"""  # noqa: S608  (constant text)


def save_derived(runs: Sequence[Run]) -> None:
    """Save the folded columns of some locked runs in one statement."""
    rows = [{"id": run.pk, **{name: getattr(run, name) for name in _DERIVED}} for run in runs]
    with connection.cursor() as cursor:
        cursor.execute(_SAVE, [orjson.dumps(rows).decode()])


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
    """Leave the judgement's stamp on a locked run, if it differs from the one there."""
    wanted = {
        "held": stamp.held,
        "hold_reasons": list(stamp.hold_reasons),
        "standing": stamp.standing,
        "verdict_strip": list(stamp.verdict_strip),
        "open_escalations": stamp.open_escalations,
        "worst_finding": stamp.worst_finding,
    }
    changed = [name for name, value in wanted.items() if getattr(run, name) != value]
    for name in changed:
        setattr(run, name, wanted[name])
    if changed:
        run.save(update_fields=changed)


def locked(run: int) -> Run:
    """Return a run with its row locked until the transaction ends."""
    return Run.objects.select_for_update().get(pk=run)


def note(*, run: Run, lines: Sequence[NewLine], now: datetime | None = None) -> list[LogLine]:
    """Add the Console's own lines to a locked run's log and ring for its pages."""
    if not lines:
        return []
    (written,) = write([(run, lines)], now=now or timezone.now())
    run.save(update_fields=["last_position"])
    transaction.on_commit(
        partial(live.ring, live.run_group(run.pk), live.workspace_group(run.workspace_id))
    )
    return written
