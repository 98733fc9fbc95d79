"""Brings the rows of verdicts, gates and commits in line with what was concluded.

Only what differs is written, in one statement a table, so that a run with ten thousand verdicts
costs no ten thousand writes when one arrives. Each function returns the lines that tell the run's
page what changed.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from django.db import connection
from django.db.models import Model

from runs.actions.log import NewLine, console_line
from runs.models import Run
from runs.rows import fetch
from verification.domain.conclude import Conclusions
from verification.domain.gates import GateState
from verification.models import Gate
from verification.rows import LONGEST_TARGET, SHOWN, Routes, gate_columns, placed, verdict_row

TOLD_ONE_BY_ONE = 50
"""Gates that may change at once and still get a line each."""


def keep_verdicts(run: Run, conclusions: Conclusions) -> list[NewLine]:
    """Keep one row per verdict; they tell nothing that their own lines do not."""
    rows = fetch(
        "SELECT event_id, id, standing, subject_position FROM verification_verdict"
        " WHERE run_id = %s",
        [run.pk],
    )
    held = {event_id: (pk, standing, subject) for event_id, pk, standing, subject in rows}
    new, changed = [], []
    for verdict, is_standing, subject in placed(conclusions):
        row = held.get(verdict.line.event_id)
        if row is None:
            new.append(verdict_row(run, verdict, is_standing, subject))
        elif row[1:] != (is_standing, subject):
            changed.append({"id": row[0], "standing": is_standing, "subject_position": subject})
    columns = _NEW_VERDICT_COLUMNS
    _insert("verification_verdict", columns, [_columns_of(row, columns) for row in new])
    _update("verification_verdict", _VERDICT_COLUMNS, changed)
    return []


_NEW_VERDICT_COLUMNS = {
    "run_id": "bigint",
    "event_id": "text",
    "position": "bigint",
    "sequence": "bigint",
    "target": "text",
    "verifier": "text",
    "verdict": "text",
    "criteria": "text[]",
    "confidence": "double precision",
    "standing": "boolean",
    "subject_position": "bigint",
}
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
    held = _held_gates(run)
    new, changed = [], []
    news: list[tuple[Gate, str]] = []
    for target, concluded in conclusions.gates.items():
        columns = gate_columns(concluded, routes.get(target, ()))
        pk, before = held.pop(target, (None, {}))
        if pk is None:
            new.append({"run_id": run.pk, "target": target, **columns})
        elif before != columns:
            changed.append({"id": pk, **columns})
        was = str(before.get("state", ""))
        if was != columns["state"] and _is_news(was, columns["state"]):
            news.append((Gate(run=run, target=target, **columns), was))
    _insert("verification_gate", {"run_id": "bigint", "target": "text", **_GATE_COLUMNS}, new)
    _update("verification_gate", _GATE_COLUMNS, changed)
    if held:
        Gate.objects.filter(pk__in=[pk for pk, _ in held.values()]).delete()
    return _gate_lines(run, news, now)


def _held_gates(run: Run) -> dict[str, tuple[int, dict[str, Any]]]:
    """Return the rows of a run's gates by target: primary key, and what they say by column."""
    names = tuple(_GATE_COLUMNS)
    rows = fetch(
        f"SELECT id, target, {', '.join(names)} FROM verification_gate"  # noqa: S608  (constant text)
        " WHERE run_id = %s",
        [run.pk],
    )
    held = {}
    for pk, target, *values in rows:
        columns = dict(zip(names, values, strict=True))
        columns["detail"] = orjson.loads(columns["detail"])
        held[target] = (pk, columns)
    return held


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
    targets = [each[:LONGEST_TARGET] for each in commits.unverified[:SHOWN]]
    with connection.cursor() as cursor:
        cursor.execute(
            _KEEP_JUDGEMENT,
            [run.pk, run.host_id, snapshot, commits.total, len(commits.unverified), targets],
        )


_KEEP_JUDGEMENT = """
    INSERT INTO verification_judgement AS held
           (run_id, host_id, snapshot_id, commits, unverified, unverified_targets)
    VALUES (%s, %s, %s, %s, %s, %s::text[])
    ON CONFLICT (run_id) DO UPDATE
       SET host_id = EXCLUDED.host_id, snapshot_id = EXCLUDED.snapshot_id,
           commits = EXCLUDED.commits, unverified = EXCLUDED.unverified,
           unverified_targets = EXCLUDED.unverified_targets
     WHERE held IS DISTINCT FROM EXCLUDED
"""


def _columns_of(row: Model, columns: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in columns}


def _insert(table: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows in one statement."""
    if not rows:
        return
    names = ", ".join(columns)
    types = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {names}"  # noqa: S608  (constant text)
            f" FROM jsonb_to_recordset(%s::jsonb) AS new ({types})",
            [orjson.dumps(rows).decode()],
        )


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
