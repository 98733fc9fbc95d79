"""What is under a person's bell: what they were told and have not read, while it still holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Q

from runs.models import Viewer
from verification.domain.notifying import ASKS_FOR_SOMEBODY
from verification.models import Escalation, Notification
from verification.models.escalation import OPEN_STATES
from verification.queries.jobs import waiting_plans

SHOWN = 8


@dataclass(frozen=True, slots=True)
class Bell:
    """How many, and the newest of them."""

    count: int
    lines: Sequence[Notification]


def bell_of(viewer: Viewer, now: datetime) -> Bell:
    """Return what a person has not read; what somebody holds or has settled asks nobody."""
    if not isinstance(viewer, User):
        return Bell(0, ())
    asks = Q(kind__in=[note.value for note in ASKS_FOR_SOMEBODY])
    is_held = Q(escalation__claim_until__gt=now)
    still_asks = Q(escalation__state__in=OPEN_STATES) & ~is_held
    unread = Notification.objects.filter(user=viewer, read_at=None).order_by("-made_at")
    visible = Escalation.objects.visible_to(viewer)
    matters = unread.filter(~asks | still_asks, escalation__in=visible)
    plans = list(unread.filter(job__in=waiting_plans(viewer)).select_related("job"))
    newest = [*matters.select_related("escalation__run")[:SHOWN], *plans]
    newest.sort(key=lambda line: line.made_at, reverse=True)
    return Bell(matters.count() + len(plans), newest[:SHOWN])
