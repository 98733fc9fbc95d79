"""Remote hosts to read from, and the ledger's own way to read them."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
from django.db.models import Q
from django.utils import timezone

from runs.actions import leases
from runs.actions.discovering import look_at_host
from runs.actions.hosts import connect_host
from runs.actions.pulling import look_at_run
from runs.models import Host, PulledRun
from runs.models.pulling import free
from tests.factories import add_host_named
from tests.recorded import RecordedHost, RecordedHosts
from tests.remote import API_KEY


@pytest.fixture(scope="session")
def remotes() -> Iterator[RecordedHosts]:
    """Starts replaying hosts; each comes without runs and without faults."""
    hosts = RecordedHosts()
    yield hosts
    hosts.stop()


@pytest.fixture
def remote(remotes) -> RecordedHost:
    """A host that speaks as published."""
    return remotes("spec")


@pytest.fixture
def connected(db) -> Callable[..., Host]:
    """Adds a host that is read at the address of a remote one."""

    def connect(remote: RecordedHost, name: str = "alpha", **more: str) -> Host:
        host = add_host_named(name, workspace="acme")
        key = more.get("api_key", API_KEY)
        connect_host(host_id=host.slug, base_url=more.get("base_url", remote.url), api_key=key)
        host.refresh_from_db()
        return host

    return connect


def pull(host: Host, *, ahead_s: float = 0) -> int:
    """Look once at a host and at each of its runs that is due; return how many looks that were.

    Args:
        host: which one.
        ahead_s: what becomes due in so many seconds is due now.
    """
    began = timezone.now()
    ahead = timedelta(seconds=ahead_s)
    known = leases.take_host(host=host.pk, now=began + ahead)
    looks = 0
    if known is not None:
        look_at_host(known)
        looks = 1
    while (run_id := _due_and_not_seen(host, since=began, now=timezone.now() + ahead)) is not None:
        run = leases.take_run_of(host=host.pk, now=timezone.now() + ahead, run_id=run_id)
        if run is None:
            break
        look_at_run(run, yields=lambda: True)
        looks += 1
    return looks


def _due_and_not_seen(host: Host, *, since: datetime, now: datetime) -> str | None:
    rows = PulledRun.objects.filter(free(now), host=host)
    unseen = rows.filter(Q(looked_at=None) | Q(looked_at__lt=since))
    return unseen.order_by("pk").values_list("run_id", flat=True).first()


def due(host: Host, *run_ids: str) -> None:
    """Make runs due, known or not."""
    for run_id in run_ids:
        PulledRun.objects.update_or_create(
            host=host, run_id=run_id, defaults={"next_at": timezone.now()}
        )
