"""Who looks at what: leases on hosts and runs that are due, a few at a time for each host.

A lease is taken under the lock of the host's row, so that the count of what is under way holds. A
worker that dies leaves a lease that runs out; one that was thought dead finds its fence outdated
and changes nothing. Events that it took meanwhile are taken once all the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import OuterRef, Q, Subquery

from runs.models import Host, PulledHost, PulledRun
from runs.models.pulling import at_work, free

MOST_CALLS = 5
"""Calls that may come one after the other in a look, beside the time that it follows a run."""


@dataclass(frozen=True, slots=True)
class RunLook:
    """A run that we may look at, until the lease ends."""

    pk: int
    fence: int
    taken_at: datetime
    host: Host
    run_id: str
    failures: int
    quiet: int
    not_given: int | None
    owed_verdicts: Sequence[int]


@dataclass(frozen=True, slots=True)
class HostLook:
    """A host that we may look at, until the lease ends."""

    fence: int
    taken_at: datetime
    host: Host
    failures: int
    list_cursor: str
    lists_runs: bool | None


def lease_time() -> timedelta:
    """Return how long a look may take, with everything that can go slowly in it."""
    return timedelta(seconds=settings.PULL_TAIL_S + MOST_CALLS * settings.PULL_DEADLINE_S)


def take_next(now: datetime) -> HostLook | RunLook | None:
    """Take what has been due longest, of a host that has room; None: there is nothing."""
    for host in _hosts_with_something_due(now):
        taken = take_host(host=host, now=now) or take_run_of(host=host, now=now)
        if taken is not None:
            return taken
    return None


def crowded_hosts(now: datetime) -> set[int]:
    """Return the hosts of which something is due and nobody is at it."""
    return set(_hosts_with_something_due(now))


def _hosts_with_something_due(now: datetime) -> list[int]:
    runs = PulledRun.objects.filter(free(now), host=OuterRef("host")).order_by("next_at")
    first = Subquery(runs.values("next_at")[:1])
    found = at_work(now).annotate(first_run=first).filter(Q(first_run__isnull=False) | free(now))
    waiting = [
        (min(each for each in (row.first_run, row.next_at) if each is not None), row.pk)
        for row in found
    ]
    return [pk for _, pk in sorted(waiting)]


@transaction.atomic
def take_host(*, host: int, now: datetime) -> HostLook | None:
    """Take a host that is due and nobody's."""
    rows = at_work(now).select_for_update(skip_locked=True, of=("self",)).select_related("host")
    row = rows.filter(free(now), pk=host).first()
    if row is None:
        return None
    row.lease_until, row.fence = now + lease_time(), row.fence + 1
    row.save(update_fields=["lease_until", "fence"])
    return HostLook(row.fence, now, row.host, row.failures, row.list_cursor, row.lists_runs)


@transaction.atomic
def take_run_of(*, host: int, now: datetime, run_id: str | None = None) -> RunLook | None:
    """Take a run of a host that has been due longest, if fewer than may be are under way."""
    rows = at_work(now).select_for_update(skip_locked=True, of=("self",)).select_related("host")
    owner = rows.filter(pk=host).first()
    if owner is None or _under_way(owner, now) >= _most(owner):
        return None
    due = PulledRun.objects.select_for_update(skip_locked=True).filter(free(now), host=owner.host)
    if run_id is not None:
        due = due.filter(run_id=run_id)
    row = due.order_by("next_at").first()
    return None if row is None else _leased(row, owner.host, now)


def _under_way(owner: PulledHost, now: datetime) -> int:
    return PulledRun.objects.filter(host=owner.pk, lease_until__gt=now).count()


def _most(owner: PulledHost) -> int:
    """Return how many of a host's runs may be read at once; after a failure one tries first."""
    return 1 if owner.failures else settings.PULL_PER_HOST


def _leased(row: PulledRun, host: Host, now: datetime) -> RunLook:
    row.lease_until, row.fence = now + lease_time(), row.fence + 1
    row.save(update_fields=["lease_until", "fence"])
    return RunLook(
        pk=row.pk,
        fence=row.fence,
        taken_at=now,
        host=host,
        run_id=row.run_id,
        failures=row.failures,
        quiet=row.quiet,
        not_given=row.not_given,
        owed_verdicts=tuple(row.owed_verdicts),
    )
