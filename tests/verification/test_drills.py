"""Races and misbehaving hosts, many times over: one decision each, applied once, told truthfully.

Smaller than the drills they stand for, so that they end in a minute. At full size, by hand:

    DRILL_RACES=200 DRILL_REVIEWERS=32 DRILL_DECISIONS=1000 DRILL_OUTAGE=20 \
        pytest -s --timeout 0 tests/verification/test_drills.py

`DRILL_SEED` repeats a drill; the seed and what became of the decisions are printed.
"""

import base64
import os
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.conf import settings as settings_of_django
from django.db import connection
from django.utils import timezone

from openwop_console.pages.delivery_strip import progress_of
from runs.actions.hosts import connect_host
from runs.actions.people import grant
from runs.models import Role
from runs.sealing import unseal
from tests.factories import add_host_named, decided, event, person, send, verified
from tests.remote import RunningHost
from verification.actions import deliveries, escalations
from verification.domain.decisions import Action, Decision
from verification.domain.errors import VerificationError
from verification.domain.refusals import AlreadyClaimed, AlreadyResolved
from verification.host import HostClient
from verification.models import (
    AuditEntry,
    Delivery,
    Escalation,
    HostRest,
    Notification,
    Resolution,
)
from verification.queries.audit import verify

RACES = int(os.environ.get("DRILL_RACES", "12"))
REVIEWERS = int(os.environ.get("DRILL_REVIEWERS", "16"))
DECISIONS = int(os.environ.get("DRILL_DECISIONS", "24"))
OUTAGE = int(os.environ.get("DRILL_OUTAGE", "4"))
SEED = int(os.environ.get("DRILL_SEED", "20261130"))
DEADLINE_S = 0.7
"""Of one attempt here, so that a host that never answers costs a drill no ten seconds."""
FAULTS = (
    "down", "server_error", "rate_limited", "apply_then_error", "apply_then_hang", "slow_body",
    "redirect", "garbage", "huge_body", "not_found", "no_effect", "already_resolved", "expired",
)  # fmt: skip
LIES = ("slow_body", "no_effect", "garbage", "huge_body")
"""200, and nothing is applied."""
DENIALS = ("not_found", "already_resolved", "expired")
"""A pause that is open is denied; nothing is applied."""
ACTIONS = (Decision(Action.OVERRIDE, reason="Yes."), Decision(Action.UPHOLD))


@pytest.mark.django_db(transaction=True)
def test_of_many_who_claim_and_decide_at_once_one_decides(host):
    crowd = [person(f"reviewer-{number}") for number in range(REVIEWERS)]
    for each in crowd:
        grant(user=each, workspace=host.workspace, role=Role.REVIEWER)
    for race in range(RACES):
        run = f"race-{race}"
        send(host, event(0, "run.started", run=run), decided(1, run=run))
        send(host, verified(2, f"{run}-e1", "fail", run=run))
        found = Escalation.objects.get(run__run_id=run)

        def attempt(at: int, found=found):
            try:
                taken = escalations.claim(escalation=found.pk, by=crowd[at])
                seen = escalations.view_of(taken)
                decision = ACTIONS[at % 2]
                return escalations.resolve(
                    escalation=found.pk, by=crowd[at], decision=decision, seen=seen
                )
            except VerificationError as refused:
                return refused
            finally:
                connection.close()

        with ThreadPoolExecutor(REVIEWERS) as pool:
            outcomes = list(pool.map(attempt, range(REVIEWERS)))
        winners = [each for each in outcomes if isinstance(each, Resolution)]
        assert len(winners) == 1
        assert all(isinstance(each, VerificationError | Resolution) for each in outcomes)
        winner = winners[0].by
        assert Resolution.objects.get(escalation=found).by == winner
        named = {each.by for each in outcomes if isinstance(each, AlreadyClaimed | AlreadyResolved)}
        assert named <= {winner.username}
        resolved = AuditEntry.objects.filter(
            subject=f"escalation:{found.pk}", action="escalation.resolved"
        )
        assert resolved.count() == 1
    result = verify(host.workspace)
    assert (result["chainValid"], result["anomalies"]) == (True, [])


@pytest.mark.django_db(transaction=True)
def test_of_many_answers_of_one_holder_at_once_one_counts(host, ada):
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    found = Escalation.objects.get()
    seen = escalations.view_of(escalations.claim(escalation=found.pk, by=ada))

    def attempt(at: int):
        try:
            return escalations.resolve(
                escalation=found.pk, by=ada, decision=ACTIONS[at % 2], seen=seen
            )
        except VerificationError as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(attempt, range(8)))
    assert sum(isinstance(each, Resolution) for each in outcomes) == 1


@pytest.fixture(scope="module", params=["sqlite", "spec"])
def remote(request):
    """A host whose log says that a pause ended but not how, and one that says everything."""
    running = RunningHost(dialect=request.param)
    yield running
    running.stop()


@pytest.mark.django_db
def test_every_decision_is_applied_once_whatever_the_host_does(remote, settings, monkeypatch):
    """Hosts that are down, fail, hang, forget and lie; workers that die after they sent."""
    print(f"seed {SEED}")
    dice, ends = random.Random(SEED), Counter[str]()
    settings.UNDO_S = 0
    monkeypatch.setattr(deliveries, "client_of", impatient_client)
    host = add_host_named("alpha", workspace="acme")
    connect_host(host_id=host.slug, base_url=remote.url, api_key=remote.options.api_key)
    ada = person("ada")
    grant(user=ada, workspace=host.workspace, role=Role.ADMIN)
    for _ in range(DECISIONS // 2):
        remote.call("DELETE", "/admin/faults")
        faults = [dice.choice(FAULTS) for _ in range(dice.randint(0, 3))]
        delivery = decide(remote, host, ada)
        plan = {"queue": [{"fault": fault} for fault in faults]}
        plan |= {"forgetsKeys": dice.random() < 0.5, "secondResolve": dice.choice([404, 409])}
        remote.call("PUT", "/admin/faults", json=plan)
        drive(delivery, dice)

        seen = remote.call("GET", "/admin/faults")
        bodies = {base64.b64decode(each["bodyBase64"]) for each in seen["received"]}
        keys = {each["headers"]["idempotency-key"] for each in seen["received"]}
        assert bodies == {bytes(delivery.content.body)}, faults
        assert keys == {delivery.idempotency_key}, faults
        met = [each["fault"] for each in seen["received"]]
        check_end(delivery, len(seen["applied"]), met, remote.options.dialect)
        ends[f"{delivery.state}, applied {len(seen['applied'])} times"] += 1
    print(dict(ends))


def check_end(delivery: Delivery, applied: int, met: list[str], dialect: str) -> None:
    """Compare what is shown of a decision with what the host did with it."""
    shown = progress_of(delivery.escalation, delivery, delivery.created_at)
    is_on = {each["word"]: each["state"] == "done" for each in shown["lights"]}
    assert applied <= 1, met
    assert not is_on["Took effect"], met  # no line of the host has come in since
    if delivery.state == "accepted":
        told_so = met[-1] in LIES
        assert applied == 1 or (told_so and applied == 0), met
        return
    # The host denied an open pause, or does not say who closed it: never shown as arrived, and
    # a person is told. A log that says everything leaves no such doubt.
    assert delivery.state in ("superseded", "undeliverable"), (delivery.state, met)
    assert set(met) & {*DENIALS} or (dialect != "spec" and applied == 1), met
    assert not is_on["Delivered"], met
    assert not is_on["Accepted"], met
    assert Notification.objects.filter(delivery=delivery, kind="not_delivered").exists()


@pytest.mark.django_db
def test_a_host_that_is_down_for_a_day_gets_every_decision_once_when_it_is_back(remote, settings):
    settings.UNDO_S = 0
    host = add_host_named("alpha", workspace="acme")
    connect_host(host_id=host.slug, base_url=remote.url, api_key=remote.options.api_key)
    ada = person("ada")
    grant(user=ada, workspace=host.workspace, role=Role.ADMIN)
    remote.call("DELETE", "/admin/faults")
    waiting = [decide(remote, host, ada) for _ in range(OUTAGE)]
    remote.call("PUT", "/admin/faults", json={"standing": {"fault": "down"}})
    for _ in range(30):
        for delivery in waiting:
            make_due(delivery)
            deliveries.attempt(delivery=delivery.pk)
    for delivery in waiting:
        delivery.refresh_from_db()
        assert (delivery.state, delivery.attempts) == ("waiting", 30)
        assert delivery.words

    remote.call("DELETE", "/admin/faults")
    for delivery in waiting:
        drive(delivery)
    applied = remote.call("GET", "/admin/faults")["applied"]
    assert {each.state for each in waiting} == {"accepted"}
    assert sorted(each["runId"] for each in applied) == sorted(d.run.run_id for d in waiting)


def impatient_client(host) -> HostClient:
    return HostClient(
        base_url=host.base_url,
        api_key=unseal(host.sealed_api_key),
        allow_private=settings_of_django.ALLOW_PRIVATE,
        deadline_s=DEADLINE_S,
    )


def decide(remote, host, ada) -> Delivery:
    run_id = remote.start("captured:sqlite.interrupt-external-event")
    rows = Escalation.objects.waiting().filter(run__run_id=run_id)
    for _ in range(50):
        poll = remote.call("GET", f"/v1/runs/{run_id}/events/poll", params={"timeout": 1})
        send(host, *poll["events"])
        if rows.exists():
            break
    found = rows.get()
    seen = escalations.view_of(escalations.claim(escalation=found.pk, by=ada))
    decision = Decision(Action.REPORT_EVENT, reason="It happened.", edited={})
    said = escalations.resolve(escalation=found.pk, by=ada, decision=decision, seen=seen)
    return said.delivery


def make_due(delivery: Delivery) -> None:
    HostRest.objects.update(failures=0, rests_until=None)
    Delivery.objects.filter(pk=delivery.pk, next_attempt_at__isnull=False).update(
        next_attempt_at=timezone.now() - timedelta(seconds=1)
    )


class Killed(BaseException):
    """What a worker does not survive."""


def drive(delivery: Delivery, dice: random.Random | None = None) -> None:
    """Try until it is settled, as workers do whenever the sweep rings; some die after they sent."""
    for _ in range(16):
        make_due(delivery)
        if dice is not None and dice.random() < 0.2:
            with patch.object(deliveries, "_record", side_effect=Killed), suppress(Killed):
                deliveries.attempt(delivery=delivery.pk)
            Delivery.objects.filter(pk=delivery.pk, state="sending").update(
                lease_until=timezone.now() - timedelta(seconds=1)
            )
        else:
            deliveries.attempt(delivery=delivery.pk)
        delivery.refresh_from_db()
        if delivery.state not in ("waiting", "sending"):
            return
    raise AssertionError(f"never settled: {delivery.words}")
