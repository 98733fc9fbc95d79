"""A test of a host's connection: every way in and out is really gone, and nothing of it stays."""

import json

import pytest
from django.test import Client
from django.utils import timezone

from runs.actions.hosts import connect_host
from runs.domain.canary import OPEN_FOR
from runs.models import ConnectionTest, Event, HostKey, ReceivedDelivery, Refusal, Run
from tests.factories import event, run_of, send
from tests.remote import API_KEY, RunningHost
from tests.signing import stamp, v1
from tests.web import serving_web
from verification.actions.connecting import ask_for_test, canary_event, try_connection
from verification.models import AuditEntry, Escalation, Finding, Notification, Verdict

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
    from runs.actions.webhook_secrets import secrets_of

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


def test_a_test_under_way_is_not_begun_again_and_is_made_once(host, web):
    first = ask_for_test(host=host, by="person:1")
    again = ask_for_test(host=host, by="person:1")
    assert again.run_id == first.run_id

    try_connection(host=host.pk)
    lines = ConnectionTest.objects.get(host=host).lines
    try_connection(host=host.pk)

    assert ConnectionTest.objects.get(host=host).lines == lines
    assert AuditEntry.objects.filter(action="host.tested").count() == 1
