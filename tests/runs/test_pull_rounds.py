"""Rounds of pulls with real threads: side by side, one round at a time, nobody in the way."""

import threading
import time
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from runs import pull_rounds
from runs.actions import pulling
from runs.models import Event, PulledHost, PulledRun, PullRound
from tests.local_servers import serving
from tests.recorded import RecordedHost, recorded
from tests.runs.conftest import due

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick(settings):
    settings.PULL_ROUND_S = 2
    settings.PULL_TAIL_S = 1
    settings.PULL_DEADLINE_S = 1
    settings.PULL_DISCOVER_S = 3600


@pytest.fixture
def longest():
    return max(recorded("python"), key=lambda each: len(each.events))


@contextmanager
def dripping():
    """A host that answers every request with a byte now and then."""

    def drip(connection, request, over):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not over.wait(0.05):
            connection.sendall(b" ")

    with serving(drip) as server:
        yield server


def round_of_its_own():
    pull_rounds.run_round()
    connection.close()


def held(host):
    return Event.objects.filter(run__host=host, origin="host").count()


def test_a_round_reads_what_is_due_and_ends(remotes, connected, longest):
    remote = remotes("spec")
    for n in range(6):
        remote.play(longest, f"r-{n}")
    host = connected(remote)

    pull_rounds.run_round()

    assert held(host) == 6 * len(longest.events)
    assert not PulledRun.objects.exclude(next_at=None).exists()
    assert not PulledRun.objects.exclude(lease_until=None).exists()


def test_one_round_at_a_time(remotes, connected, longest):
    remote = remotes("spec")
    remote.play(longest, "r-1")
    host = connected(remote)
    PullRound.objects.create(slot=1, lease_until=timezone.now() + timedelta(seconds=60))

    pull_rounds.run_round()
    assert held(host) == 0

    PullRound.objects.update(lease_until=timezone.now())  # its worker was killed long ago
    pull_rounds.run_round()
    assert held(host) == len(longest.events)


def test_a_killed_worker_costs_a_delay_and_nothing_else(remotes, connected, longest):
    remote = remotes("spec")
    remote.play(longest, "r-1")
    host = connected(remote)
    due(host, "r-1")
    gone = timezone.now() - timedelta(seconds=1)
    PulledRun.objects.update(lease_until=gone, fence=7)
    PulledHost.objects.update(lease_until=gone, fence=7)

    pull_rounds.run_round()

    assert held(host) == len(longest.events)
    assert PulledRun.objects.get().fence == 8


def test_a_slow_host_does_not_hold_up_another(remotes, connected, longest, settings):
    settings.PULL_THREADS, settings.PULL_DEADLINE_S = 6, 6
    every_one = 5 * len(longest.events)
    remote = remotes("spec")
    for n in range(5):
        remote.play(longest, f"r-{n}")
    with dripping() as slow_server:
        slow = connected(slow_server, "slow")
        good = connected(remote, "good")
        due(slow, *(f"s-{n}" for n in range(20)))
        due(good, *(f"r-{n}" for n in range(5)))
        threading.Thread(target=round_of_its_own).start()
        began = time.monotonic()
        while held(good) < every_one and time.monotonic() - began < settings.PULL_DEADLINE_S:
            threading.Event().wait(0.05)
        in_time = held(good)
        while PullRound.objects.filter(lease_until__gt=timezone.now()).exists():
            threading.Event().wait(0.05)

    assert in_time == every_one
    row = PulledHost.objects.get(host=slow)
    assert row.failures >= 1
    assert row.rests_until > timezone.now()


def test_a_run_that_goes_on_gives_way_to_one_that_waits(
    remotes, connected, longest, settings, monkeypatch
):
    monkeypatch.setattr(pulling, "SLICE_S", 0.3)
    settings.PULL_THREADS, settings.PULL_TAIL_S, settings.PULL_ROUND_S = 1, 30, 4
    remote: RecordedHost = remotes("spec")
    live = remote.begin(longest, "live")
    remote.go_on(live, longest, 2)
    remote.play(longest, "waits")
    host = connected(remote)
    PulledHost.objects.filter(host=host).update(next_at=None)
    due(host, "live")
    PulledRun.objects.create(
        host=host, run_id="waits", next_at=timezone.now() + timedelta(seconds=0.5)
    )
    began = time.monotonic()

    pull_rounds.run_round()

    assert held(host) == 2 + len(longest.events)
    assert time.monotonic() - began < 25


def test_nothing_is_read_where_reading_is_turned_off(remotes, connected, longest, settings):
    settings.PULL = False
    remote = remotes("spec")
    remote.play(longest, "r-1")
    host = connected(remote)

    pull_rounds.run_round()

    assert held(host) == 0
    assert not PullRound.objects.exists()
