"""The same runs by key, by webhook and by pull end as the same runs, for every recorded host."""

import json
import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.actions.webhook_secrets import rotate_secret
from runs.actions.webhooks import receive
from runs.models import Event, Gap, PulledRun
from runs.sealing import unseal
from tests.factories import add_host_named, event, run_of, send, verified
from tests.recorded import DIALECTS, Recorded, recorded
from tests.runs.conftest import due, pull
from tests.signing import SECRET, packed
from verification.models import Escalation, Finding, Gate

pytestmark = pytest.mark.django_db

SENDS_EVENTS = {"openwop-app", "spec"}
"""Dialects whose deliveries hold the event; the others ring."""


def told_of(host, run_id):
    """What is known of a run, whichever way it became known."""
    run = run_of(host, run_id)
    events = Event.objects.filter(run=run, origin="host").order_by("sequence")
    gates = Gate.objects.filter(run=run).order_by("target")
    findings = Finding.objects.filter(run=run).order_by("kind", "pk")
    asked = Escalation.objects.waiting().filter(run=run).order_by("key")
    return {
        "run": (run.status, run.outcome, run.workflow_id, run.event_count, run.is_terminal),
        "held": (run.held, run.standing, run.worst_finding, run.open_escalations),
        "events": [
            (
                each.sequence,
                each.event_id,
                each.type,
                each.node_id,
                each.payload,
                bytes(each.digest),
            )
            for each in events
        ],
        "gaps": list(Gap.objects.filter(run=run).order_by("first").values_list("first", "last")),
        "gates": list(gates.values_list("target", "state")),
        "findings": list(findings.values_list("kind", "severity")),
        "escalations": list(asked.values_list("key", "state")),
    }


def deliver(remote, host, run, events=None):
    """Deliver the events of a run as the remote host's dialect does."""
    hooks = remote.host.engine.dialect.hooks
    secret = unseal(host.sealed_webhook_secret)
    for each in run.events if events is None else events:
        delivery = hooks.delivery(
            each, webhook_id="wh-1", secret=secret, timestamp=int(time.time())
        )
        headers = {name.lower(): value for name, value in delivery.headers.items()}
        receive(host=host, headers=headers, raw=delivery.body)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_recorded_run_is_the_same_through_each_door(remotes, connected, dialect):
    remote = remotes(dialect)
    runs = [remote.play(each, f"run-{n}") for n, each in enumerate(recorded(dialect))]
    by_key = add_host_named("by-key", workspace="acme")
    by_webhook = connected(remote, "by-webhook")
    by_pull = connected(remote, "by-pull")

    for run in runs:
        send(by_key, *run.events)
        deliver(remote, by_webhook, run)
    PulledRun.objects.filter(host=by_pull).delete()
    pull(by_pull)
    if dialect in SENDS_EVENTS:
        assert not PulledRun.objects.filter(host=by_webhook).exists()
    else:
        assert PulledRun.objects.filter(host=by_webhook).count() == len(runs)
        pull(by_webhook)

    for run, recording in zip(runs, recorded(dialect), strict=True):
        expected = told_of(by_key, run.run_id)
        assert told_of(by_webhook, run.run_id) == expected
        assert told_of(by_pull, run.run_id) == expected
        assert len(expected["events"]) == len(recording.events)
        assert expected["gaps"] == []


@pytest.fixture(scope="module")
def story():
    """A run with a verdict that fails, a pause, and an end."""
    target = "r-1-e1"
    return [
        event(0, "run.started", payload={"workflowId": "wf"}),
        event(1, "agent.decided", nodeId="n1", payload={"agentId": "w", "decision": {"kind": "a"}}),
        verified(2, target, "fail"),
        event(3, "node.suspended", nodeId="ask", payload={"kind": "approval"}),
        event(4, "node.resumed", nodeId="ask"),
        verified(5, target, "pass"),
        event(6, "node.completed", nodeId="n1"),
        event(7, "run.completed"),
    ]


def as_run(story, run_id):
    """The story as another run, its verdicts about its own results."""
    return json.loads(packed(story).decode().replace("r-1", run_id))


@pytest.fixture
def three(remotes, connected):
    """One host behind all doors at once, and the story's host of reference."""
    remote = remotes("spec")
    host = connected(remote)
    rotate_secret(host=host, secret=SECRET)
    return remote, host, add_host_named("reference", workspace="acme")


@given(data=st.data())
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_any_interleaving_of_the_doors_ends_in_the_same_run(three, story, data):
    remote, host, reference = three
    run_id = f"r-{random.randrange(10**9)}"
    events = as_run(story, run_id)
    send(reference, *events)
    run = remote.begin(recorded_as(events), run_id)
    doors = data.draw(st.lists(st.sampled_from(["key", "webhook", "bell", "pull"]), max_size=8))
    for door in doors:
        some = data.draw(st.lists(st.sampled_from(events), min_size=1, max_size=4))
        match door:
            case "key":
                send(host, *some)
            case "webhook":
                deliver(remote, host, run, some)
            case "bell":
                bells = [{k: v for k, v in each.items() if k != "payload"} for each in some]
                deliver(remote, host, run, bells)
            case "pull":
                upto = data.draw(st.integers(len(run.events), len(events)))
                run.events, run.types = events[:upto], [each["type"] for each in events[:upto]]
                due(host, run_id)
                pull(host)
    run.events, run.status = list(events), "completed"
    run.types = [each["type"] for each in events]
    due(host, run_id)
    pull(host)

    assert told_of(host, run_id) == told_of(reference, run_id)


def recorded_as(events):
    return Recorded("spec", "story", "completed", tuple(events))
