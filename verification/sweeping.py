"""Finds work that a lost message, a killed process or a failed judgement left lying."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, OuterRef, Q, Subquery
from django.utils import timezone

from runs.actions import sweeps
from runs.actions.append import JUDGING_FAILED
from runs.domain.canary import OPEN_FOR
from runs.models import CapabilitySnapshot, ConnectionTest, Run
from verification import bells
from verification.actions import (
    bulk,
    checkpoints,
    effects,
    erasing,
    escalations,
    retention,
    timeouts,
)
from verification.actions.judge import judge_again
from verification.actions.keeping_findings import STANDING
from verification.domain.jobs.states import UNFINISHED
from verification.domain.lifecycle import State
from verification.models import (
    Delivery,
    Escalation,
    Finding,
    Job,
    JobTask,
    Judgement,
    Notification,
    Rejudging,
)
from verification.rules_digest import rules_digest

logger = logging.getLogger(__name__)

AT_ONCE = 200
"""Rows of a kind that one sweep takes."""
BATCH_RESTS = timedelta(seconds=30)
"""How long a batch that does not move is left to its worker."""


def sweep(now: datetime | None = None) -> None:
    """Do every kind of sweep; what is too much for this one is left for the next.

    One that fails keeps none of the others from being done.
    """
    now = now or timezone.now()
    failed = 0
    for each in (
        ring_for_deliveries,
        lapse_claims,
        ring_for_jobs,
        ring_for_batches,
        ring_for_exports,
        timeouts.pass_due,
        effects.tell_of_missing_effects,
        ring_for_notifications,
        ring_for_questions,
        ring_for_connection_tests,
        checkpoints.sign_due,
        retention.erase_expired,
        retention.forget_old,
        erasing.erase_old_runs,
        judge_held_runs,
        judge_by_new_capabilities,
        judge_by_new_rules,
    ):
        try:
            each(now)
        except Exception:
            failed += 1
            logger.exception("%s failed; the next sweep tries again", each.__name__)
    sweeps.note("reviews", failed=failed, now=now)


def ring_for_deliveries(now: datetime) -> None:
    """Ring for deliveries that are due, or whose worker was lost on the way."""
    due = Delivery.objects.filter(
        Q(next_attempt_at__lte=now) & (Q(lease_until=None) | Q(lease_until__lt=now))
    )
    for pk in due.order_by("next_attempt_at").values_list("pk", flat=True)[:AT_ONCE]:
        bells.ring(bells.DELIVER, pk)


def ring_for_questions(now: datetime) -> None:
    """Ring for pauses that their hosts have not described yet."""
    unknown = Escalation.objects.waiting().filter(ask_host_at__lte=now)
    for pk in unknown.order_by("ask_host_at").values_list("pk", flat=True)[:AT_ONCE]:
        bells.ring(bells.LEARN, pk)


def ring_for_connection_tests(now: datetime) -> None:
    """Ring for tests of connections that nobody has begun, while somebody may still wait."""
    waiting = ConnectionTest.objects.filter(begun_at=None, asked_at__gt=now - OPEN_FOR)
    for pk in waiting.values_list("pk", flat=True)[:AT_ONCE]:
        bells.ring(bells.CONNECT, pk)


def ring_for_notifications(now: datetime) -> None:
    """Ring when somebody is to be told of something."""
    if Notification.objects.filter(send_at__lte=now).exists():
        bells.ring(bells.NOTIFY)


def ring_for_jobs(now: datetime) -> None:
    """Ring for jobs that nobody works on, or whose worker has shown no sign of life."""
    waited = now - timedelta(seconds=settings.JOB_LEASE_S)
    left = Job.objects.filter(state__in=UNFINISHED).filter(
        Q(lease_until__lte=now) | Q(lease_until=None, rung_at__lte=waited)
    )
    for pk in left.order_by("created_at").values_list("pk", flat=True)[:AT_ONCE]:
        Job.objects.filter(pk=pk).update(rung_at=now)
        bells.ring(bells.RUN_JOB, pk)
    lost = JobTask.objects.filter(lease_until__lte=now, job__state__in=UNFINISHED)
    for job, number in lost.order_by("lease_until").values_list("job", "number")[:AT_ONCE]:
        bells.ring(bells.RUN_JOB, job, number)


def ring_for_batches(now: datetime) -> None:
    """Ring for batches that have begun and do not move."""
    for pk in bulk.under_way(now - BATCH_RESTS):
        bells.ring(bells.MOVE_MANY, pk)


def ring_for_exports(now: datetime) -> None:
    """Ring for jobs whose spans are due at the collector."""
    due = Job.objects.filter(export_at__lte=now).order_by("export_at")
    for pk in due.values_list("pk", flat=True)[:AT_ONCE]:
        bells.ring(bells.EXPORT, pk)


def lapse_claims(now: datetime) -> None:
    """Open the escalations whose claim ran out."""
    over = Escalation.objects.filter(state=State.CLAIMED, claim_until__lte=now)
    for pk in over.values_list("pk", flat=True)[:AT_ONCE]:
        escalations.lapse(escalation=pk, now=now)


def judge_held_runs(now: datetime) -> None:
    """Judge again the runs that are held because judging them failed."""
    held = Run.objects.filter(held=True, hold_reasons__contains=[JUDGING_FAILED])
    for pk in held.order_by("?").values_list("pk", flat=True)[:AT_ONCE]:  # none is always last
        _judge_again(pk, now)


def judge_by_new_capabilities(now: datetime) -> None:
    """Judge again the runs whose host has advertised something else since they were judged.

    Only runs with a gate or a finding can come out differently; the others are only told apart.
    """
    stale = Judgement.objects.filter(
        Q(snapshot=None) | Q(snapshot__lt=F("host__capabilities__pk")),
        host__capabilities__valid_to=None,
        host__capabilities__isnull=False,
    )
    touched = ~Q(run__standing="") | ~Q(run__worst_finding="")
    for pk in stale.filter(touched).values_list("pk", flat=True)[:AT_ONCE]:
        _judge_again(pk, now)
    others = stale.exclude(touched).values_list("pk", flat=True)[: AT_ONCE * 10]
    newest = CapabilitySnapshot.objects.filter(host=OuterRef("host"), valid_to=None)
    Judgement.objects.filter(pk__in=list(others)).update(snapshot=Subquery(newest.values("pk")[:1]))


def judge_by_new_rules(now: datetime) -> None:
    """Judge again the runs with standing findings, once, where an upgrade has brought other rules.

    Findings are kept in the words of the rules that made them, and an accusation that the rules of
    today would not make must not stand until something happens in its run.
    """
    walk, _ = Rejudging.objects.get_or_create(pk=1)
    if walk.rules != rules_digest():
        walk.rules, walk.after_run = rules_digest(), 0
    if walk.after_run is None:
        return
    ahead = Finding.objects.filter(status=STANDING, run__gt=walk.after_run).order_by("run")
    runs = list(ahead.values_list("run", flat=True).distinct()[:AT_ONCE])
    for pk in runs:
        _judge_again(pk, now)
    walk.after_run = runs[-1] if len(runs) == AT_ONCE else None
    walk.save()


def _judge_again(run: int, now: datetime) -> None:
    try:
        judge_again(run=run, now=now)
    except Exception:
        logger.exception("run %s cannot be judged", run)
