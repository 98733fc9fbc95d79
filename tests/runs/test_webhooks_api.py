"""The webhook door over HTTP: events, bells, evidence, secrets."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.fernet import Fernet
from django.test import Client

from runs.actions.webhook_secrets import LONGEST_OVERLAP, new_secret, rotate_secret
from runs.actions.webhooks import receive
from runs.domain.buckets import Rate
from runs.domain.webhooks import key_of_standard_secret
from runs.flow import GAUGES, Flow
from runs.models import Event, Host, PulledHost, PulledRun, ReceivedDelivery, RetiringSecret, Run
from runs.models import Refusal as Count
from runs.refusal import Refusal
from runs.sealing import unseal
from tests.factories import event, run_of, send, verified
from tests.signing import NOW, OTHER, SECRET, SPELLINGS, app, packed, reference, standard, v1, v2

pytestmark = pytest.mark.django_db

BELL = {"seq": 4, "runId": "r-1", "type": "node.started", "nodeId": None, "timestamp": "x"}


@pytest.fixture
def host(host):
    rotate_secret(host=host, secret=SECRET, overlap=timedelta(0))
    return host


def deliver(host, document, sign=v2, at=NOW, now=NOW, **headers):
    """Deliver by the door's function, at a time of our choosing."""
    body = document if isinstance(document, bytes) else packed(document)
    signed = sign(body, SECRET, str(int(at.timestamp())))
    return receive(host=host, headers=signed | headers, raw=body, now=now)


def evidence():
    rows = ReceivedDelivery.objects.order_by("pk")
    return list(rows.values_list("run_id", "sequence", "spelling", "outcome", "times"))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_delivery_over_http_is_stored_in_every_spelling(host, spelling):
    body = packed({"runId": "r-1", "workspaceId": "w", "event": event(0, "run.started")})
    ts = str(int(datetime.now(UTC).timestamp()))

    answer = Client().post(
        f"/api/v1/webhooks/{host.slug}",
        body,
        content_type="application/json; charset=utf-8",
        headers=SPELLINGS[spelling](body, SECRET, ts),
    )

    assert answer.status_code == 200
    assert answer.json()["runs"] == [{"runId": "r-1", "lastSequence": 0, "lastPosition": 1}]
    assert run_of(host).status == "running"


@pytest.mark.parametrize(
    ("content_type", "headers", "reason"),
    [
        ("text/plain", {}, "media_type"),
        ("", {}, "media_type"),
        ("application/json", {"Content-Encoding": "gzip"}, "content_encoding"),
    ],
)
def test_only_plain_json_is_read(host, content_type, headers, reason):
    answer = Client().post(
        f"/api/v1/webhooks/{host.slug}", b"{}", content_type=content_type, headers=headers
    )

    assert (answer.status_code, answer.json()["details"]["reason"]) == (415, reason)


def test_the_limit_is_told_with_the_setting_that_moves_it(host):
    answer = Client().post(
        f"/api/v1/webhooks/{host.slug}", b"x" * (1024 * 1024 + 1), content_type="application/json"
    )

    assert answer.status_code == 413
    assert answer.json()["details"] == {
        "reason": "body_too_large",
        "limit": 1024 * 1024,
        "setting": "OPENWOP_CONSOLE_MAX_WEBHOOK_BYTES",
    }


@pytest.fixture
def two_a_second(monkeypatch):
    """Two deliveries of a host are let in; the clock of its budget stands still."""
    rates = {gauge: Rate(2, 2) for gauge in GAUGES}
    standing = Flow(rates, clock=lambda: 0.0)
    monkeypatch.setattr("runs.webhooks_api.flow", lambda: standing)


def test_what_is_too_much_is_turned_back_and_forgeries_cost_the_host_nothing(host, two_a_second):
    def post(sequence, secret):
        body = packed(event(sequence))
        signed = v2(body, secret, str(int(datetime.now(UTC).timestamp())))
        path = f"/api/v1/webhooks/{host.slug}"
        return Client().post(path, body, content_type="application/json", headers=signed)

    forged = [post(n, OTHER).status_code for n in range(5)]
    proven = [post(n, SECRET) for n in range(6)]

    assert forged == [401] * 5
    assert [each.status_code for each in proven] == [200, 200, 429, 429, 429, 429]
    assert int(proven[-1].headers["Retry-After"]) >= 1
    assert proven[-1].json()["details"]["setting"] == "OPENWOP_CONSOLE_RATE_HOST_REQUESTS"


def test_the_address_takes_post_only_and_in_its_own_words(host):
    answer = Client().get(f"/api/v1/webhooks/{host.slug}")

    assert (answer.status_code, answer.json()["error"]) == (405, "method_not_allowed")


def test_the_same_event_by_key_and_by_webhook_is_one_event(host):
    send(host, event(0))

    answer = deliver(host, event(0))

    assert (answer.status, answer.body["duplicates"]) == (200, 1)
    assert Event.objects.count() == 1


@pytest.mark.parametrize("after_s", [1, 299])
def test_a_replay_within_the_window_is_a_duplicate_and_leaves_no_row(host, after_s):
    deliver(host, event(0))

    later = NOW + timedelta(seconds=after_s)
    answer = deliver(host, event(0), now=later, **{"openwop-webhook-id": "another"})

    assert answer.status == 200
    assert Event.objects.count() == 1
    assert evidence() == [("r-1", 0, "openwop sha256", "accepted", 2)]
    assert ReceivedDelivery.objects.get().last_at == later


@pytest.mark.parametrize("after_s", [301, 86_400])
def test_a_replay_after_the_window_is_refused(host, after_s):
    deliver(host, event(0))

    with pytest.raises(Refusal) as refusal:
        deliver(host, event(0), now=NOW + timedelta(seconds=after_s))

    assert (refusal.value.status, refusal.value.details) == (401, {"reason": "timestamp_expired"})
    assert evidence() == [("r-1", 0, "openwop sha256", "accepted", 1)]


def test_an_unproven_delivery_is_counted_and_leaves_no_evidence(host):
    with pytest.raises(Refusal):
        deliver(host, event(0), **{"openwop-signature": "sha256=00"})

    assert Count.objects.get(host=host).reason == "signature_mismatch"
    assert evidence() == []


def test_evidence_holds_a_hash_and_nothing_of_the_body(host):
    deliver(host, event(0, payload={"text": "CANARY"}), sign=app)

    row = ReceivedDelivery.objects.get()
    assert row.subscription_id == "f7ff49e6"
    assert "CANARY" not in repr(row.__dict__)
    assert len(bytes(row.body_sha256)) == 32


@pytest.mark.parametrize(
    ("document", "status", "outcome"),
    [
        ({"runId": "r-1", "event": "x"}, 400, "type"),
        (b"{", 400, "json_invalid"),
        (event(-1), 400, "sequence_invalid"),
        (event(0, payload={"other": 1}), 409, "event_id_conflict"),
    ],
)
def test_a_proven_delivery_that_is_not_taken_leaves_evidence_why(host, document, status, outcome):
    send(host, event(0))

    with pytest.raises(Refusal) as refusal:
        deliver(host, document)

    assert refusal.value.status == status
    assert [row[3] for row in evidence()] == [outcome]
    assert Count.objects.get(host=host).reason == outcome


def test_a_verdict_that_leaks_is_refused_and_holds_its_run(host):
    with pytest.raises(Refusal) as refusal:
        deliver(host, verified(1, "r-1-e0", "fail", result="CANARY"))

    assert refusal.value.details["reason"] == "verifier_content_leak"
    assert run_of(host).held
    assert "CANARY" not in json.dumps(list(Event.objects.values_list("payload", flat=True)))


def test_a_bell_is_answered_at_once_and_its_run_is_marked(host):
    answer = deliver(host, BELL, sign=reference)

    assert (answer.status, answer.body) == (202, {"runId": "r-1", "pull": True})
    assert not Run.objects.exists()
    row = PulledRun.objects.get(host=host, run_id="r-1")
    assert (row.next_at, row.rung_at) == (NOW, NOW)
    assert evidence() == [("r-1", 4, "x-openwop hex", "bell", 1)]


def test_a_bell_makes_a_settled_run_due_again_and_a_due_one_no_later(host):
    PulledRun.objects.create(host=host, run_id="r-1", settled_with=4)
    soon = NOW - timedelta(seconds=30)
    PulledRun.objects.create(host=host, run_id="r-2", next_at=soon)

    deliver(host, BELL)
    deliver(host, BELL | {"runId": "r-2"})

    assert PulledRun.objects.get(run_id="r-1").next_at == NOW
    assert PulledRun.objects.get(run_id="r-2").next_at == soon


def test_a_bell_for_what_is_held_already_rings_nobody(host):
    send(host, event(4))

    answer = deliver(host, BELL)

    assert (answer.status, answer.body["pull"]) == (200, False)
    assert not PulledRun.objects.exists()
    assert [row[3] for row in evidence()] == ["duplicate"]


def test_a_bell_that_could_be_a_verdict_is_owed_to_us(host):
    Host.objects.filter(pk=host.pk).update(base_url="https://host.example")
    host.refresh_from_db()

    for _ in range(2):
        deliver(host, BELL | {"type": "agent.verified"})

    assert PulledRun.objects.get().owed_verdicts == [4]
    assert not Run.objects.exists()


@pytest.mark.parametrize("why", ["turned off", "rests"])
def test_where_nothing_can_be_pulled_now_an_announced_verdict_holds_the_run(host, settings, why):
    Host.objects.filter(pk=host.pk).update(base_url="https://host.example")
    host.refresh_from_db()
    settings.PULL = why != "turned off"
    if why == "rests":
        PulledHost.objects.create(host=host, rests_until=NOW + timedelta(seconds=1))

    deliver(host, BELL | {"type": "agent.verified"})

    assert run_of(host).held


def test_where_nothing_can_be_pulled_an_announced_verdict_holds_the_run(host):
    deliver(host, BELL | {"type": "agent.verified"})

    assert run_of(host).held
    marker = Event.objects.get(type="console.verdict.refused")
    assert (marker.payload["sequence"], marker.payload["reason"]) == (4, "verdict_not_sent")

    send(host, event(3, "agent.decided"), verified(4, "r-1-e3", "pass"))
    assert not run_of(host).held


def test_a_run_of_another_tenant_is_not_the_hosts_to_speak_of(host):
    Host.objects.filter(pk=host.pk).update(tenant="acme")
    host.refresh_from_db()
    foreign = "other/run-0123456789abcdef"

    for document in (event(0, run=foreign), BELL | {"runId": foreign}):
        with pytest.raises(Refusal) as refusal:
            deliver(host, document)
        assert (refusal.value.status, refusal.value.error) == (403, "id_tenant_mismatch")

    assert not Run.objects.exists()
    assert not PulledRun.objects.exists()
    assert deliver(host, event(0, run="acme/run-0123456789abcdef")).body["accepted"] == 1


def test_a_refused_verdict_of_another_tenants_run_makes_no_run_appear(host):
    Host.objects.filter(pk=host.pk).update(tenant="acme")
    host.refresh_from_db()

    with pytest.raises(Refusal):
        deliver(host, verified(1, "x", "fail", run="other/run-0123456789abcdef", result="no"))

    assert not Run.objects.exists()


def test_a_challenge_is_echoed_when_it_is_proven(host):
    answer = deliver(host, {"type": "webhook.verification", "challenge": "abc"}, sign=standard)

    assert (answer.status, answer.body) == (200, {"challenge": "abc"})
    with pytest.raises(Refusal):
        deliver(host, {"challenge": "abc"}, sign=lambda *_: {})


def test_a_new_secret_serves_as_text_and_as_a_standard_key():
    assert len(key_of_standard_secret(new_secret()) or b"") == 32
    assert new_secret() != new_secret()


def test_while_a_secret_is_replaced_both_are_good_until_the_old_one_ends(host):
    fresh = rotate_secret(host=host, overlap=timedelta(hours=1), now=NOW)
    assert unseal(Host.objects.get(pk=host.pk).sealed_webhook_secret) == fresh

    def accepted(sequence, secret, at):
        body = packed(event(sequence))
        headers = v1(body, secret, str(int(at.timestamp())))
        return receive(host=host, headers=headers, raw=body, now=at).body["accepted"]

    assert accepted(0, fresh, NOW) == 1
    assert accepted(1, SECRET, NOW + timedelta(minutes=59)) == 1
    with pytest.raises(Refusal):
        accepted(2, SECRET, NOW + timedelta(hours=1))
    assert accepted(3, fresh, NOW + timedelta(hours=1)) == 1


def test_without_an_overlap_every_old_secret_ends_at_once(host):
    rotate_secret(host=host, overlap=timedelta(hours=1), now=NOW)
    rotate_secret(host=host, overlap=timedelta(0), now=NOW)

    with pytest.raises(Refusal):
        deliver(host, event(0))
    assert not RetiringSecret.objects.exists()


def test_an_overlap_has_an_end(host):
    rotate_secret(host=host, overlap=timedelta(days=365), now=NOW)

    assert RetiringSecret.objects.get().valid_until == NOW + LONGEST_OVERLAP


def test_a_secret_that_cannot_be_opened_is_ours_to_mend_and_the_host_may_retry(host, settings):
    settings.ENCRYPTION_KEY = Fernet.generate_key().decode()
    with pytest.raises(Refusal) as refusal:
        deliver(host, event(0))

    assert (refusal.value.status, refusal.value.retry_after_s) == (503, 60)


def test_nothing_of_a_delivery_is_logged(host, caplog):
    with caplog.at_level(0):
        deliver(host, event(0, payload={"text": "CANARY"}))
        with pytest.raises(Refusal):
            deliver(host, event(1, payload={"text": "CANARY"}), sign=lambda *_: {})

    assert "CANARY" not in caplog.text
    assert SECRET not in caplog.text
