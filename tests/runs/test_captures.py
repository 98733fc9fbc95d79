"""Runs recorded from five public hosts: all of them are taken, and arrival does not matter."""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection

from runs.actions.ingest import Body, ingest
from runs.models import Event, Gap, Host, Run
from tests.factories import add_host_named, event
from tests.runs.domain.test_projection import LOG_CANNOT_SAY
from verification.models import Escalation, Finding, Gate

CAPTURES = Path(__file__).parent.parent / "fixtures" / "captures"
HOSTS = sorted(path.stem for path in CAPTURES.glob("*.jsonl"))


def recorded(name: str) -> list[dict]:
    """Return the runs recorded from a host, with the ids that the recordings leave out."""
    with (CAPTURES / f"{name}.jsonl").open(encoding="utf-8") as lines:
        runs = [json.loads(line) for line in lines]
    for run in runs:
        run["runId"] = f"{name}-{run['label']}"
        for sent in run["events"]:
            sent |= {"runId": run["runId"], "eventId": f"{run['runId']}-{sent['sequence']}"}
    return runs


def bring_in(host: Host, events: list[dict]) -> None:
    ingest(host=host, body=Body(json.dumps(events).encode(), "application/json"))


def state_of(host: Host) -> dict:
    """Return everything that must not depend on how the events came."""
    runs = Run.objects.filter(host=host)
    columns = ("run_id", "status", "outcome", "held", "hold_reasons", "event_count", "standing",
               "first_sequence", "last_sequence", "open_escalations", "worst_finding",
               "workflow_id", "parent_run_id", "started_at", "ended_at")  # fmt: skip
    of_runs = {
        "events": (Event.objects.filter(origin="host"), ("event_id", "sequence", "digest")),
        "gaps": (Gap.objects.all(), ("first", "last")),
        "gates": (Gate.objects.all(), ("target", "state", "binding")),
        "findings": (Finding.objects.filter(status="standing"), ("kind", "target", "severity")),
        "escalations": (Escalation.objects.waiting(), ("key", "reason", "reasons", "target")),
    }
    found = {
        name: sorted(map(repr, rows.filter(run__host=host).values_list("run__run_id", *columns_)))
        for name, (rows, columns_) in of_runs.items()
    }
    return {"runs": sorted(map(repr, runs.values_list(*columns))), **found}


@pytest.mark.django_db
@pytest.mark.parametrize("name", HOSTS)
def test_every_recorded_event_is_taken_and_the_status_is_the_hosts_own(name):
    host = add_host_named(name, workspace="acme", gating=None)
    runs = recorded(name)
    for each in runs:
        bring_in(host, each["events"])

    assert Event.objects.filter(origin="host").count() == sum(len(r["events"]) for r in runs)
    folded = dict(Run.objects.values_list("run_id", "status"))
    for run in runs:
        said = LOG_CANNOT_SAY.get((name, run["label"]), run["status"])
        assert folded[run["runId"]] == said, run["label"]


@pytest.mark.django_db(transaction=True)
def test_shuffled_doubled_and_in_any_batches_from_eight_clients_the_end_is_the_same():
    calm = add_host_named("calm", workspace="acme", gating=None)
    wild = add_host_named("wild", workspace="acme", gating=None)
    events = [event for name in HOSTS for run in recorded(name) for event in run["events"]]
    bring_in(calm, events)

    chance = random.Random(20261130)
    arriving = events * 2
    chance.shuffle(arriving)
    batches = []
    while arriving:
        size = chance.choice([1, 2, 10, 100, 1000])
        batches.append(arriving[:size])
        arriving = arriving[size:]

    def send(batch):
        try:
            bring_in(wild, batch)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as clients:
        list(clients.map(send, batches))
    assert state_of(wild) == state_of(calm)


@pytest.mark.django_db(transaction=True)
def test_batches_that_share_old_and_new_runs_never_wait_in_a_ring():
    host = add_host_named("busy", workspace="acme", gating=None)
    chance = random.Random(7)
    sequences = iter(range(10**6))

    def batch() -> list[dict]:
        runs = chance.sample(range(40), 12)
        return [event(next(sequences), run=f"r-{number:02}") for number in runs]

    def send(events):
        try:
            bring_in(host, events)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as clients:
        list(clients.map(send, [batch() for _ in range(60)]))
    assert Event.objects.filter(origin="host").count() == 60 * 12
