"""How a target stands at this instant: everything an answer about its gate depends on.

It is read in one statement, and so from one snapshot of the database: the gate, the verdicts that
stand, whether the run is held and whether a sequence is missing belong together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import JSONObject

from runs.domain.readers import VerdictKind
from runs.domain.run_ids import BadSegment, from_segment
from runs.models import Event, Gap, Run, Viewer
from runs.models.run import RunQuerySet
from verification.domain.gate_answers import Answer, AnswerBasis, Known, answer
from verification.domain.gates import GateState
from verification.models import Gate, Verdict

_LONGEST_ID = 272


@dataclass(frozen=True, slots=True)
class Standing:
    """One run as an answer about one target sees it."""

    run: Run
    target: str
    gates: Sequence[Known]
    verdicts: Sequence[str]
    """Event ids of the verdicts that stand."""
    is_complete: bool

    @property
    def answer(self) -> Answer:
        """Return what may be done with the target."""
        return answer(self.gates, is_held=self.run.held, is_complete=self.is_complete)


def spellings(segment: str) -> list[str]:
    """Return the ids that a segment of an address may mean: projected, and as it stands."""
    try:
        found = [from_segment(segment), segment]
    except BadSegment:
        found = [segment]
    return [each for each in dict.fromkeys(found) if len(each) <= _LONGEST_ID and "\0" not in each]


def standings(viewer: Viewer, target: str, query: Mapping[str, str]) -> list[Standing]:
    """Return the runs in which a target can be meant, as far as the viewer sees them; two at most.

    Args:
        viewer: who asks.
        target: as it stands in the address.
        query: `run` names the run, `host` its host. Without `run` the target itself must be known:
            as the target of a verdict, or as an event.
    """
    names = spellings(target)
    if not names:
        return []
    runs = Run.objects.visible_to(viewer)
    if host := query.get("host"):
        runs = runs.filter(host__slug=host)
    run = query.get("run")
    runs = runs.filter(run_id__in=spellings(run)) if run else _known(runs, names)
    return [_standing(each, names[0]) for each in _with_gates(runs, names)[:2]]


def _known(runs: RunQuerySet, names: Sequence[str]) -> RunQuerySet:
    judged = Gate.objects.filter(target__in=names).values("run")
    held = Event.objects.filter(event_id__in=names).values("run")
    return runs.filter(pk__in=judged.union(held))


def _with_gates(runs: RunQuerySet, names: Sequence[str]) -> Any:
    gates = Gate.objects.filter(run=OuterRef("pk"), target__in=names)
    verdicts = Verdict.objects.filter(run=OuterRef("pk"), target__in=names, standing=True)
    return runs.select_related("host").annotate(
        gates_found=ArraySubquery(
            gates.values(found=JSONObject(state=F("state"), detail=F("detail")))
        ),
        verdicts_found=ArraySubquery(verdicts.order_by("sequence").values("event_id")),
        has_gap=Exists(Gap.objects.filter(run=OuterRef("pk"))),
    )


def _standing(run: Any, target: str) -> Standing:
    return Standing(
        run=run,
        target=target,
        gates=[_gate(each["state"], each["detail"]) for each in run.gates_found],
        verdicts=run.verdicts_found,
        is_complete=not run.has_gap,
    )


def _gate(state: str, detail: Mapping[str, Any]) -> Known:
    worst = detail.get("worst")
    return Known(
        state=GateState(state),
        basis=AnswerBasis(detail.get("basis", AnswerBasis.VERDICT)),
        worst_standing=VerdictKind(worst) if worst else None,
    )
