"""How people decided before about the same agent, or where the same criterion was named."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q

from verification.models import Escalation, Gate, Resolution, Verdict

SHOWN = 8


@dataclass(frozen=True, slots=True)
class Earlier:
    """One earlier decision and why it is like this one."""

    resolution: Resolution
    same_agent: bool
    criteria: Sequence[str]


def earlier_reviews(found: Escalation) -> list[Earlier]:
    """Return the newest decisions of the workspace about the same agent or criterion."""
    gate = Gate.objects.filter(run=found.run_id, target=found.target).first()
    actor = gate.actor if gate else ""
    criteria = _criteria(found)
    if not actor and not criteria:
        return []
    about = {"run": OuterRef("escalation__run"), "target": OuterRef("escalation__target")}
    same_agent = Exists(Gate.objects.filter(**about, actor=actor)) if actor else None
    named = Verdict.objects.filter(**about, criteria__overlap=sorted(criteria))
    same_criterion = Exists(named) if criteria else None
    wanted = Q()
    for one in (same_agent, same_criterion):
        if one is not None:
            wanted |= Q(one)
    rows = (
        Resolution.objects.filter(wanted, escalation__workspace=found.workspace_id)
        .exclude(escalation=found)
        .select_related("by", "escalation__run__host")
        .order_by("-at")[:SHOWN]
    )
    return [_earlier(row, actor, criteria) for row in rows]


def _criteria(found: Escalation) -> set[str]:
    lists = Verdict.objects.filter(run=found.run_id, target=found.target, standing=True)
    return {each for listed in lists.values_list("criteria", flat=True) for each in listed}


def _earlier(row: Resolution, actor: str, criteria: set[str]) -> Earlier:
    about = row.escalation
    gates = Gate.objects.filter(run=about.run_id, target=about.target, actor=actor)
    return Earlier(row, bool(actor) and gates.exists(), sorted(_criteria(about) & criteria))
