"""Races and misbehaving hosts, many times over: one decision each, applied once, told truthfully.

Smaller than the drills they stand for, so that they end in a minute; the seed is printed.
"""

import base64
import os
import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from runs.actions.hosts import connect_host
from runs.actions.people import grant
from runs.models import Role
from tests.factories import add_host_named, decided, event, person, send, verified
from tests.remote import RunningHost
from verification.actions import deliveries, escalations
from verification.domain.decisions import Action, Decision
from verification.domain.errors import VerificationError
from verification.models import AuditEntry, Delivery, Escalation, HostRest, Resolution
from verification.queries.audit import verify

RACES = int(os.environ.get("DRILL_RACES", "12"))
REVIEWERS = int(os.environ.get("DRILL_REVIEWERS", "16"))
DECISIONS = int(os.environ.get("DRILL_DECISIONS", "24"))
SEED = int(os.environ.get("DRILL_SEED", "20261130"))
FAULTS = (
    "down", "server_error", "rate_limited", "apply_then_error", "slow_body", "redirect",
    "garbage", "not_found", "no_effect", "already_resolved",
)  # fmt: skip
LIES = ("slow_body", "no_effect", "garbage")
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
        assert Resolution.objects.get(escalation=found).by == winners[0].by
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


@pytest.fixture(scope="module")
def remote():
    running = RunningHost(dialect="sqlite")
    yield running
    running.stop()


@pytest.mark.django_db
def test_every_decision_is_applied_once_whatever_the_host_does(remote, settings):
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    settings.UNDO_S = 0
    host = add_host_named("alpha", workspace="acme")
    connect_host(host_id=host.slug, base_url=remote.url, api_key=remote.options.api_key)
    ada = person("ada")
    grant(user=ada, workspace=host.workspace, role=Role.ADMIN)
    for _ in range(DECISIONS):
        remote.call("DELETE", "/admin/faults")
        faults = [dice.choice(FAULTS) for _ in range(dice.randint(0, 3))]
        delivery = decide(remote, host, ada)
        plan = {"queue": [{"fault": fault} for fault in faults]}
        plan |= {"forgetsKeys": dice.random() < 0.5, "secondResolve": dice.choice([404, 409])}
        remote.call("PUT", "/admin/faults", json=plan)
        drive(delivery)

        seen = remote.call("GET", "/admin/faults")
        bodies = {base64.b64decode(each["bodyBase64"]) for each in seen["received"]}
        keys = {each["headers"]["idempotency-key"] for each in seen["received"]}
        applied = len(seen["applied"])
        assert bodies == {bytes(delivery.content.body)}, faults
        assert keys == {delivery.idempotency_key}, faults
        assert applied <= 1, faults
        if delivery.state == "accepted" and seen["received"][-1]["fault"] in LIES:
            # It said 200 and did nothing: accepted is what it said, an effect is never claimed.
            assert (applied, delivery.effect_position) == (0, None), faults
        elif delivery.state == "accepted":
            assert applied == 1, faults
        else:  # a host that lied about a closed pause: never shown as arrived
            assert delivery.state in ("superseded", "undeliverable"), (delivery.state, faults)
            assert (delivery.accepted_at, delivery.delivered_at) == (None, None)


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


def drive(delivery: Delivery) -> None:
    """Try until it is settled, as the worker does whenever the sweep rings."""
    for _ in range(12):
        Delivery.objects.filter(pk=delivery.pk, next_attempt_at__isnull=False).update(
            next_attempt_at=timezone.now() - timedelta(seconds=1)
        )
        HostRest.objects.update(failures=0, rests_until=None)
        deliveries.attempt(delivery=delivery.pk)
        delivery.refresh_from_db()
        if delivery.state not in ("waiting", "sending"):
            return
    raise AssertionError(f"never settled: {delivery.words}")
