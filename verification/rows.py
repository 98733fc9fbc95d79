"""The rows that verdicts and gates have, made from what was concluded.

The same rows are kept when a run is judged, and shown without being kept when somebody looks at how
it stood at an earlier moment.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from runs.domain.interrupts import sequence_of
from runs.domain.readers import confidence_of
from runs.models import Run
from verification.domain.conclude import Conclusions
from verification.domain.gate_answers import basis_of, worst_of
from verification.domain.gate_sentences import sentence_of
from verification.domain.gates import Gate as ConcludedGate
from verification.domain.routes import RouteStep
from verification.domain.verdicts import Verdict as ConcludedVerdict
from verification.models import Gate, Verdict

SHOWN = 20
"""Candidates of a target, and unverified targets of a run, that are kept by name."""
LONGEST_TARGET = 256

Routes = Mapping[str, Sequence[RouteStep]]


def verdict_rows(run: Run, conclusions: Conclusions, targets: Collection[str]) -> list[Verdict]:
    """Return the rows that the verdicts on some targets would have, without keeping them."""
    about = (each for each in placed(conclusions) if each[0].said.target in targets)
    return [verdict_row(run, *each) for each in about]


def placed(conclusions: Conclusions) -> list[tuple[ConcludedVerdict, bool, int | None]]:
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


def verdict_row(
    run: Run, verdict: ConcludedVerdict, is_standing: bool, subject: int | None
) -> Verdict:
    """Return the row of one verdict."""
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


def gate_row(run: Run, gate: ConcludedGate, route: Sequence[RouteStep]) -> Gate:
    """Return the row of one gate.

    Args:
        run: whose.
        gate: as it was concluded.
        route: what the host did about its target.
    """
    return Gate(run=run, target=gate.target, **gate_columns(gate, route))


def gate_columns(gate: ConcludedGate, route: Sequence[RouteStep]) -> dict[str, Any]:
    """Return what the row of a gate says, by column."""
    subject = gate.subject
    worst = worst_of(gate)
    return {
        "state": gate.state.value,
        "binding": gate.binding.value,
        "subject_kind": subject.kind.value,
        "subject_event_id": subject.line.event_id if subject.line else "",
        "subject_position": subject.line.position if subject.line else None,
        "actor": (subject.actor or "")[:LONGEST_TARGET],
        "independence": gate.independence.value,
        "detail": {
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
                    "sequence": sequence_of(step.line),
                }
                for step in route
            ],
        },
    }
