"""The worked examples of gates, through the front door, in whatever way their events arrive."""

import json
import random
from pathlib import Path

import pytest
from django.test import Client

from tests.factories import add_host_named
from tests.logs import at
from verification.models import Gate

pytestmark = pytest.mark.django_db

FIXTURE = Path(__file__).parents[1] / "fixtures" / "gates" / "scenarios.jsonl"
SCENARIOS = [json.loads(text) for text in FIXTURE.read_text().splitlines()]
V2_NAMES = {
    "runOrchestrator.decided": "orchestrator.decided",
    "core.workflowChain.event": "workflow-chain.event",
}


def events_of(scenario) -> list[dict]:
    """The events as a host sends them; the host of `v2-names` speaks v2."""
    names = V2_NAMES if scenario["name"] == "v2-names" else {}
    return [
        {
            "eventId": f"e{sequence}",
            "runId": "run",
            "type": names.get(type_, type_),
            "payload": payload,
            "timestamp": at(sequence).isoformat().replace("+00:00", "Z"),
            "sequence": sequence,
            **({"nodeId": node} if node else {}),
        }
        for sequence, type_, node, payload in scenario["lines"]
    ]


def at_once(events):
    return [events]


def one_by_one(events):
    return [[event] for event in events]


def reversed_at_once(events):
    return [events[::-1]]


def reversed_one_by_one(events):
    return one_by_one(events[::-1])


def shuffled(events):
    order = random.Random(len(events)).sample(events, len(events))
    return [order[start : start + 2] for start in range(0, len(order), 2)]


def doubled(events):
    return [events, *one_by_one(events[::-1]), events]


ARRIVALS = [at_once, one_by_one, reversed_at_once, reversed_one_by_one, shuffled, doubled]


@pytest.mark.parametrize("arrival", ARRIVALS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each["name"])
def test_the_scenario_ends_exactly_as_expected(scenario, arrival):
    host = add_host_named("host", workspace="acme", gating=scenario["gating"])
    caller = Client(headers={"Authorization": f"Bearer {host.key_for_tests}"})

    for batch in arrival(events_of(scenario)):
        answer = caller.post("/api/v1/events", json.dumps(batch), "application/json")
        assert answer.status_code in (200, 201)

    assert told(caller) == expected(scenario)


def told(caller) -> dict:
    """What the API says of the run."""
    gates = caller.get("/api/v1/runs/run/gates").json()
    findings = caller.get("/api/v1/runs/run/findings").json()["findings"]
    waiting = caller.get("/api/v1/escalations?run=run&state=open").json()
    assert waiting["next"] is None
    return {
        "outcome": gates["outcome"],
        "held": gates["held"],
        "gates": {gate["target"]: gate["state"] for gate in gates["gates"]},
        "findings": sorted(
            (each["kind"], each["severity"], each["target"] or "", each["missing"])
            for each in findings
            if each["status"] == "standing"
        ),
        "escalations": sorted(
            (each["reason"], each["target"] or "") for each in waiting["escalations"]
        ),
    }


def expected(scenario) -> dict:
    expect = scenario["expect"]
    return {
        "outcome": expect["outcome"],
        "held": expect["held"],
        "gates": expect["gates"],
        "findings": sorted(
            (each["kind"], each["severity"], each.get("target", ""), each.get("missing", []))
            for each in expect["findings"]
        ),
        "escalations": sorted(
            (each["reason"], each.get("target", "")) for each in expect["escalations"]
        ),
    }


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each["name"])
def test_the_gate_api_lets_through_exactly_what_passed_and_is_complete(scenario):
    host = add_host_named("host", workspace="acme", gating=scenario["gating"])
    caller = Client(headers={"Authorization": f"Bearer {host.key_for_tests}"})
    caller.post("/api/v1/events", json.dumps(events_of(scenario)), "application/json")
    document = caller.get("/api/v1/runs/run/gates").json()

    for target, state in Gate.objects.values_list("target", "state"):
        answer = caller.get(f"/api/v1/gates/{target}?run=run").json()
        is_open = state in ("passed", "overridden") and document["complete"]
        assert (answer["decision"] == "pass") == (is_open and not document["held"])
