"""Finds work that a lost message, a killed process or a failed judgement left lying."""

import logging
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from runs.actions.append import JUDGING_FAILED
from runs.models import Run
from verification import bells
from verification.actions import escalations
from verification.actions.judge import judge_again
from verification.domain.lifecycle import State
from verification.models import Delivery, Escalation

logger = logging.getLogger(__name__)

AT_ONCE = 200
"""Rows of a kind that one sweep takes."""


def sweep(now: datetime | None = None) -> None:
    """Do every kind of sweep; what is too much for this one is left for the next."""
    now = now or timezone.now()
    ring_for_deliveries(now)
    lapse_claims(now)
    judge_held_runs(now)


def ring_for_deliveries(now: datetime) -> None:
    """Ring for deliveries that are due, or whose worker was lost on the way."""
    due = Delivery.objects.filter(
        Q(next_attempt_at__lte=now) & (Q(lease_until=None) | Q(lease_until__lt=now))
    )
    for pk in due.order_by("next_attempt_at").values_list("pk", flat=True)[:AT_ONCE]:
        bells.ring(bells.DELIVER, pk)


def lapse_claims(now: datetime) -> None:
    """Open the escalations whose claim ran out."""
    over = Escalation.objects.filter(state=State.CLAIMED, claim_until__lte=now)
    for pk in over.values_list("pk", flat=True)[:AT_ONCE]:
        escalations.lapse(escalation=pk, now=now)


def judge_held_runs(now: datetime) -> None:
    """Judge again the runs that are held because judging them failed."""
    held = Run.objects.filter(held=True, hold_reasons__contains=[JUDGING_FAILED])
    for pk in held.values_list("pk", flat=True)[:AT_ONCE]:
        try:
            judge_again(run=pk, now=now)
        except Exception:
            logger.exception("run %s still cannot be judged", pk)
