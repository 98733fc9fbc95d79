"""Brings the rows of verdicts, gates and commits in line with what was concluded.

Only what differs is written, in one statement a table, so that a run with ten thousand verdicts
costs no ten thousand writes when one arrives. Each function returns the lines that tell the run's
page what changed.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from runs.actions.log import NewLine, console_line
from runs.models import Run
from verification.domain.conclude import Conclusions
from verification.domain.gates import GateState
from verification.models import Gate, Judgement, Verdict
from verification.rows import LONGEST_TARGET, SHOWN, Routes, gate_row, placed, verdict_row

TOLD_ONE_BY_ONE = 50
"""Gates that may change at once and still get a line each."""


def keep_verdicts(run: Run, conclusions: Conclusions) -> list[NewLine]:
    """Keep one row per verdict; they tell nothing that their own lines do not."""
    held = {
        event_id: (pk, standing, subject)
        for pk, event_id, standing, subject in Verdict.objects.filter(run=run).values_list(
            "pk", "event_id", "standing", "subject_position"
        )
    }
    new, changed = [], []
    for verdict, is_standing, subject in placed(conclusions):
        row = held.get(verdict.line.event_id)
        if row is None:
            new.append(verdict_row(run, verdict, is_standing, subject))
        elif row[1:] != (is_standing, subject):
            changed.append({"id": row[0], "standing": is_standing, "subject_position": subject})
    Verdict.objects.bulk_create(new, batch_size=1000)
    _update("verification_verdict", _VERDICT_COLUMNS, changed)
    return []


_VERDICT_COLUMNS = {"standing": "boolean", "subject_position": "bigint"}
_GATE_COLUMNS = {
    "state": "text",
    "binding": "text",
    "subject_kind": "text",
    "subject_event_id": "text",
    "subject_position": "bigint",
    "actor": "text",
    "independence": "text",
    "detail": "jsonb",
}
_TOLD_BY_OTHERS = {GateState.IN_REVIEW.value}
"""The claim's own line says it."""


def keep_gates(run: Run, conclusions: Conclusions, routes: Routes, now: datetime) -> list[NewLine]:
    """Keep one row per target and tell which gates changed in a way that matters."""
    columns = tuple(_GATE_COLUMNS)
    rows = Gate.objects.filter(run=run).values_list("pk", "target", *columns)
    held = {target: (pk, values) for pk, target, *values in rows}
    new, changed, news = [], [], []
    for target, concluded in conclusions.gates.items():
        gate = gate_row(run, concluded, routes.get(target, ()))
        values = [getattr(gate, name) for name in columns]
        pk, before = held.pop(gate.target, (None, []))
        if pk is None:
            new.append(gate)
        elif before != values:
            changed.append({"id": pk, **dict(zip(columns, values, strict=True))})
        was = before[0] if before else ""
        if was != gate.state and _is_news(was, gate.state):
            news.append((gate, was))
    Gate.objects.bulk_create(new, batch_size=1000)
    _update("verification_gate", _GATE_COLUMNS, changed)
    if held:
        Gate.objects.filter(pk__in=[pk for pk, _ in held.values()]).delete()
    return _gate_lines(run, news, now)


def _is_news(was: str, state: str) -> bool:
    if {was, state} & _TOLD_BY_OTHERS:
        return state not in _TOLD_BY_OTHERS and was != GateState.BLOCKED.value
    return bool(was) or state != GateState.PASSED.value


def _gate_lines(run: Run, news: Sequence[tuple[Gate, str]], now: datetime) -> list[NewLine]:
    """Tell each gate that changed; where very many did at once, tell that in one line."""
    if len(news) <= TOLD_ONE_BY_ONE:
        return [_gate_line(run, gate, was, now) for gate, was in news]
    return [
        console_line(
            event_id=f"console:gates:{run.last_position}",
            type="console.gates.changed",
            at=now,
            payload={"count": len(news)},
        )
    ]


def _gate_line(run: Run, gate: Gate, was: str, now: datetime) -> NewLine:
    about = hashlib.sha256(gate.target.encode()).hexdigest()[:16]
    return console_line(
        event_id=f"console:gate:{about}:{run.last_position}:{gate.state}",
        type="console.gate.changed",
        at=now,
        payload={"target": gate.target, "state": gate.state, "was": was or None},
        caused_by=gate.subject_event_id,
    )


def keep_judgement(run: Run, conclusions: Conclusions, snapshot: int | None) -> None:
    """Keep what the run was judged with, and how many of its commits nobody had verified.

    Args:
        run: locked.
        conclusions: what was concluded.
        snapshot: the newest of its host's capability snapshots that was known then.
    """
    commits = conclusions.commits
    wanted = {
        "host_id": run.host_id,
        "snapshot_id": snapshot,
        "commits": commits.total,
        "unverified": len(commits.unverified),
        "unverified_targets": [each[:LONGEST_TARGET] for each in commits.unverified[:SHOWN]],
    }
    held = Judgement.objects.filter(run=run).first()
    if held is None:
        if conclusions.verdicts or conclusions.findings or commits.total:
            Judgement.objects.create(run=run, **wanted)
    elif any(getattr(held, name) != value for name, value in wanted.items()):
        Judgement.objects.filter(run=run).update(**wanted)


def _update(table: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Update rows by id in one statement."""
    if not rows:
        return
    sets = ", ".join(f"{name} = new.{name}" for name in columns)
    types = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET {sets}"  # noqa: S608  (constant text)
            f" FROM jsonb_to_recordset(%s::jsonb) AS new (id bigint, {types})"
            f" WHERE {table}.id = new.id",
            [orjson.dumps(rows).decode()],
        )
