"""The tasks under a real worker, woken by a real broker."""

import threading
import time

import pytest
from celery.contrib.testing.worker import start_worker

from openwop_console.celery import app
from runs import sweeping
from runs.models import Event, PulledRun
from tests.recorded import recorded
from tests.runs.conftest import due

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(settings):
    settings.PULL_ROUND_S = settings.PULL_TAIL_S = 1
    with start_worker(app, queues=["pull"], perform_ping_check=False, pool="solo"):
        yield


def test_a_sweep_wakes_a_worker_and_the_worker_reads_the_host(remotes, connected, worker):
    remote = remotes("spec")
    recording = max(recorded("python"), key=lambda each: len(each.events))
    remote.play(recording, "r-1")
    host = connected(remote)
    due(host, "r-1")

    sweeping.sweep()

    until = time.monotonic() + 60
    while PulledRun.objects.exclude(next_at=None).exists() and time.monotonic() < until:
        threading.Event().wait(0.05)
    assert Event.objects.filter(run__host=host).count() == len(recording.events)
    assert set(app.tasks) >= {"runs.tasks.pull", "runs.tasks.sweep"}
