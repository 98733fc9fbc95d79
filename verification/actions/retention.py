"""Erases what people and models wrote once its time is over; the record that it was there stays.

Digests stay, so deliveries, decisions and the audit chain still fit together. What is still needed
to bring a decision to its host is kept until that is settled.
"""

from collections import Counter
from datetime import datetime, timedelta

from django.db import transaction

from runs.models import HostKey
from verification.actions.audit import record
from verification.erasable import over_texts
from verification.models import Batch, Content, Draft, Notification, Replay

ACTOR = "system:retention"
AT_ONCE = 500
REPLAYS_FOR = timedelta(days=2)
"""Hosts of OpenWOP keep idempotency records for at least a day; so do we, and a day more."""
NOTIFICATIONS_FOR = timedelta(days=90)
BATCHES_FOR = timedelta(days=90)
LOOKED_AT_FOR = timedelta(days=1)
"""Batches that nobody began."""


@transaction.atomic
def erase_expired(now: datetime) -> int:
    """Erase bodies whose time is over and return how many there were; the rest waits its turn."""
    taken = over_texts(now).select_for_update(of=("self",), skip_locked=True).order_by("expires_at")
    rows = list(taken.values_list("pk", "workspace")[:AT_ONCE])
    if rows:
        Content.objects.filter(pk__in=[pk for pk, _ in rows]).update(body=b"", erased_at=now)
        Draft.objects.filter(content__in=[pk for pk, _ in rows]).delete()
    for workspace, count in sorted(Counter(each for _, each in rows).items()):
        record(
            workspace=workspace, actor=ACTOR, action="content.erased", subject="content",
            detail={"count": count}, now=now,
        )  # fmt: skip
    return len(rows)


def forget_old(now: datetime) -> None:
    """Forget answers that nobody repeats, notifications that nobody reads, and old batches.

    Also the keys of connection tests whose worker was lost before it could delete them.
    """
    HostKey.objects.filter(is_canary=True, expires_at__lte=now).delete()
    Replay.objects.filter(at__lte=now - REPLAYS_FOR).delete()
    Notification.objects.filter(made_at__lte=now - NOTIFICATIONS_FOR, send_at=None).delete()
    Batch.objects.filter(ended_at__lte=now - BATCHES_FOR).delete()
    Batch.objects.filter(started_at=None, made_at__lte=now - LOOKED_AT_FOR).delete()
