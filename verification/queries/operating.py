"""What those who run an installation watch of the judgements, over all workspaces.

As `runs.queries.operating`: asked each time, and of no single run, person or host.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.db.models import Count, Min, Q
from django.db.models.functions import Coalesce

from runs.models import Host, RetiringSecret, Run
from runs.queries.operating import Waiting, since, waiting
from runs.rows import fetch
from verification.domain.delivery import UNSETTLED
from verification.domain.delivery import State as DeliveryState
from verification.domain.findings import Severity
from verification.domain.jobs.states import UNFINISHED, JobState
from verification.erasable import old_runs, over_texts
from verification.models import (
    CataloguedModel,
    Delivery,
    Escalation,
    Finding,
    Job,
    Queue,
    ReviewWebhook,
    SigningKey,
)
from verification.queries.queue import held, unclaimed


@dataclass(frozen=True, slots=True)
class QueueLoad:
    """What waits in a queue for a person."""

    queue: int | None
    """Its id; None: the queue is gone."""
    open: int
    claimed: int
    overdue: int
    oldest_s: float


@dataclass(frozen=True, slots=True)
class Jobs:
    """Jobs by state, those that wait for a person's word apart, and the queued ones."""

    counts: Mapping[str, int]
    queued: Waiting


@dataclass(frozen=True, slots=True)
class Chains:
    """How far the audit chains are signed."""

    unsigned_s: float
    """Age of the oldest entry that no checkpoint covers; 0: all are covered."""
    checkpoint_s: float | None
    """Since the newest checkpoint; None: there is none yet."""


def escalations(now: datetime) -> Sequence[QueueLoad]:
    """Return what waits in each queue, the empty ones included."""
    rows = Escalation.objects.waiting().values("queue").annotate(
        open=Count("pk", filter=unclaimed(now)),
        claimed=Count("pk", filter=held(now)),
        overdue=Count("pk", filter=Q(due_at__lte=now)),
        first=Min("opened_at"),
    )  # fmt: skip
    loads = {pk: QueueLoad(pk, 0, 0, 0, 0.0) for pk in Queue.objects.values_list("pk", flat=True)}
    loads |= {
        row["queue"]: QueueLoad(
            row["queue"], row["open"], row["claimed"], row["overdue"], since(row["first"], now)
        )
        for row in rows.order_by("queue")
    }
    return list(loads.values())


def deliveries() -> Mapping[str, int]:
    """Count decisions on their way to hosts, by state."""
    rows = Delivery.objects.values("state").annotate(count=Count("*"))
    return _counted(DeliveryState, rows.values_list("state", "count"))


def unsettled(now: datetime) -> Waiting:
    """Return the decisions that are on their way, since they left or were sent anew."""
    rows = Delivery.objects.filter(state__in=UNSETTLED)
    return waiting(rows.annotate(left=Coalesce("started_at", "created_at")), "left", now)


def jobs(now: datetime) -> Jobs:
    """Count jobs."""
    rows = Job.objects.values("state").annotate(count=Count("*"))
    counts = _counted(JobState, rows.values_list("state", "count"))
    paused = Job.objects.filter(state__in=UNFINISHED, paused_at__isnull=False).values("state")
    of_people = dict(paused.annotate(count=Count("*")).values_list("state", "count"))
    for state, count in of_people.items():
        counts[state] -= count
    queued = Job.objects.filter(state=JobState.QUEUED, paused_at=None)
    return Jobs(counts | {"paused": sum(of_people.values())}, waiting(queued, "created_at", now))


def findings() -> Mapping[str, int]:
    """Count the findings that stand, by severity."""
    rows = Finding.objects.filter(status="standing").values("severity").annotate(count=Count("*"))
    return _counted(Severity, rows.values_list("severity", "count"))


_CHAINS = """
    SELECT min(entry.at), max(head.at)
      FROM runs_workspace workspace
      LEFT JOIN LATERAL (
           SELECT seq, at FROM verification_checkpoint
            WHERE workspace_id = workspace.id ORDER BY seq DESC LIMIT 1) head ON true
      LEFT JOIN verification_auditentry entry
        ON entry.workspace_id = workspace.id AND entry.seq = coalesce(head.seq, 0) + 1
"""


def chains(now: datetime) -> Chains:
    """Return how far the audit chains of all workspaces are signed."""
    first_unsigned, signed = fetch(_CHAINS, [])[0]
    return Chains(
        since(first_unsigned, now) if first_unsigned else 0.0,
        since(signed, now) if signed else None,
    )


def content_to_erase(now: datetime) -> Waiting:
    """Return the content whose time is over and that no decision on its way still needs."""
    return waiting(over_texts(now), "expires_at", now)


def runs_to_erase(now: datetime) -> Waiting:
    """Return the runs that are older than runs are kept and that nothing needs any more."""
    if not settings.RUN_DAYS:
        return Waiting(0, 0.0)
    before = now - timedelta(days=settings.RUN_DAYS)
    return waiting(old_runs(Run.objects.all(), before).order_by(), "last_event_at", before)


def sealed() -> Iterator[bytes]:
    """Yield every credential that is kept sealed, still sealed."""
    for rows, column in (
        (Host.objects.all(), "sealed_api_key"),
        (Host.objects.all(), "sealed_webhook_secret"),
        (RetiringSecret.objects.all(), "sealed"),
        (ReviewWebhook.objects.all(), "sealed_secret"),
        (CataloguedModel.objects.all(), "sealed_key"),
        (SigningKey.objects.all(), "sealed_private_key"),
    ):
        for value in rows.values_list(column, flat=True).iterator():
            if value:
                yield bytes(value)


def _counted(words: type[StrEnum], found: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return a count for each word that can be stored, those that are not included."""
    return {word.value: 0 for word in words} | dict(found)
