"""The reviewer queue: what waits for a person, who holds what, what was decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from runs.models import Viewer
from verification.domain.lifecycle import State
from verification.models import Escalation

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
    """Return the unclaimed escalation that is due first."""
    rows: QuerySet[Escalation] = Escalation.objects.visible_to(viewer).waiting()
    return rows.filter(unclaimed(now)).order_by("due_at", "pk").first()


def held(now: datetime) -> Q:
    """Match what somebody holds: a claim that ran out holds nothing, swept or not."""
    return Q(state=State.CLAIMED, claim_until__gt=now)


def unclaimed(now: datetime) -> Q:
    """Match what waits and nobody holds."""
    return Q(state=State.OPEN) | Q(state=State.CLAIMED, claim_until__lte=now)
