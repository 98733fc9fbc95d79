"""Hosts that mean harm, or are broken: each costs a bounded time and a bounded number of bytes."""

import json
import time

import pytest
from django.utils import timezone

from runs.actions import leases
from runs.actions.discovering import look_at_host
from runs.actions.pulling import look_at_run
from runs.host_reader import HostReader
from runs.models import CapabilitySnapshot, Event, Host, PulledHost, PulledRun, Run
from tests.local_servers import http, serving
from tests.recorded import recorded
from tests.runs.conftest import due, pull

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick(settings):
    settings.PULL_DEADLINE_S = 1
    settings.PULL_TAIL_S = 1
    settings.PULL_MAX_BYTES = 256 * 1024


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("down", "no_answer"),
        ("slow_body", "unreadable"),
        ("redirect", "answered 307"),
        ("garbage", "unreadable"),
        ("huge_body", "unreadable"),
        ("server_error", "answered internal_error 500"),
    ],
)
def test_a_host_that_misbehaves_is_left_within_a_deadline(remotes, connected, fault, outcome):
    remote = remotes("spec")
    host = connected(remote)
    CapabilitySnapshot.objects.all().delete()
    remote.host.faults.plan({"standing": {"fault": fault, "covers": "all"}})
    due(host, "r-1")
    began = time.monotonic()

    pull(host)

    assert time.monotonic() - began < 20
    assert not Event.objects.exists()
    assert not CapabilitySnapshot.objects.exists()
    row = PulledHost.objects.get(host=host)
    assert row.failures == 1
    assert row.outcome.startswith(outcome)


def test_a_run_whose_log_is_too_large_for_one_answer_is_read_by_its_stream(
    remotes, connected, settings
):
    settings.PULL_MAX_BYTES = 64 * 1024
    remote = remotes("spec")
    recording = max(recorded("openwop-app"), key=lambda each: len(each.events))
    run = remote.begin(recording, "r-1")
    filler = [
        remote.spelled(
            run,
            {"sequence": n, "type": "log.appended", "payload": {"message": "x" * 900},
             "timestamp": "2026-11-30T08:00:00Z"},
        )
        for n in range(200)
    ]  # fmt: skip
    run.events, run.types = filler, ["log.appended"] * 200
    host = connected(remote)

    for _ in range(10):
        due(host, "r-1")
        pull(host)

    assert Event.objects.filter(run__host=host).count() == 200


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 300_000, b"data: {\n\n", b": " * 200_000])
def test_a_stream_that_is_none_is_left(connected, stream):
    snapshot = json.dumps({"runId": "r-1", "workflowId": "wf", "status": "running"}).encode()
    log = json.dumps({"events": [], "isComplete": False}).encode()

    def answer(connection, request, over):
        body, kind = snapshot, b"application/json"
        if b"/events/poll" in request:
            body = log
        elif b"/events?" in request:
            body, kind = stream, b"text/event-stream"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
        connection.sendall(head % (kind, len(body)) + body)

    with serving(answer) as server:
        host = connected(server)
        due(host, "r-1")
        began = time.monotonic()
        look_at_run(leases.take_run_of(host=host.pk, now=timezone.now()))

    assert time.monotonic() - began < 20
    assert not Event.objects.exists()


def test_an_address_inside_is_never_connected_to(connected, settings):
    settings.ALLOW_PRIVATE = []
    with serving(http()) as canary:
        host = connected(canary)
        due(host, "r-1")
        pull(host)

    assert canary.connections == 0
    row = PulledHost.objects.get(host=host)
    assert row.failures == 1
    assert row.outcome.startswith("forbidden")


def test_a_redirect_is_not_followed(connected):
    with serving(http()) as canary:
        location = (f"Location: {canary.url}/secret",)
        with serving(http("302 Found", b"", location)) as server:
            host = connected(server)
            pull(host)

    assert canary.connections == 0


def test_our_key_goes_to_the_host_and_nowhere_else(remotes, connected, caplog):
    with serving(http("401 No", b'{"error":"unauthenticated"}')) as server, caplog.at_level(0):
        host = connected(server, api_key="CANARY-KEY")
        due(host, "r-1")
        pull(host)
        pull(host, ahead_s=86_400)

    asked = [each for each in server.requests if b"well-known" not in each]
    assert all(b"Bearer CANARY-KEY" in each for each in asked)
    assert not any(b"CANARY" in each for each in server.requests if b"well-known" in each)
    assert "CANARY" not in caplog.text
    assert "CANARY" not in str(list(PulledRun.objects.values()))
    assert "CANARY" not in repr(HostReader(server.url, "CANARY-KEY"))


def test_events_of_a_run_that_was_not_asked_for_are_not_taken(remotes, connected):
    remote = remotes("spec")
    recording = max(recorded("python"), key=lambda each: len(each.events))
    mine, other = remote.begin(recording, "mine"), remote.play(recording, "other")
    mine.events, mine.types, mine.status = other.events, other.types, "completed"
    host = connected(remote)
    PulledHost.objects.filter(host=host).update(next_at=None)

    due(host, "mine")
    pull(host)

    assert not Run.objects.filter(host=host).exists()


def test_a_lists_of_runs_without_end_is_read_in_part(connected):
    page = {"runs": [{"runId": "r-1", "status": "completed"}], "nextCursor": "again"}
    asked = []

    def answer(connection, request, over):
        asked.append(request)
        body = json.dumps(page | {"nextCursor": f"c-{len(asked)}"}).encode()
        if b"well-known" in request:
            body = b'{"protocolVersion":"1.0"}'
        page["runs"] = [{"runId": f"r-{len(asked)}", "status": "completed"}]
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with serving(answer) as server:
        host = connected(server)
        Host.objects.filter(pk=host.pk).update(protocol_major=1)
        look_at_host(leases.take_host(host=host.pk, now=timezone.now()))

    assert len(asked) == 11
    row = PulledHost.objects.get(host=host)
    assert row.list_cursor
    assert PulledRun.objects.filter(host=host).count() == 10
