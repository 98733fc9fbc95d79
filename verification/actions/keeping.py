"""Brings the rows of verdicts, gates and findings in line with what was concluded.

Only what differs is written, so that a run with ten thousand verdicts costs no ten thousand writes
when one arrives. Each function returns the lines that tell the run's page what changed.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from runs.actions.log import NewLine, console_line
from runs.models import Run
from verification.domain import findings as rules
from verification.domain.conclude import Conclusions
from verification.domain.gate_sentences import sentence_of
from verification.domain.gates import Gate as ConcludedGate
from verification.domain.gates import GateState
from verification.models import Finding, Gate, Verdict

STANDING, WITHDRAWN = "standing", "withdrawn"


def keep_verdicts(run: Run, conclusions: Conclusions) -> list[NewLine]:
    """Keep one row per verdict; they tell nothing that their own lines do not."""
    standing = {
        verdict.line.event_id for gate in conclusions.gates.values() for verdict in gate.standing
    }
    held = {row.event_id: row for row in Verdict.objects.filter(run=run)}
    new, changed = [], []
    for verdict in conclusions.verdicts:
        gate = conclusions.gates.get(verdict.said.target)
        subject = gate.subject.line.position if gate and gate.subject.line else None
        is_standing = verdict.line.event_id in standing
        row = held.get(verdict.line.event_id)
        if row is None:
            new.append(
                Verdict(
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
            )
        elif (row.standing, row.subject_position) != (is_standing, subject):
            row.standing, row.subject_position = is_standing, subject
            changed.append(row)
    Verdict.objects.bulk_create(new)
    Verdict.objects.bulk_update(changed, ["standing", "subject_position"], batch_size=500)
    return []


_GATE_FIELDS = [
    "state", "binding", "subject_kind", "subject_event_id", "subject_position", "actor",
    "independence", "detail",
]  # fmt: skip
_TOLD_BY_OTHERS = {GateState.IN_REVIEW.value}
"""The claim's own line says it."""


def keep_gates(run: Run, conclusions: Conclusions, now: datetime) -> list[NewLine]:
    """Keep one row per target and tell which gates changed in a way that matters."""
    held = {row.target: row for row in Gate.objects.filter(run=run)}
    new, changed, lines = [], [], []
    for target, gate in conclusions.gates.items():
        wanted = _gate_row(run, gate)
        row = held.pop(target, None)
        was = row.state if row else ""
        if row is None:
            new.append(wanted)
        elif any(getattr(row, name) != getattr(wanted, name) for name in _GATE_FIELDS):
            wanted.pk = row.pk
            changed.append(wanted)
        if was != wanted.state and _is_news(was, wanted.state):
            lines.append(_gate_line(run, wanted, was, now))
    Gate.objects.bulk_create(new)
    Gate.objects.bulk_update(changed, _GATE_FIELDS, batch_size=500)
    if held:
        Gate.objects.filter(pk__in=[row.pk for row in held.values()]).delete()
    return lines


def _gate_row(run: Run, gate: ConcludedGate) -> Gate:
    subject = gate.subject
    return Gate(
        run=run,
        target=gate.target,
        state=gate.state.value,
        binding=gate.binding.value,
        subject_kind=subject.kind.value,
        subject_event_id=subject.line.event_id if subject.line else "",
        subject_position=subject.line.position if subject.line else None,
        actor=subject.actor or "",
        independence=gate.independence.value,
        detail={
            "sentence": sentence_of(gate),
            "wouldChange": gate.would_change,
            "turnsUsed": gate.turns_used,
            "turnLimit": gate.turn_limit,
            "candidates": subject.candidate_count,
            "hostId": subject.host_id,
        },
    )


def _is_news(was: str, state: str) -> bool:
    if {was, state} & _TOLD_BY_OTHERS:
        return state not in _TOLD_BY_OTHERS and was != GateState.BLOCKED.value
    return bool(was) or state != GateState.PASSED.value


def _gate_line(run: Run, gate: Gate, was: str, now: datetime) -> NewLine:
    about = hashlib.sha256(gate.target.encode()).hexdigest()[:16]
    return console_line(
        event_id=f"console:gate:{about}:{run.last_position}:{gate.state}",
        type="console.gate.changed",
        at=now,
        payload={"target": gate.target, "state": gate.state, "was": was or None},
        caused_by=gate.subject_event_id,
    )


def keep_findings(run: Run, conclusions: Conclusions, now: datetime) -> list[NewLine]:
    """Keep one row per kind and target; what no longer holds is withdrawn, not deleted."""
    held = {(row.kind, row.target): row for row in Finding.objects.filter(run=run)}
    lines = []
    for found in conclusions.findings:
        key = (found.kind.value, found.target or "")
        row = held.pop(key, None) or Finding(run=run, kind=key[0], target=key[1], opened_at=now)
        if _write_finding(row, found):
            lines.append(_finding_line(run, row, now))
    for row in held.values():
        if row.status == STANDING:
            row.status, row.withdrawn_at = WITHDRAWN, now
            row.withdrawn_because = "The log, as it is held now, no longer shows it."
            row.save(update_fields=["status", "withdrawn_at", "withdrawn_because"])
            lines.append(_finding_line(run, row, now))
    return lines


def _write_finding(row: Finding, found: rules.Finding) -> bool:
    """Write a finding if it differs from its row; say whether people should be told."""
    wanted: dict[str, Any] = {
        "severity": found.severity.value,
        "status": STANDING,
        "evidence": list(_evidence(found.evidence)),
        "missing": [list(each) for each in found.missing],
        "capabilities": found.claim.span.reference if found.claim and found.claim.span else None,
        "explanation": found.explanation,
        "would_change": found.would_change,
        "withdrawn_at": None,
        "withdrawn_because": "",
    }
    if row.pk and all(getattr(row, name) == value for name, value in wanted.items()):
        return False
    is_news = not row.pk or (row.severity, row.status) != (wanted["severity"], STANDING)
    for name, value in wanted.items():
        setattr(row, name, value)
    row.save()
    return is_news


def _evidence(lines: Iterable[rules.Evidence]) -> Iterable[dict[str, Any]]:
    for line in lines:
        yield {"eventId": line.event_id, "sequence": line.sequence, "type": line.type}


def _finding_line(run: Run, row: Finding, now: datetime) -> NewLine:
    what = "noted" if row.status == STANDING else "withdrawn"
    return console_line(
        event_id=f"console:finding:{row.pk}:{run.last_position}:{what}",
        type=f"console.finding.{what}",
        at=now,
        payload={"kind": row.kind, "severity": row.severity, "target": row.target or None},
    )
