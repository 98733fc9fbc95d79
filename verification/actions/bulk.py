"""Many escalations at once: handed to somebody, released, closed as moot. Never decided.

What was chosen is kept, looked at, and only then begun. Each is a move of its own in a transaction
of its own, answered for itself; what cannot be moved is kept with the reason and holds nothing else
up. Workers take whatever is not done yet, so that one that dies costs a delay.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import assert_never

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs import live
from verification import bells
from verification.actions import escalations
from verification.domain import lifecycle
from verification.domain.errors import VerificationError
from verification.domain.many import MOVES, Many
from verification.models import Batch, BatchItem, Escalation
from verification.situations import person_of

MOST = 5000
"""Escalations in a batch."""
AT_ONCE = 50
"""Of them, what a worker moves before others have their turn."""


def batch_group(batch: int) -> str:
    """Return the name of the group that a batch's open pages join."""
    return f"batch.{batch}"


def may_move_many(by: User, workspace: int, many: Many) -> bool:
    """Say whether a person's role includes doing this to many."""
    return person_of(by, workspace).role in lifecycle.MAY[MOVES[many]]


@transaction.atomic
def prepare(*, rows: Sequence[Escalation], many: Many, by: User) -> Batch:
    """Keep what was chosen, so that what was looked at is what will be done."""
    batch = Batch.objects.create(by=by, do=many, made_at=timezone.now())
    BatchItem.objects.bulk_create(BatchItem(batch=batch, escalation=row) for row in rows)
    return batch


@transaction.atomic
def start(*, batch: int, to: User | None = None) -> bool:
    """Begin, once; false when it had begun before."""
    begun = Batch.objects.filter(pk=batch, started_at=None).update(started_at=timezone.now(), to=to)
    if begun:
        bells.ring(bells.MOVE_MANY, batch)
    return bool(begun)


def work(*, batch: int) -> None:
    """Move some of what is not done yet, one after the other, and ring for the rest.

    Any number of workers may be at it. None stays for long: decisions wait behind it. Who finds
    only what others are at leaves it to them.
    """
    found = Batch.objects.select_related("by", "to").get(pk=batch)
    if found.started_at is None or found.ended_at is not None:
        return
    has_more = all(_move_next(found) for _ in range(AT_ONCE))
    if found.items.filter(done_at=None).exists():
        if has_more:
            bells.ring(bells.MOVE_MANY, batch)
    else:
        Batch.objects.filter(pk=batch, ended_at=None).update(ended_at=timezone.now())


@transaction.atomic
def _move_next(batch: Batch) -> bool:
    """Move one that nobody else is at, and keep how it went; false when there is none."""
    left = batch.items.filter(done_at=None).select_related("escalation").order_by("pk")
    item = left.select_for_update(of=("self",), skip_locked=True).first()
    if item is None:
        return False
    try:
        with transaction.atomic():
            _move(item.escalation_id, batch)
    except VerificationError as refused:
        item.refused = str(refused)[:300]
    item.done_at = timezone.now()
    item.save(update_fields=["done_at", "refused"])
    transaction.on_commit(partial(live.ring, batch_group(batch.pk)))
    return True


def _move(escalation: int, batch: Batch) -> None:
    match Many(batch.do):
        case Many.ASSIGN:
            escalations.reassign(escalation=escalation, by=batch.by, to=batch.to or batch.by)
        case Many.RELEASE:
            escalations.release(escalation=escalation, by=batch.by)
        case Many.CLOSE:
            escalations.close(escalation=escalation, by=batch.by)
        case never:
            assert_never(never)


def under_way(unmoved_since: datetime) -> list[int]:
    """Return the batches that have begun, are not at their end, and do not move."""
    left = Batch.objects.filter(started_at__lte=unmoved_since, ended_at=None)
    moving = BatchItem.objects.filter(done_at__gt=unmoved_since).values("batch")
    return list(left.exclude(pk__in=moving).order_by("started_at").values_list("pk", flat=True))
