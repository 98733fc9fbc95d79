"""Exports the spans of jobs that have ended, where a collector is set up.

A job says when its spans are due; while somebody is at it, and after a failure, that is a little
later. The job itself has ended long before, and nothing of it depends on this.
"""

import logging
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from verification import otlp
from verification.domain.consensus.failures import Status
from verification.models import Job, Span

logger = logging.getLogger(__name__)

AGAIN = timedelta(minutes=1)
GIVEN_UP = timedelta(days=1)
"""After a job's end; who has no collector for so long has the spans on the job's page."""


def export(*, job: int, now: datetime | None = None) -> bool:
    """Send a job's spans, if that is due and nobody else is at it; true when they were taken."""
    now = now or timezone.now()
    due = Job.objects.filter(pk=job, export_at__lte=now)
    if not due.update(export_at=now + AGAIN):
        return False
    found = Job.objects.get(pk=job)
    if found.ended_at is not None and now - found.ended_at > GIVEN_UP:
        Job.objects.filter(pk=job).update(export_at=None)  # The last try, however it goes.
    spans = [_timed(row) for row in Span.objects.filter(job=found).order_by("number")]
    if not spans or otlp.send(found.uid, spans):
        Job.objects.filter(pk=job).update(export_at=None)
        return bool(spans)
    logger.warning("the spans of job %s were not taken", job)
    return False


def _timed(row: Span) -> otlp.Timed:
    return otlp.Timed(
        number=row.number,
        parent=row.parent,
        name=row.name,
        attributes={**row.attributes, "oma.span.kind": row.kind},
        happenings=[
            otlp.Happening(
                event["name"], parse_datetime(event["at"]) or row.started_at, event["attributes"]
            )
            for event in row.events
        ],
        is_ok=row.status == Status.OK,
        started_at=row.started_at,
        ended_at=row.ended_at or row.started_at,
    )
