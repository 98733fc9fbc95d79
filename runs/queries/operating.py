"""What those who run an installation watch of the facts, over all workspaces.

The tables are asked each time, so the figures are the same whichever process asks. None is of one
run, agent or host.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, F, Max, Min, Q, QuerySet, Sum, Value, When

from runs.models import PulledHost, PulledRun, ReceivedDelivery, Refusal, Run, Sweep
from runs.models.pulling import at_work, free

LATELY = timedelta(minutes=5)
"""How far back deliveries of webhooks are counted."""
MOST_REASONS = 100
"""Reasons counted by name. They are words of our own; this bounds them all the same."""
OTHER = "other"
HOST_STATES = ("well", "failing", "resting", "unread")
WEBHOOK_OUTCOMES = ("accepted", "duplicate", "bell", "refused")


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many wait, and how long the first of them has."""

    count: int
    oldest_s: float


@dataclass(frozen=True, slots=True)
class RunCount:
    """Runs in a status."""

    status: str
    held: bool
    count: int
    events: int


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs: counted, with the events that are held of them."""

    counts: Sequence[RunCount]
    newest_event_s: float | None
    """Since the newest event arrived; None: none ever did."""


def runs(now: datetime) -> Runs:
    """Count runs and their events; the log itself is not read."""
    rows = list(
        Run.objects.values("status", "held")
        .annotate(count=Count("*"), held_events=Sum("event_count"), newest=Max("last_event_at"))
        .order_by("status", "held")
    )
    newest = max((row["newest"] for row in rows if row["newest"]), default=None)
    return Runs(
        [RunCount(row["status"], row["held"], row["count"], row["held_events"]) for row in rows],
        None if newest is None else since(newest, now),
    )


def refused_today(now: datetime) -> Mapping[str, int]:
    """Count what was refused on this day (UTC), by reason; yesterday's reasons begin with 0."""
    today = now.date()
    rows = Refusal.objects.filter(day__gte=today - timedelta(days=1)).values("reason")
    rows = rows.annotate(sum=Sum("count", filter=Q(day=today), default=0))
    counted: Counter[str] = Counter()
    for place, (reason, count) in enumerate(rows.order_by("-sum").values_list("reason", "sum")):
        counted[reason if place < MOST_REASONS else OTHER] += count
    return counted


def webhooks_lately(now: datetime) -> Mapping[str, int]:
    """Count the signed bodies that hosts delivered in the last five minutes, by outcome."""
    rows = ReceivedDelivery.objects.filter(last_at__gt=now - LATELY).values("outcome")
    counted = Counter(dict.fromkeys(WEBHOOK_OUTCOMES, 0))
    for outcome, count in rows.annotate(count=Count("*")).values_list("outcome", "count"):
        counted[outcome if outcome in WEBHOOK_OUTCOMES else "refused"] += count
    return counted


def hosts_read(now: datetime) -> Mapping[str, int]:
    """Count the hosts that are read, by how that goes."""
    state = Case(
        When(rests_until__gt=now, then=Value("resting")),
        When(failures__gt=0, then=Value("failing")),
        When(looked_at=None, then=Value("unread")),
        default=Value("well"),
    )
    rows = PulledHost.objects.exclude(host__base_url="").values(state=state)
    counts = rows.annotate(count=Count("*")).values_list("state", "count")
    return dict.fromkeys(HOST_STATES, 0) | dict(counts)


def to_be_read(now: datetime) -> Mapping[str, Waiting]:
    """Return what is due to be read from hosts that do not rest, and nobody is at."""
    hosts = at_work(now)
    runs = PulledRun.objects.filter(host__in=hosts.values("host"))
    if not settings.PULL:
        hosts, runs = hosts.none(), runs.none()
    return {
        "host": waiting(hosts.filter(free(now)), "next_at", now),
        "run": waiting(runs.filter(free(now)), "next_at", now),
    }


def deliveries_to_forget(now: datetime) -> Waiting:
    """Return the evidence of webhook deliveries that is older than it is kept."""
    before = now - timedelta(days=settings.DELIVERY_DAYS)
    return waiting(ReceivedDelivery.objects.filter(last_at__lt=before), "last_at", before)


def sweeps(now: datetime) -> Mapping[str, tuple[float, int]]:
    """Return for each kind of sweep the seconds since it ended, and how many parts failed in it."""
    return {row.name: (since(row.ended_at, now), row.failed) for row in Sweep.objects.all()}


def waiting(rows: "QuerySet[Any]", since_when: str, now: datetime) -> Waiting:
    """Count rows, and tell how long the first has waited by one of its times."""
    found = rows.aggregate(count=Count("*"), first=Min(F(since_when)))
    return Waiting(found["count"], since(found["first"], now) if found["first"] else 0.0)


def since(moment: datetime, now: datetime) -> float:
    """Return the seconds from a moment to now; none where clocks disagree about which was first."""
    return max(0.0, (now - moment).total_seconds())
