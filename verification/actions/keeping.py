"""Brings the rows of verdicts, gates and commits in line with what was concluded.

Only what differs is written, so that a run with ten thousand verdicts costs no ten thousand writes
when one arrives. Each function returns statements, for whoever judges runs them together.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import orjson
from django.db.models import Model

from runs.actions.log import NewLine, console_line
from runs.models import Run
from runs.rows import Statement, insertion, typed, update
from verification.domain.conclude import Conclusions
from verification.domain.gates import GateState
from verification.kept import GATE_COLUMNS, JUDGEMENT_COLUMNS, Kept
from verification.models import Gate
from verification.rows import LONGEST_TARGET, SHOWN, Routes, gate_columns, placed, verdict_row

TOLD_ONE_BY_ONE = 50
"""Gates that may change at once and still get a line each."""


def keep_verdicts(run: Run, kept: Kept, conclusions: Conclusions) -> Iterator[Statement]:
    """Keep one row per verdict; they tell nothing that their own lines do not."""
    held = {event_id: rest for event_id, *rest in kept.verdicts}
    new, changed = [], []
    for verdict, is_standing, subject in placed(conclusions):
        row = held.get(verdict.line.event_id)
        if row is None:
            new.append(verdict_row(run, verdict, is_standing, subject))
        elif row[1:] != [is_standing, subject]:
            changed.append({"id": row[0], "standing": is_standing, "subject_position": subject})
    columns = _NEW_VERDICT_COLUMNS
    yield from insertion(
        "verification_verdict", columns, [_columns_of(row, columns) for row in new]
    )
    yield from update("verification_verdict", _VERDICT_COLUMNS, changed)


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
_TOLD_BY_OTHERS = {GateState.IN_REVIEW.value}
"""The claim's own line says it."""


def keep_gates(
    run: Run, kept: Kept, conclusions: Conclusions, routes: Routes, now: datetime
) -> tuple[list[Statement], list[NewLine]]:
    """Keep one row per target and tell which gates changed in a way that matters."""
    held = {target: (pk, columns) for pk, target, columns in kept.gates}
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
    if held:
        Gate.objects.filter(pk__in=[pk for pk, _ in held.values()]).delete()
    all_columns = {"run_id": "bigint", "target": "text", **GATE_COLUMNS}
    statements = [
        *insertion("verification_gate", all_columns, new),
        *update("verification_gate", GATE_COLUMNS, changed),
    ]
    return statements, _gate_lines(run, news, now)


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


def keep_judgement(
    run: Run, kept: Kept, conclusions: Conclusions, snapshot: int | None
) -> Iterator[Statement]:
    """Keep what the run was judged with, and how many of its commits nobody had verified.

    Args:
        run: locked.
        kept: what is kept of it so far.
        conclusions: what was concluded.
        snapshot: the newest of its host's capability snapshots that was known then.
    """
    commits = conclusions.commits
    judgement = {
        "host_id": run.host_id,
        "snapshot_id": snapshot,
        "commits": commits.total,
        "unverified": len(commits.unverified),
        "unverified_targets": [each[:LONGEST_TARGET] for each in commits.unverified[:SHOWN]],
    }
    if judgement != kept.judgement:
        yield Statement(_KEEP_JUDGEMENT, orjson.dumps({"run_id": run.pk, **judgement}).decode())


_KEEP_JUDGEMENT = f"""
    INSERT INTO verification_judgement (run_id, {", ".join(JUDGEMENT_COLUMNS)})
    SELECT run_id, {", ".join(JUDGEMENT_COLUMNS)}
      FROM jsonb_to_record(%s::jsonb) AS new (run_id bigint, {typed(JUDGEMENT_COLUMNS)})
    ON CONFLICT (run_id) DO UPDATE
       SET {", ".join(f"{name} = EXCLUDED.{name}" for name in JUDGEMENT_COLUMNS)}
"""  # noqa: S608  (constant text)


def _columns_of(row: Model, columns: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in columns}
