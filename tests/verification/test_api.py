"""The shapes in which gates, findings and escalations are read."""

import pytest
from django.test import Client

from tests.factories import decided, event, send, verified
from verification.models import Escalation

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller(host):
    send(host, event(0, "run.started"), decided(1))
    send(host, verified(2, "r-1-e1", "fail", confidence=0.9, criteria=["cited"]))
    send(host, event(4, "run.completed"))
    return Client(headers={"Authorization": f"Bearer {host.key_for_tests}"})


def test_the_gates_of_a_run(caller):
    assert caller.get("/api/v1/runs/r-1/gates").json() == {
        "runId": "r-1",
        "outcome": "ended",
        "held": False,
        "complete": False,
        "gates": [
            {
                "target": "r-1-e1",
                "state": "blocked",
                "binding": "gating",
                "subject": {"kind": "turn", "eventId": "r-1-e1", "agentId": "worker-1"},
                "selfVerified": False,
                "verdicts": [
                    {
                        "eventId": "r-1-e2",
                        "verifier": "critic-1",
                        "verdict": "fail",
                        "sequence": 2,
                        "standing": True,
                        "confidence": 0.9,
                        "criteria": ["cited"],
                    }
                ],
                "escalationId": Escalation.objects.get().pk,
            }
        ],
    }


def test_the_findings_of_a_run(caller):
    (found,) = caller.get("/api/v1/runs/r-1/findings").json()["findings"]

    assert found["evidence"][1] == {"eventId": "r-1-e2", "sequence": 2, "type": "agent.verified"}
    assert found["missing"] == [[3, 3]]
    assert found["capabilities"]["verifier"]["gating"] is True
    assert {key: found[key] for key in ("kind", "severity", "target", "status")} == {
        "kind": "success_after_fail",
        "severity": "not_provable",
        "target": "r-1-e1",
        "status": "standing",
    }
    assert found["explanation"].startswith("critic-1 said fail at sequence 2")


def test_the_open_escalations_of_a_run(caller):
    answer = caller.get("/api/v1/escalations?run=r-1&state=open").json()
    (found,) = answer["escalations"]

    assert answer["next"] is None
    assert {key: found[key] for key in ("state", "reason", "reasons", "target", "runId")} == {
        "state": "open",
        "reason": "fail",
        "reasons": ["fail"],
        "target": "r-1-e1",
        "runId": "r-1",
    }
    assert {"id", "interrupt", "openedAt", "dueAt", "claimedBy"} <= found.keys()
    assert caller.get("/api/v1/escalations?run=r-2").json()["escalations"] == []
    assert caller.get("/api/v1/escalations?state=resolved").json()["escalations"] == []
