"""Decisions on their way to a real HTTP host that can misbehave in every way."""

import base64
import json
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.test import TestCase
from django.utils import timezone

from openwop_console.pages.delivery_strip import progress_of
from runs.actions.hosts import connect_host
from runs.models import Event, PulledRun
from tests.factories import add_host_named, person, send
from tests.remote import RunningHost
from verification import bells, sweeping
from verification.actions import deliveries, escalations
from verification.domain.decisions import Action, Decision
from verification.models import Attempt, Delivery, Escalation

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def remote():
    running = RunningHost()
    yield running
    running.stop()


@pytest.fixture
def delivery(remote, settings) -> Delivery:
    """An override of a failed refund, decided and not sent yet."""
    settings.UNDO_S = 0
    remote.call("DELETE", "/admin/faults")
    host = add_host_named("alpha", workspace="acme")
    connect_host(host_id=host.slug, base_url=remote.url, api_key=remote.options.api_key)
    run_id = remote.start("refund-policy")
    bring(remote, host, run_id, until="node.suspended")
    ada = person("ada")
    ada.is_superuser = True
    ada.save()
    found = Escalation.objects.get()
    escalations.claim(escalation=found.pk, by=ada)
    found.refresh_from_db()
    decision = Decision(Action.OVERRIDE, reason="Agreed on the phone.")
    seen = escalations.view_of(found)
    escalations.resolve(escalation=found.pk, by=ada, decision=decision, seen=seen)
    return Delivery.objects.get()


def bring(remote, host, run_id: str, until: str) -> None:
    """Bring a run's events in once one of a type is among them."""
    for _ in range(100):
        poll = remote.call("GET", f"/v1/runs/{run_id}/events/poll", params={"timeout": 1})
        if any(each["type"] == until for each in poll["events"]):
            send(host, *poll["events"])
            return
    raise AssertionError(f"{run_id} never came to {until}")


def misbehave(remote, *faults: str, **more) -> None:
    plan = {"queue": [{"fault": fault} for fault in faults], **more}
    remote.call("PUT", "/admin/faults", json=plan)


def try_again(delivery: Delivery) -> Delivery:
    """Make a delivery due and try it, as the worker does when the sweep rings."""
    Delivery.objects.filter(pk=delivery.pk, next_attempt_at__isnull=False).update(
        next_attempt_at=timezone.now()
    )
    deliveries.attempt(delivery=delivery.pk)
    delivery.refresh_from_db()
    return delivery


def bodies(remote) -> list[bytes]:
    return [base64.b64decode(each["bodyBase64"]) for each in remote.resolves(0)]


def test_a_decision_arrives_with_exactly_the_bytes_that_were_frozen(remote, delivery):
    deliveries.attempt(delivery=delivery.pk)

    delivery.refresh_from_db()
    assert delivery.state == "accepted"
    assert bodies(remote) == [bytes(delivery.content.body)]


def test_it_takes_effect_only_when_the_hosts_own_log_says_so(remote, delivery):
    deliveries.attempt(delivery=delivery.pk)
    delivery.refresh_from_db()
    assert delivery.effect_position is None

    bring(remote, delivery.host, delivery.run.run_id, until="run.completed")
    delivery.refresh_from_db()
    proof = Event.objects.get(run=delivery.run, position=delivery.effect_position)
    assert proof.origin == "host"
    assert proof.type in ("node.resumed", "interrupt.resolved", "run.resumed")


def test_once_the_host_has_it_the_hosts_log_is_read_for_its_effect(remote, delivery):
    PulledRun.objects.all().delete()

    try_again(delivery)

    read = PulledRun.objects.get()
    assert (read.host, read.run_id) == (delivery.host, delivery.run.run_id)
    assert read.next_at <= timezone.now()


def test_a_message_that_comes_twice_sends_once(remote, delivery):
    deliveries.attempt(delivery=delivery.pk)
    deliveries.attempt(delivery=delivery.pk)

    assert len(bodies(remote)) == 1


def test_a_host_that_is_down_gets_the_same_bytes_and_key_later(remote, delivery):
    misbehave(remote, "down", "server_error", "rate_limited")
    for _ in range(3):
        assert try_again(delivery).state == "waiting"
        assert delivery.delivered_at is None
    assert try_again(delivery).state == "accepted"

    received = remote.resolves(0)
    assert len({each["bodyBase64"] for each in received}) == 1
    assert len({each["headers"]["idempotency-key"] for each in received}) == 1
    assert [t.outcome for t in Attempt.objects.order_by("number")][-1] == "answered"


def test_a_host_that_applied_it_and_then_failed_applies_it_once(remote, delivery):
    misbehave(remote, "apply_then_error")
    assert try_again(delivery).state == "waiting"
    assert try_again(delivery).state == "accepted"

    applied = remote.call("GET", "/admin/faults")["applied"]
    assert len(applied) == 1


def test_a_host_that_forgets_keys_is_read_back(remote, delivery):
    misbehave(remote, "apply_then_error", forgetsKeys=True, secondResolve=404)
    try_again(delivery)

    assert try_again(delivery).state == "accepted"
    assert len(remote.call("GET", "/admin/faults")["applied"]) == 1


def test_an_answer_by_somebody_else_is_never_shown_as_delivered(remote, delivery):
    path = f"/v1/runs/{delivery.run.run_id}/interrupts/{delivery.node_id}"
    remote.call("POST", path, json={"resumeValue": {"action": "reject"}})

    try_again(delivery)
    assert delivery.state == "superseded"
    assert (delivery.delivered_at, delivery.accepted_at) == (None, None)


def test_what_somebody_elses_answer_did_is_no_effect_of_ours(remote, delivery):
    path = f"/v1/runs/{delivery.run.run_id}/interrupts/{delivery.node_id}"
    remote.call("POST", path, json={"resumeValue": {"action": "reject"}})
    bring(remote, delivery.host, delivery.run.run_id, until="interrupt.resolved")
    try_again(delivery)

    assert delivery.state == "superseded"
    assert delivery.effect_position is None
    assert not Event.objects.filter(type="console.delivery.took_effect").exists()
    shown = progress_of(delivery.escalation, delivery, delivery.created_at)
    assert shown["state"] == "superseded"


def test_an_effect_that_shows_before_the_answer_is_told_after_it(remote, delivery):
    run_id, first = delivery.run.run_id, deliveries._call

    def called(taken, now):
        answer = first(taken, now)
        bring(remote, delivery.host, run_id, until="run.completed")
        return answer

    with patch.object(deliveries, "_call", called):
        try_again(delivery)

    told = Event.objects.filter(run=delivery.run, type__startswith="console.delivery.")
    assert [each.type.rpartition(".")[2] for each in told.order_by("position")] == [
        "accepted",
        "took_effect",
    ]
    assert delivery.accepted_at <= delivery.effect_at


def test_a_redirect_is_not_followed(remote, delivery):
    misbehave(remote, "redirect")

    assert try_again(delivery).state == "waiting"
    assert len(remote.call("GET", "/admin/faults")["applied"]) == 0


def test_an_address_outside_the_allowed_ranges_is_not_connected_to(remote, delivery, settings):
    settings.ALLOW_PRIVATE = []
    deliveries.attempt(delivery=delivery.pk)

    delivery.refresh_from_db()
    assert delivery.state == "stopped"
    assert "OPENWOP_CONSOLE_ALLOW_PRIVATE" in delivery.words
    assert bodies(remote) == []


def test_a_worker_that_was_thought_dead_records_nothing(remote, delivery):
    taken = deliveries._take(delivery.pk, timezone.now())
    Delivery.objects.filter(pk=delivery.pk).update(fence=7)
    answer = taken.client.resolve_interrupt(
        taken.run_id, taken.node_id, taken.body.content, taken.idempotency_key
    )
    deliveries._record(taken, answer, timezone.now())

    delivery.refresh_from_db()
    assert delivery.state == "sending"


def test_the_sweep_rings_for_a_worker_that_was_lost_on_the_way(delivery, monkeypatch):
    rung = []
    monkeypatch.setattr("runs.bells._ask", lambda task, ids: rung.append((task, ids)))
    deliveries._take(delivery.pk, timezone.now())

    with run_commit_hooks():
        sweeping.ring_for_deliveries(timezone.now())
    assert rung == []
    with run_commit_hooks():
        sweeping.ring_for_deliveries(timezone.now() + timedelta(minutes=1))
    assert rung == [(bells.DELIVER, (delivery.pk,))]


def run_commit_hooks():
    return TestCase.captureOnCommitCallbacks(execute=True)


def test_nothing_of_a_decision_is_in_the_list_of_tries(remote, delivery):
    try_again(delivery)

    said = json.dumps(list(Attempt.objects.values("outcome", "status", "number")))
    assert "phone" not in said
