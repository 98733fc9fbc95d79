"""Finds what is to be read from hosts and was not asked for, or whose worker was lost.

Runs with gaps, runs that go on in silence, hosts that nobody has looked at. Each statement only
makes rows due; reading them is for a round of pulls.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from runs import bells
from runs.actions import sweeps
from runs.models import PulledRun, ReceivedDelivery
from runs.models.pulling import at_work, free

AT_ONCE = 1000
"""Rows of a kind that one sweep makes due or removes."""

_HOSTS = """
    INSERT INTO runs_pulledhost (host_id, next_at, fence, failures, outcome, list_cursor)
    SELECT id, %(now)s, 0, 0, '', '' FROM runs_host WHERE base_url <> ''
    ON CONFLICT (host_id) DO NOTHING
"""
_RUNS = """
    INSERT INTO runs_pulledrun AS held
        (host_id, run_id, next_at, fence, failures, outcome, quiet, owed_verdicts)
    SELECT run.host_id, run.run_id, %(now)s, 0, 0, '', 0, '{{}}'
      FROM runs_run run JOIN runs_host host ON host.id = run.host_id
      LEFT JOIN runs_pulledrun known ON known.host_id = run.host_id AND known.run_id = run.run_id
     WHERE host.base_url <> '' AND {which}
       AND (known.id IS NULL
            OR known.next_at IS NULL AND known.settled_with IS DISTINCT FROM run.event_count)
     LIMIT %(at_once)s
    ON CONFLICT ON CONSTRAINT a_run_is_pulled_once
    DO UPDATE SET next_at = EXCLUDED.next_at, quiet = 0, failures = 0, settled_with = NULL
"""
_WITH_GAPS = _RUNS.format(
    which="run.last_event_at < %(grace)s"
    " AND EXISTS (SELECT 1 FROM runs_gap gap WHERE gap.run_id = run.id)"
)
_SILENT = _RUNS.format(which="NOT run.is_terminal AND run.last_event_at < %(silent)s")


def sweep(now: datetime | None = None) -> None:
    """Make due what should be read, ring for what is due, and drop old evidence."""
    now = now or timezone.now()
    forget_deliveries(now)
    if settings.PULL:
        make_due(now)
        if is_anything_due(now):
            bells.ring(bells.PULL)
    sweeps.note("hosts", now=now)


def make_due(now: datetime) -> None:
    """Make due the hosts that are new, the runs with gaps, and the runs that went silent."""
    when: dict[str, datetime | int] = {
        "now": now,
        "grace": now - timedelta(seconds=settings.PULL_GAP_S),
        "silent": now - timedelta(seconds=settings.PULL_SILENT_S),
        "at_once": AT_ONCE,
    }
    with connection.cursor() as cursor:
        for statement in (_HOSTS, _WITH_GAPS, _SILENT):
            cursor.execute(statement, when)


def is_anything_due(now: datetime) -> bool:
    """Say whether a round of pulls would find something to do."""
    hosts = at_work(now)
    return (
        hosts.filter(free(now)).exists()
        or PulledRun.objects.filter(free(now), host__in=hosts.values("host")).exists()
    )


def forget_deliveries(now: datetime) -> None:
    """Drop the evidence of deliveries that is older than it is kept."""
    before = now - timedelta(days=settings.DELIVERY_DAYS)
    old = ReceivedDelivery.objects.filter(last_at__lt=before).values("pk")[:AT_ONCE]
    ReceivedDelivery.objects.filter(pk__in=old).delete()
