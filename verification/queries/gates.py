"""The gates of a run for its page: as they are, or as they were known at a position.

Only as many gates as a person reads are loaded, the ones that need somebody first: a run with ten
thousand verdicts opens as fast as one with ten.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, F, IntegerField, QuerySet, Value, When, Window
from django.db.models.functions import RowNumber

from runs.models import Event, Run
from verification.domain.findings import Finding as ConcludedFinding
from verification.domain.findings import Severity
from verification.domain.gates import WORST_FIRST, GateState
from verification.domain.gates import Gate as ConcludedGate
from verification.domain.past_claims import Reviews
from verification.domain.routes import routes
from verification.domain.subjects import SubjectKind
from verification.models import Escalation, Finding, Gate, Verdict
from verification.models.gate import OfRunQuerySet
from verification.premises import premises_at, reviews_at
from verification.rows import gate_row, verdict_rows

SHOWN = 30
"""Gates on a page."""
SHOWN_VERDICTS = 10
"""Verdicts of one gate that are named; the earlier ones are counted."""

_RANK = {state.value: rank for rank, state in enumerate(WORST_FIRST)}


@dataclass(frozen=True, slots=True)
class Then:
    """A moment of a run that somebody looks back to."""

    position: int
    at: datetime
    """When that line reached us."""
    reviews: Reviews
    outcome: str
    """How the run had ended by then, or empty."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A finding about a target."""

    kind: str
    severity: str
    explanation: str
    pk: int | None
    """None where it is not kept, because somebody looks back."""


@dataclass(frozen=True, slots=True)
class GatePanel:
    """Some gates of a run, with all that their chains are drawn from."""

    gates: Sequence[Gate]
    total: int
    counts: Mapping[str, int]
    """By state, the worst first."""
    offset: int
    verdicts: Mapping[str, Sequence[Verdict]]
    """The last ones by target, in sequence order."""
    verdict_counts: Mapping[str, int]
    escalations: Mapping[str, Escalation]
    """The latest by target."""
    events: Mapping[int, Event]
    """The lines that are pointed at, by position, without their payloads."""
    candidates: Mapping[str, Event]
    """By event id: results that a target which names an agent may mean."""
    findings: Mapping[str, Sequence[Noted]]
    """By target, those that are more than a notice."""
    then: Then | None = None


def _rank(gate: ConcludedGate) -> tuple[int, int, str]:
    return WORST_FIRST.index(gate.state), gate.subject.began_at, gate.target


@dataclass(frozen=True, slots=True)
class _Rest:
    """What a panel shows beside its gates and their verdicts."""

    counts: Mapping[str, int]
    verdict_counts: Mapping[str, int]
    findings: Sequence[tuple[str, Noted]]
    offset: int = 0
    then: Then | None = None


def gate_panel(run: Run, offset: int = 0) -> GatePanel:
    """Return a run's gates as they are now.

    Args:
        run: whose.
        offset: how many of the worst to pass over.
    """
    held = Gate.objects.filter(run=run)
    counted = held.order_by().values_list("state").annotate(Count("pk"))
    counts = dict(sorted(counted, key=lambda pair: _RANK[pair[0]]))
    ranked = held.annotate(
        rank=Case(
            *(When(state=state, then=Value(rank)) for state, rank in _RANK.items()),
            default=Value(len(_RANK)),
            output_field=IntegerField(),
        )
    )
    shown = list(ranked.order_by("rank", "subject_position", "pk")[offset : offset + SHOWN])
    targets = [gate.target for gate in shown]
    about = Verdict.objects.filter(run=run, target__in=targets)
    latest = about.annotate(
        age=Window(RowNumber(), partition_by=F("target"), order_by=F("sequence").desc())
    ).filter(age__lte=SHOWN_VERDICTS)
    counted_verdicts = about.order_by().values_list("target").annotate(Count("pk"))
    noted = Finding.objects.filter(run=run, target__in=targets, status="standing")
    findings = [(each.target, _noted(each)) for each in noted.order_by("pk")]
    return _panel(
        run,
        shown,
        latest.order_by("sequence"),
        _Rest(counts, dict(counted_verdicts), findings, offset),
    )


def gates_on_children() -> OfRunQuerySet:
    """Return the gates on whole child runs on which a verdict stands, in the logs of others."""
    found = Gate.objects.filter(subject_kind=SubjectKind.CHILD_RUN)
    return found.exclude(state=GateState.NO_VERDICT)


def gate_in_parent(run: Run) -> Gate | None:
    """Return the gate that another run of the host, its parent, has on this run as a whole."""
    found = gates_on_children().filter(run__host=run.host_id, target=run.run_id)
    return found.select_related("run__host").order_by("pk").first()


def gate_panel_at(run: Run, position: int) -> GatePanel:
    """Return a run's gates as they were known when the line at a position was its last."""
    line = Event.objects.filter(run=run, position__lte=position).order_by("-position").first()
    known = premises_at(run, position)
    conclusions = known.conclusions()
    ranked = sorted(conclusions.gates.values(), key=_rank)[:SHOWN]
    found = routes(conclusions, known.lines)
    shown = [gate_row(run, gate, found[gate.target]) for gate in ranked]
    for number, gate in enumerate(shown):
        gate.pk = -number - 1  # only names the gate on the page
    verdicts = verdict_rows(run, conclusions, {gate.target for gate in ranked})
    then = None
    if line is not None:
        outcome = conclusions.outcome or ""
        then = Then(position, line.recorded_at, reviews_at(run, position), outcome)
    return _panel(
        run,
        shown,
        verdicts,
        _Rest(
            Counter(gate.state.value for gate in conclusions.gates.values()),
            Counter(verdict.target for verdict in verdicts),
            [(each.target or "", _noted_then(each)) for each in conclusions.findings],
            then=then,
        ),
    )


def _panel(
    run: Run,
    gates: Sequence[Gate],
    verdicts: "Sequence[Verdict] | QuerySet[Verdict]",
    rest: "_Rest",
) -> GatePanel:
    by_target: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_target[verdict.target].append(verdict)
    shown = {target: listed[-SHOWN_VERDICTS:] for target, listed in by_target.items()}
    targets = [gate.target for gate in gates]
    named = [each for gate in gates for each in gate.detail.get("candidateIds", ())]
    return GatePanel(
        gates=gates,
        total=sum(rest.counts.values()),
        counts=rest.counts,
        offset=rest.offset,
        verdicts=shown,
        verdict_counts=rest.verdict_counts,
        escalations=_escalations(run, targets, rest.then),
        events=_events(run, gates, shown),
        candidates={each.event_id: each for each in _lines(run).filter(event_id__in=named)},
        findings=_by_target(rest.findings),
        then=rest.then,
    )


def _by_target(findings: Iterable[tuple[str, Noted]]) -> dict[str, list[Noted]]:
    found: dict[str, list[Noted]] = defaultdict(list)
    for target, noted in findings:
        if noted.severity != Severity.SOFT:
            found[target].append(noted)
    return found


def _noted(finding: Finding) -> Noted:
    return Noted(finding.kind, finding.severity, finding.explanation, finding.pk)


def _noted_then(finding: ConcludedFinding) -> Noted:
    return Noted(finding.kind.value, finding.severity.value, finding.explanation, None)


def _escalations(run: Run, targets: Sequence[str], then: Then | None) -> dict[str, Escalation]:
    about = Escalation.objects.filter(run=run, target__in=targets)
    if then is not None:
        about = about.filter(opened_at__lte=then.at)
    related = about.select_related(
        "claimed_by", "resolution", "resolution__by", "resolution__delivery"
    )
    return {each.target: each for each in related.order_by("pk")}


def _events(
    run: Run, gates: Sequence[Gate], verdicts: Mapping[str, Sequence[Verdict]]
) -> dict[int, Event]:
    positions = {gate.subject_position for gate in gates if gate.subject_position is not None}
    positions |= {each.position for listed in verdicts.values() for each in listed}
    positions |= {step["position"] for gate in gates for step in gate.detail.get("route", ())}
    return {each.position: each for each in _lines(run).filter(position__in=positions)}


def _lines(run: Run) -> Any:
    return Event.objects.filter(run=run).defer("payload", "extra", "flags", "digest")
