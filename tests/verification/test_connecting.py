"""A test of a host's connection: every way in and out is really gone, and nothing of it stays."""

import json
import threading
import time

import pytest
from celery.contrib.testing.worker import start_worker
from django.test import Client
from django.utils import timezone

from openwop_console.celery import app
from runs.actions.hosts import connect_host
from runs.actions.people import grant
from runs.actions.webhook_secrets import secrets_of
from runs.domain.canary import OPEN_FOR
from runs.domain.webhooks import verify
from runs.models import ConnectionTest, Event, HostKey, ReceivedDelivery, Refusal, Role, Run
from tests.factories import event, person, run_of, send
from tests.local_servers import http, serving
from tests.remote import API_KEY, RunningHost
from tests.signing import stamp, v1
from tests.web import serving_web
from verification import bells, sweeping
from verification.actions import connecting
from verification.actions.connecting import (
    KEY_GOOD_FOR,
    ask_for_test,
    canary_event,
    try_connection,
)
from verification.actions.retention import forget_old
from verification.actions.review_webhooks import set_webhook
from verification.domain.connection import LOST_AFTER, Tried
from verification.models import AuditEntry, Escalation, Finding, Notification, Verdict
from verification.queries.connections import report_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def remote():
    host = RunningHost()
    yield host
    host.stop()


@pytest.fixture
def web(transactional_db, settings):
    with serving_web() as web:
        settings.CONSOLE_URL = web.url
        yield web


def tried(host) -> dict[str, dict]:
    """Ask for a test, have it made, and return its lines by name."""
    ask_for_test(host=host, by="person:1")
    try_connection(host=host.pk)
    test = ConnectionTest.objects.get(host=host)
    assert test.ended_at is not None
    return {line["name"]: line for line in test.lines}


def states(host) -> dict[str, str]:
    return {name: line["state"] for name, line in tried(host).items()}


def test_a_host_that_is_read_works_in_every_direction(host, remote, web):
    connect_host(host_id=host.slug, base_url=remote.url, api_key=API_KEY)
    host.refresh_from_db()

    assert states(host) == {
        "discovery": "works",
        "reading": "works",
        "ping_in": "works",
        "ping_out": "not_applicable",
        "canary": "works",
        "leak": "works",
        "interrupt": "works",
    }


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "in-memory", "python", "openwop-app"])
def test_every_dialect_in_the_field_is_understood_where_it_is_asked(host, dialect, settings):
    settings.CONSOLE_URL = "http://127.0.0.1:9"
    other = RunningHost(dialect=dialect)
    try:
        connect_host(host_id=host.slug, base_url=other.url, api_key=API_KEY)
        host.refresh_from_db()
        found = states(host)
    finally:
        other.stop()

    assert {found[name] for name in ("discovery", "reading", "interrupt")} == {"works"}


def test_a_host_that_only_sends_is_told_what_does_not_apply_to_it(host, web):
    assert states(host) == {
        "discovery": "not_applicable",
        "reading": "not_applicable",
        "ping_in": "works",
        "ping_out": "not_applicable",
        "canary": "works",
        "leak": "works",
        "interrupt": "not_applicable",
    }


def test_a_wrong_key_for_a_host_is_said_with_what_mends_it(host, remote, web):
    connect_host(host_id=host.slug, base_url=remote.url, api_key="wrong")
    host.refresh_from_db()

    lines = tried(host)

    assert lines["discovery"]["state"] == "works"
    assert lines["reading"]["state"] == lines["interrupt"]["state"] == "fails"
    assert "runs:read" in lines["reading"]["fix"]
    assert "approvals:respond" in lines["interrupt"]["fix"]


def test_a_host_that_is_gone_fails_where_it_is_asked_and_nowhere_else(host, web):
    connect_host(host_id=host.slug, base_url="http://127.0.0.1:9", api_key="k")
    host.refresh_from_db()

    found = states(host)

    assert {name for name, state in found.items() if state == "fails"} == {
        "discovery",
        "reading",
        "interrupt",
    }
    assert found["canary"] == "works"


def test_an_address_inside_is_not_called(host, web, settings):
    settings.ALLOW_PRIVATE = []
    connect_host(host_id=host.slug, base_url="http://127.0.0.1:9", api_key="k")
    host.refresh_from_db()

    lines = tried(host)

    assert lines["discovery"]["state"] == "fails"
    assert "OPENWOP_CONSOLE_ALLOW_PRIVATE" in lines["discovery"]["words"]
    assert {lines[name]["state"] for name in ("ping_in", "canary", "leak")} == {"not_proven"}


def test_nothing_of_a_test_stays_but_its_lines_and_the_record_of_it(host, web):
    send(host, event(0))
    keys = set(HostKey.objects.values_list("pk", flat=True))

    tried(host)

    assert list(Run.objects.all()) == [run_of(host)]
    assert Event.objects.count() == 1
    assert set(HostKey.objects.values_list("pk", flat=True)) == keys
    for model in (Refusal, ReceivedDelivery, Finding, Verdict, Escalation, Notification):
        assert not model.objects.exists(), model
    (entry,) = AuditEntry.objects.filter(action="host.tested")
    assert entry.actor == "person:1"


def test_a_console_that_is_not_where_hosts_are_told_fails_its_own_doors(host, settings):
    settings.CONSOLE_URL = "http://127.0.0.1:9"

    lines = tried(host)

    assert {lines[name]["state"] for name in ("ping_in", "canary", "leak")} == {"fails"}
    assert "OPENWOP_CONSOLE_URL" in lines["canary"]["fix"]


def test_what_the_host_itself_sends_for_a_test_is_heard_and_not_kept(host, client):
    test = ask_for_test(host=host, by="person:1")
    key = {"authorization": f"Bearer {host.key_for_tests}"}
    sent = canary_event(test.run_id, timezone.now())

    answer = client.post("/api/v1/events", sent, "application/json", headers=key)

    assert answer.status_code == 201
    assert not Run.objects.exists()
    test.refresh_from_db()
    assert test.heard_at is not None


def test_a_signed_canary_is_heard_and_leaves_no_evidence(host, client):
    test = ask_for_test(host=host, by="person:1")
    (secret,) = secrets_of(host, timezone.now())
    for body in (canary_event(test.run_id, timezone.now()), {"runId": test.run_id, "type": "x.y"}):
        ConnectionTest.objects.update(heard_at=None)
        raw = json.dumps(body).encode()

        headers = v1(raw, secret, stamp(timezone.now()))
        door = f"/api/v1/webhooks/{host.slug}"

        answer = client.post(door, raw, "application/json", headers=headers)

        assert answer.status_code in {200, 202}, answer.content
        test.refresh_from_db()
        assert test.heard_at is not None
    assert not ReceivedDelivery.objects.exists()
    assert not Run.objects.exists()


def test_a_canary_after_its_test_is_refused_and_makes_no_run(host, client):
    test = ask_for_test(host=host, by="person:1", now=timezone.now() - OPEN_FOR)
    leak = canary_event(test.run_id, timezone.now()) | {
        "type": "agent.verified",
        "payload": {"agentId": "a.b", "target": "t", "verdict": "pass", "more": 1},
    }
    key = {"authorization": f"Bearer {host.key_for_tests}"}
    for sent in (canary_event(test.run_id, timezone.now()), leak):
        answer = client.post("/api/v1/events", sent, "application/json", headers=key)

        assert answer.status_code == 400
        assert answer.json()["details"]["reason"] == "canary_over"
    assert not Run.objects.exists()


def test_a_canary_among_others_is_refused_and_the_others_are_kept(host):
    test = ask_for_test(host=host, by="person:1")

    receipt = send(host, canary_event(test.run_id, timezone.now()), event(0), event(1))

    assert receipt.accepted == 2
    assert [each["details"]["reason"] for each in receipt.rejected] == ["canary_over"]
    assert list(Run.objects.values_list("run_id", flat=True)) == ["r-1"]


def test_another_hosts_test_hears_nothing(host, other_host, client):
    test = ask_for_test(host=other_host, by="person:1")
    key = {"authorization": f"Bearer {host.key_for_tests}"}

    sent = canary_event(test.run_id, timezone.now())
    answer = Client().post("/api/v1/events", sent, "application/json", headers=key)

    assert answer.status_code == 400
    test.refresh_from_db()
    assert test.heard_at is None


@pytest.mark.parametrize("run_id", [[], {}, None, 7, "x" * 1000])
def test_odd_run_ids_beside_a_canary_harm_nobody(host, client, run_id):
    test = ask_for_test(host=host, by="person:1")
    key = {"authorization": f"Bearer {host.key_for_tests}"}
    batch = [canary_event(test.run_id, timezone.now()), event(0, runId=run_id)]

    for sent in (batch, batch[::-1]):
        answer = client.post("/api/v1/events", sent, "application/json", headers=key)

        assert answer.status_code == 400
    assert not Run.objects.exists()


def test_a_worker_tries_what_was_asked_for_and_the_page_is_told(host, web, client):
    with start_worker(app, queues=["pull"], perform_ping_check=False, pool="solo"):
        ask_for_test(host=host, by="person:1")
        until = time.monotonic() + 60
        while not ConnectionTest.objects.filter(ended_at__isnull=False).exists():
            assert time.monotonic() < until
            threading.Event().wait(0.05)

    assert len(ConnectionTest.objects.get().lines) == 7


def test_a_lost_bell_is_made_up_for_by_the_sweep(host, monkeypatch):
    monkeypatch.setattr(bells, "ring", lambda *what: None)
    ask_for_test(host=host, by="person:1")
    rung = []
    monkeypatch.setattr(bells, "ring", lambda *what: rung.append(what))

    sweeping.ring_for_connection_tests(timezone.now())
    sweeping.ring_for_connection_tests(timezone.now() + OPEN_FOR)

    assert rung == [(bells.CONNECT, host.pk)]


def test_a_worker_that_was_lost_leaves_nothing_green(host):
    began = timezone.now() - LOST_AFTER
    ask_for_test(host=host, by="person:1", now=began)
    ConnectionTest.objects.update(begun_at=began)

    report = report_of(host, timezone.now())

    assert not report.is_under_way
    assert {line.state for line in report.lines} <= {Tried.NOT_PROVEN, Tried.WAITING}
    assert ask_for_test(host=host, by="person:1").asked_at > began


def test_the_key_of_a_worker_that_was_lost_is_forgotten(host):
    now = timezone.now()
    HostKey.objects.create(
        host=host, key_id="abc", digest="0" * 64, is_canary=True, expires_at=now + KEY_GOOD_FOR
    )
    forget_old(now)
    assert HostKey.objects.filter(is_canary=True).exists()

    forget_old(now + KEY_GOOD_FOR)

    assert not HostKey.objects.filter(is_canary=True).exists()
    assert HostKey.objects.exists()


def test_what_breaks_off_is_not_proven_and_the_rest_goes_on(host, web, monkeypatch):
    def broken(self):
        raise RuntimeError("SECRET WORDS")

    monkeypatch.setattr(connecting._Trying, "_ping_in", broken)

    lines = tried(host)

    assert lines["ping_in"]["state"] == "not_proven"
    assert lines["canary"]["state"] == "works"
    assert "SECRET" not in str(lines)


def test_a_host_that_is_told_by_webhook_is_pinged_signed(host, web):
    root = person("root")
    grant(user=root, workspace=host.workspace, role=Role.ADMIN)
    with serving(http("204 No Content", b"")) as server:
        secret = set_webhook(host=host, url=f"{server.url}/hook", by=root)
        lines = tried(host)
        head, _, body = server.requests[0].partition(b"\r\n\r\n")

    assert lines["ping_out"]["state"] == "works"
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head.decode().split("\r\n")[1:])
    }
    assert verify(headers, body, secrets=[secret], now=timezone.now())
    assert headers["openwop-event-type"] == json.loads(body)["type"] == "console.ping"


def test_no_secret_of_a_test_is_written_down_or_logged(host, remote, web, caplog):
    connect_host(host_id=host.slug, base_url=remote.url, api_key=API_KEY)
    host.refresh_from_db()
    caplog.set_level("DEBUG")
    hidden = [API_KEY, *secrets_of(host, timezone.now())]

    tried(host)

    kept = str(ConnectionTest.objects.values_list("lines").get()) + str(
        list(AuditEntry.objects.values_list("subject", "detail"))
    )
    written = caplog.text + kept
    assert not [word for word in (*hidden, "owc_test_") if word in written]


def test_a_test_under_way_is_not_begun_again_and_is_made_once(host, web):
    first = ask_for_test(host=host, by="person:1")
    again = ask_for_test(host=host, by="person:1")
    assert again.run_id == first.run_id

    try_connection(host=host.pk)
    lines = ConnectionTest.objects.get(host=host).lines
    try_connection(host=host.pk)

    assert ConnectionTest.objects.get(host=host).lines == lines
    assert AuditEntry.objects.filter(action="host.tested").count() == 1
