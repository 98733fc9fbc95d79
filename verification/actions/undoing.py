"""Takes a decision back: by the person who made it, in time, and before anybody else can know."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from verification.actions.judge import judge
from verification.actions.moves import lock, move, put_on_record, tell_log
from verification.domain import lifecycle
from verification.domain.lifecycle import Move, State
from verification.domain.refusals import NoSuchMove
from verification.models import Delivery, Escalation, GateReceipt, Resolution
from verification.situations import person_of, rules_of, situation_of


@transaction.atomic
def undo(*, escalation: int, by: User, now: datetime | None = None) -> Escalation:
    """Take a decision back, in time and before it left: the claim is the person's again.

    Raises:
        UndoTooLate: it has left, or the moment is over.
        VerificationError: any other reason of `lifecycle.check_may_undo`.
    """
    now = now or timezone.now()
    run, found = lock(escalation)
    resolution = Resolution.objects.select_related("by").filter(escalation=found).first()
    person, rules = person_of(by, run.workspace_id, found.queue), rules_of(found.queue)
    if resolution is None or found.state != State.RESOLVED:
        raise NoSuchMove(found.state, Move.UNDO)
    lifecycle.check_may_undo(
        situation_of(found), person, decided_by=resolution.by.get_username(),
        decided_at=resolution.at, has_left=_has_left(found, resolution), now=now, rules=rules,
    )  # fmt: skip
    resolution.delete()
    found.votes.filter(by=by).delete()
    found.closed_at, found.closed_because = None, ""
    found.claimed_by, found.claimed_at, found.claim_until = by, now, now + rules.lease
    move(
        found,
        Move.UNDO,
        ["closed_at", "closed_because", "claimed_by", "claimed_at", "claim_until"],
    )
    tell_log(run, found, "undone", now, by=by)
    judge(run=run, now=now)
    put_on_record(found, "undone", by)
    return found


def _has_left(found: Escalation, resolution: Resolution) -> bool:
    """Say whether it went on: by an attempt, by an answer of the gate, or by a new request."""
    sent = Delivery.objects.select_for_update().filter(resolution=resolution, attempts__gt=0)
    asked = GateReceipt.objects.filter(
        run=found.run_id, target=found.target, answered_at__gte=resolution.at
    )
    again = Escalation.objects.waiting().filter(run=found.run_id, key=found.key)
    return sent.exists() or asked.exists() or again.exists()
