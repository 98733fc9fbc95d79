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
from runs.domain.readers import confidence_of
from runs.models import Run
from verification.domain.conclude import Conclusions
from verification.domain.gate_answers import basis_of, worst_of
from verification.domain.gate_sentences import sentence_of
from verification.domain.gates import Gate as ConcludedGate
from verification.domain.gates import GateState
from verification.domain.routes import RouteStep
from verification.domain.verdicts import Verdict as ConcludedVerdict
from verification.models import Gate, Judgement, Verdict

SHOWN = 20
"""Candidates of a target, and unverified targets of a run, that are kept by name."""
TOLD_ONE_BY_ONE = 50
"""Gates that may change at once and still get a line each."""
_LONGEST_TARGET = 256

Routes = Mapping[str, Sequence[RouteStep]]


def keep_verdicts(run: Run, conclusions: Conclusions) -> list[NewLine]:
    """Keep one row per verdict; they tell nothing that their own lines do not."""
    held = {
        event_id: (pk, standing, subject)
        for pk, event_id, standing, subject in Verdict.objects.filter(run=run).values_list(
            "pk", "event_id", "standing", "subject_position"
        )
    }
    new, changed = [], []
    for verdict, is_standing, subject in _placed(conclusions):
        row = held.get(verdict.line.event_id)
        if row is None:
            new.append(_verdict_row(run, verdict, is_standing, subject))
        elif row[1:] != (is_standing, subject):
            changed.append({"id": row[0], "standing": is_standing, "subject_position": subject})
    Verdict.objects.bulk_create(new, batch_size=1000)
    _update("verification_verdict", _VERDICT_COLUMNS, changed)
    return []


def verdict_rows(run: Run, conclusions: Conclusions) -> list[Verdict]:
    """Return the rows that verdicts would have, without keeping them."""
    return [_verdict_row(run, *placed) for placed in _placed(conclusions)]


def _placed(conclusions: Conclusions) -> list[tuple[ConcludedVerdict, bool, int | None]]:
    """Return each verdict, whether it stands, and the position of its subject."""
    standing = {
        verdict.line.event_id for gate in conclusions.gates.values() for verdict in gate.standing
    }
    subjects = {
        target: gate.subject.line.position
        for target, gate in conclusions.gates.items()
        if gate.subject.line
    }
    return [
        (verdict, verdict.line.event_id in standing, subjects.get(verdict.said.target))
        for verdict in conclusions.verdicts
    ]


def _verdict_row(
    run: Run, verdict: ConcludedVerdict, is_standing: bool, subject: int | None
) -> Verdict:
    return Verdict(
        run=run,
        event_id=verdict.line.event_id,
        position=verdict.line.position,
        sequence=verdict.sequence,
        target=verdict.said.target,
        verifier=verdict.said.agent_id,
        verdict=verdict.kind.value,
        criteria=list(verdict.said.criteria),
        confidence=verdict.said.confidence,
        standing=is_standing,
        subject_position=subject,
    )


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
    for gate in gate_rows(run, conclusions, routes):
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


def gate_rows(run: Run, conclusions: Conclusions, routes: Routes) -> list[Gate]:
    """Return the rows that gates would have, without keeping them."""
    return [
        _gate_row(run, gate, routes.get(target, ())) for target, gate in conclusions.gates.items()
    ]


def _gate_row(run: Run, gate: ConcludedGate, route: Sequence[RouteStep]) -> Gate:
    subject = gate.subject
    worst = worst_of(gate)
    return Gate(
        run=run,
        target=gate.target,
        state=gate.state.value,
        binding=gate.binding.value,
        subject_kind=subject.kind.value,
        subject_event_id=subject.line.event_id if subject.line else "",
        subject_position=subject.line.position if subject.line else None,
        actor=(subject.actor or "")[:_LONGEST_TARGET],
        independence=gate.independence.value,
        detail={
            "sentence": sentence_of(gate),
            "wouldChange": gate.would_change,
            "turnsUsed": gate.turns_used,
            "turnLimit": gate.turn_limit,
            "candidates": subject.candidate_count,
            "candidateIds": list(subject.candidates[-SHOWN:]),
            "hostId": subject.host_id,
            "actorConfidence": confidence_of(subject.line) if subject.line else None,
            "basis": basis_of(gate).value,
            "worst": worst.value if worst else None,
            "route": [
                {
                    "kind": step.kind.value,
                    "position": step.line.position,
                    "sequence": step.line.sequence,
                }
                for step in route
            ],
        },
    )


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
        "unverified_targets": [each[:_LONGEST_TARGET] for each in commits.unverified[:SHOWN]],
    }
    held = Judgement.objects.filter(run=run).first()
    if held is None:
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
