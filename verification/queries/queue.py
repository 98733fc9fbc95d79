"""The reviewer queue: what waits for a person, who holds what, what was decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from runs.models import Role, Viewer
from verification.domain.lifecycle import State
from verification.models import Escalation, Resolution

PAGE = 100
TABS = ("unclaimed", "mine", "open", "done")


@dataclass(frozen=True, slots=True)
class Queue:
    """One tab of the queue."""

    tab: str
    rows: Sequence[Escalation]
    counts: dict[str, int]
    """Waiting escalations per tab; what is done is not counted."""
    has_more: bool


def queue(viewer: Viewer, tab: str, now: datetime) -> Queue:
    """Return what a tab shows, what is due first on top."""
    tab = tab if tab in TABS else "unclaimed"
    visible = Escalation.objects.visible_to(viewer)
    waiting = visible.waiting()
    shown = {
        "unclaimed": waiting.filter(unclaimed(now)),
        "mine": waiting.filter(held(now), claimed_by=viewer if isinstance(viewer, User) else None),
        "open": waiting,
    }
    counts = {name: rows.count() for name, rows in shown.items()}
    if tab == "done":
        rows = visible.exclude(pk__in=waiting.values("pk")).order_by("-closed_at", "-pk")
    else:
        rows = shown[tab].order_by("due_at", "pk")
    found = list(rows.select_related("run", "run__host", "claimed_by")[: PAGE + 1])
    return Queue(tab, found[:PAGE], counts, len(found) > PAGE)


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


def held(now: datetime) -> Q:
    """Match what somebody holds: a claim that ran out holds nothing, swept or not."""
    return Q(state=State.CLAIMED, claim_until__gt=now)


def unclaimed(now: datetime) -> Q:
    """Match what waits and nobody holds."""
    return Q(state=State.OPEN) | Q(state=State.CLAIMED, claim_until__lte=now)
