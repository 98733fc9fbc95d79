"""What may be erased: runs and texts that nobody and nothing works with any more."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from runs.models import Run
from verification.domain.delivery import UNSETTLED
from verification.domain.jobs.states import UNFINISHED
from verification.models import Content, Delivery, Escalation, Job, JobTask


def old_runs(runs: QuerySet[Run], before: datetime) -> QuerySet[Run]:
    """Return those of some runs without an event since a moment that may go, the oldest first."""
    asked, sent, working, part = _ties()
    kept = Exists(asked) | Exists(sent) | Exists(working) | Exists(part)
    return runs.filter(last_event_at__lt=before).exclude(kept).order_by("last_event_at", "pk")


def over_texts(now: datetime) -> QuerySet[Content]:
    """Return the texts whose time is over and that no decision on its way still needs."""
    needed = Delivery.objects.filter(content=OuterRef("pk"), state__in=UNSETTLED)
    return Content.objects.filter(expires_at__lte=now, erased_at=None).exclude(Exists(needed))


def _ties() -> Sequence[QuerySet[Any]]:
    """Return what keeps a run: people asked, decisions on their way, jobs at work, its own job."""
    run = OuterRef("pk")
    return (
        Escalation.objects.waiting().filter(run=run),
        Delivery.objects.filter(run=run, state__in=UNSETTLED),
        Job.objects.filter(Q(run=run) | Q(about_run=run), state__in=UNFINISHED),
        JobTask.objects.filter(run=run),
    )


_WHY = (
    "a person is still asked about it",
    "a decision is still on its way to its host",
    "a job still works on it",
    "it is part of a job, and goes with that job's run",
)


def needed_for(run: Run) -> str:
    """Return what a locked run is still needed for, or nothing."""
    ties = {f"tie_{at}": Exists(each) for at, each in enumerate(_ties())}
    [found] = Run.objects.filter(pk=run.pk).annotate(**ties).values_list(*ties)
    return next((why for is_tied, why in zip(found, _WHY, strict=True) if is_tied), "")
