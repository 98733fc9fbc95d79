"""The reviewer queue: what waits for a person, who holds what, what was decided."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import OuterRef, Q, QuerySet, Subquery

from runs.models import Role, Viewer
from verification.domain.lifecycle import State
from verification.models import Escalation, Gate, Resolution
from verification.models.escalation import OPEN_STATES, EscalationQuerySet
from verification.situations import DECIDERS

PAGE = 100
TABS = ("unclaimed", "mine", "open", "done")
FILTERS = {
    "reason": "reasons__contains",
    "queue": "queue__slug",
    "risk": "risk",
    "host": "run__host__slug",
}
"""Filters by name, and the column each asks about."""


@dataclass(frozen=True, slots=True)
class Queue:
    """One tab of the queue."""

    tab: str
    rows: Sequence[Escalation]
    counts: dict[str, int]
    """Waiting escalations per tab; what is done is not counted."""
    has_more: bool
    matching: int
    """How many the tab and the filters keep, shown or not."""


def queue(viewer: Viewer, query: Mapping[str, str], now: datetime) -> Queue:
    """Return what a tab and the filters keep, what is due first on top."""
    visible = Escalation.objects.visible_to(viewer)
    counts = {
        name: filtered(visible, viewer, {"tab": name}, now).count()
        for name in TABS
        if name != "done"
    }
    tab = _tab(query)
    rows = filtered(visible, viewer, query, now)
    order = ("-closed_at", "-pk") if tab == "done" else ("due_at", "pk")
    actor = Gate.objects.filter(run=OuterRef("run"), target=OuterRef("target")).values("actor")[:1]
    shown = rows.select_related("run", "run__host", "claimed_by", "queue")
    found = list(shown.annotate(actor=Subquery(actor)).order_by(*order)[: PAGE + 1])
    matching = len(found) if len(found) <= PAGE else rows.count()
    return Queue(tab, found[:PAGE], counts, len(found) > PAGE, matching)


def filtered(
    rows: EscalationQuerySet, viewer: Viewer, query: Mapping[str, str], now: datetime
) -> EscalationQuerySet:
    """Keep what a tab shows and the filters `reason`, `queue`, `risk` and `host` ask for."""
    person = viewer if isinstance(viewer, User) else None
    match _tab(query):
        case "unclaimed":
            rows = rows.waiting().filter(unclaimed(now))
        case "mine":
            rows = rows.waiting().filter(held(now), claimed_by=person)
        case "done":
            rows = rows.exclude(state__in=OPEN_STATES)
        case _:
            rows = rows.waiting()
    for name, column in FILTERS.items():
        if value := query.get(name):
            rows = rows.filter(**{column: [value] if name == "reason" else value})
    return rows


def _tab(query: Mapping[str, str]) -> str:
    tab = query.get("tab", "")
    return tab if tab in TABS else TABS[0]


def waiting_for(viewer: Viewer) -> int:
    """Return how many escalations wait for a person whom the viewer could be."""
    return Escalation.objects.visible_to(viewer).waiting().count()


def next_for(viewer: Viewer, now: datetime) -> Escalation | None:
    """Return the unclaimed escalation that is due first and that the person has not passed on."""
    rows: QuerySet[Escalation] = Escalation.objects.visible_to(viewer).waiting()
    rows = rows.filter(unclaimed(now))
    if isinstance(viewer, User):
        spoken = Q(votes__by=viewer) | Q(comments__by=viewer, comments__kind="cannot_decide")
        rows = rows.exclude(pk__in=Escalation.objects.filter(spoken).values("pk"))
        if not viewer.is_superuser:
            led = Q(handed_to_lead_at=None) | Q(queue__leads=viewer) | _administered(viewer)
            rows = rows.filter(pk__in=Escalation.objects.filter(led).values("pk"))
    return rows.order_by("due_at", "pk").first()


def _administered(viewer: User) -> Q:
    return Q(workspace__memberships__user=viewer, workspace__memberships__role=Role.ADMIN.value)


def done_by(viewer: Viewer, now: datetime) -> dict[str, int]:
    """Return how many decisions a person made today (UTC), and the median seconds they took."""
    if not isinstance(viewer, User):
        return {"count": 0, "median_s": 0}
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    took = Resolution.objects.filter(by=viewer, at__gte=start).order_by("seconds_to_decide")
    seconds = [each or 0.0 for each in took.values_list("seconds_to_decide", flat=True)]
    middle = seconds[len(seconds) // 2] if seconds else 0.0
    return {"count": len(seconds), "median_s": round(middle)}


def leads(viewer: Viewer) -> bool:
    """Say whether somebody leads a queue, as admins do all of theirs."""
    if not isinstance(viewer, User):
        return False
    rules = viewer.memberships.filter(role=Role.ADMIN.value).exists()
    return viewer.is_superuser or rules or viewer.leads.exists()


def deciders(workspaces: Collection[int]) -> QuerySet[User]:
    """Return who may decide in any of the workspaces, by name."""
    return (
        User.objects.filter(
            memberships__workspace__in=workspaces,
            memberships__role__in=DECIDERS,
            is_active=True,
        )
        .distinct()
        .order_by("username")
    )


def decider_named(workspaces: Collection[int], name: str) -> User | None:
    """Return who may decide in any of the workspaces and has that name, if somebody has.

    The name is not put into the query: people send names that no text of the database can hold.
    """
    return next((each for each in deciders(workspaces) if each.get_username() == name), None)


def held(now: datetime) -> Q:
    """Match what somebody holds: a claim that ran out holds nothing, swept or not."""
    return Q(state=State.CLAIMED, claim_until__gt=now)


def unclaimed(now: datetime) -> Q:
    """Match what waits and nobody holds."""
    return Q(state=State.OPEN) | Q(state=State.CLAIMED, claim_until__lte=now)
