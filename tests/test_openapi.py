"""The API's description is one, and it is true: every good answer of every operation is held
against it; the refusals are in `test_openapi_fuzz.py`."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from openwop_console.errors import JSON, PROBLEM
from runs.actions.people import grant
from runs.actions.webhook_secrets import rotate_secret
from runs.models import Host, Role
from tests.description import Description, closed
from tests.factories import add_host_named, decided, event, person, send, verified
from tests.raw_http import exchange
from tests.signing import SECRET, v2
from tests.verification.jobs.building import document as job_request
from tests.verification.jobs.building import tasks_document as tasks_request
from tests.verification.jobs.building import team_document as team_request
from tests.verification.jobs.building import worked
from tests.web import serving_web
from verification.actions.tokens import create_token
from verification.domain.hosting.approvals import NODE
from verification.models import Delivery, Escalation, Finding, Job

A_UUID = "7b0c3a52-2f6e-4c1d-9d0e-5a4f1b2c3d4e"
PLACES = ("run", "id", "move", "finding", "target", "job", "receipt", "host", "node")
"""Every name in braces of an address."""


@pytest.fixture
def web(transactional_db, settings):
    settings.HOST_SURFACE = True
    with serving_web() as serving:
        yield serving


@pytest.fixture
def described(web) -> Description:
    return Description(httpx.get(f"{web.url}/api/v1/openapi.json", timeout=30).json())


def test_it_is_a_description_whose_references_and_parameters_fit(described):
    assert [str(each) for each in OpenAPIV31SpecValidator(described.document).iter_errors()] == []


def test_every_operation_says_what_it_takes_and_gives_and_who_may_ask(described):
    bare = []
    for method, path, operation in described.operations():
        told = [operation["summary"], operation["security"]]
        told += [each.get("description") or "enum" in each["schema"] for each in _named(operation)]
        told += [
            bool(content["schema"])
            for answer in operation["responses"].values()
            for content in described.at(answer)["content"].values()
        ]
        bare += [] if all(told) else [f"{method} {path}"]
    assert bare == []


def _named(operation):
    return operation.get("parameters", [])


def test_every_example_is_what_its_schema_says(described):
    schemas = described.document["components"]["schemas"]
    given = {name: each["examples"] for name, each in schemas.items() if "examples" in each}
    assert len(given) > 15

    wrong = {
        name: fault
        for name, examples in given.items()
        for each in examples
        if (fault := described.fault_of(each, {"$ref": f"#/components/schemas/{name}"}))
    }
    assert wrong == {}


def test_a_field_or_a_status_that_is_not_described_is_found(described):
    _, _, operation = described.named("getLimits")

    assert described.fault_in(operation, 200, "application/json", {"limits": {}, "more": 1})
    assert described.fault_in(operation, 418, "application/json", {})
    assert described.fault_in(operation, 200, "text/html", {})
    assert closed({"properties": {}}) == {"properties": {}, "additionalProperties": False}


class Tour:
    """Asks every operation for a good answer, and holds it against the description."""

    def __init__(self, client: httpx.Client, described: Description) -> None:
        self.client, self.described = client, described
        self.seen: set[tuple[str, str]] = set()

    def ask(self, operation_id, *, status=200, key="", places=None, **sent):
        method, path, operation = self.described.named(operation_id)
        headers = sent.pop("headers", {}) | ({"Authorization": f"Bearer {key}"} if key else {})
        address = path.format(**(places or {}))
        answer = self.client.request(method, address, headers=headers, **sent)
        told = f"{method} {address}: {answer.status_code} {answer.text[:500]}"
        assert answer.status_code == status, told
        kind = answer.headers["content-type"]
        fault = self.described.fault_in(operation, status, kind, answer.json())
        assert fault is None, f"{told}: {fault}"
        self.seen.add((operation_id, str(status)))
        return answer.json()


def test_every_good_answer_of_every_operation_is_as_described(web, described, settings):
    settings.UNDO_S = 3600  # what is decided here stays here
    host = add_host_named("alpha", workspace="acme")
    rotate_secret(host=host, secret=SECRET, overlap=timedelta(0))
    ada = person("ada")
    for role in (Role.REVIEWER, Role.ADMIN):
        grant(user=ada, workspace=host.workspace, role=role)
    token = create_token(user=ada, name="tour")

    with httpx.Client(base_url=web.url, timeout=30) as client:
        tour = Tour(client, described)
        send_everything(tour, host)
        read_everything(tour, host)
        review(tour, token)
        start_jobs(tour, host, token)
        be_a_host(tour, host, token)

    good = {
        (operation["operationId"], status)
        for _, _, operation in described.operations()
        for status in operation["responses"]
        if status < "300"
    }
    assert good - tour.seen == set()


def send_everything(tour: Tour, host) -> None:
    key = host.key_for_tests
    start = event(0, "run.started", payload={"workflowId": "w"})
    assert tour.ask("sendEvents", status=201, key=key, json=start)["accepted"] == 1
    assert tour.ask("sendEvents", key=key, json=start)["duplicates"] == 1
    mixed = [decided(1), event(-1), verified(2, "r-1-e1", "fail"), event(4)]
    assert len(tour.ask("sendEvents", status=207, key=key, json=mixed)["rejected"]) == 1
    lines = "\n".join(json.dumps(each) for each in (event(5), event(6, "run.completed")))
    ndjson = {"Content-Type": "application/x-ndjson"}
    tour.ask("sendEvents", key=key, content=lines, headers=ndjson)

    deliver(tour, {"challenge": "word"})
    deliver(tour, event(7, "log.appended", payload={"level": "info", "message": "m"}, nodeId=None))
    bell = {"seq": 9, "runId": "r-1", "type": "node.started", "nodeId": None, "timestamp": "x"}
    deliver(tour, bell, status=202)
    deliver(tour, {**bell, "seq": 1})


def deliver(tour: Tour, document, status: int = 200) -> None:
    body = json.dumps(document).encode()
    signed = v2(body, SECRET, str(int(datetime.now(UTC).timestamp())))
    headers = signed | {"Content-Type": "application/json"}
    places = {"host": "alpha"}
    tour.ask("receiveWebhook", status=status, places=places, content=body, headers=headers)


def read_everything(tour: Tour, host) -> None:
    key = host.key_for_tests
    run = {"run": "r-1"}
    assert tour.ask("listRuns", key=key)["runs"]
    assert tour.ask("getRun", key=key, places=run)["missing"]
    assert tour.ask("listRunEvents", key=key, places=run)["events"]
    assert tour.ask("listRunGates", key=key, places=run)["gates"]
    assert tour.ask("listRunFindings", key=key, places=run)["findings"]
    gate = tour.ask("checkGate", key=key, places={"target": "r-1-e1"})
    tour.ask("getGateReceipt", key=key, places={"receipt": gate["receiptId"]})
    for finding in Finding.objects.all():
        tour.ask("getEvidence", key=key, places={"finding": finding.pk})
    tour.ask("listSigningKeys", key=key)
    tour.ask("getLimits", key=key)
    tour.ask("listModels", key=key)


def review(tour: Tour, token: str) -> None:
    asked = {"kind": "approval", "interruptId": "i-1", "actions": ["accept", "reject", "refine"]}
    host_asks = event(2, "node.suspended", run="r-2", nodeId="review", payload=asked)
    send(Host.objects.get(slug="alpha"), event(0, "run.started", run="r-2"), host_asks)
    assert tour.ask("listEscalations", key=token)["escalations"]
    for found in Escalation.objects.order_by("pk"):
        place = {"id": found.pk}

        def move(name, place=place, **body):
            headers = {"Idempotency-Key": str(uuid.uuid4())}
            where = {**place, "move": name}
            return tour.ask("moveEscalation", key=token, places=where, json=body, headers=headers)

        move("claim")
        move("comment", text="Looks odd.")
        seen = tour.ask("getEscalation", key=token, places=place)
        action = "reject" if found.interrupt else "uphold"
        decided_now = move(
            "resolve", action=action, reason="Seen.", feedback="No.",
            expectedVersion=seen["version"], seenDigest=seen["seenDigest"],
        )  # fmt: skip
        assert decided_now["resolution"]
    assert tour.ask("listDeliveries", key=token)["deliveries"]
    Delivery.objects.update(state="dead", next_attempt_at=None)
    tour.ask("redriveDelivery", key=token, places={"id": Delivery.objects.first().pk})
    assert tour.ask("listAudit", key=token)["entries"]
    assert tour.ask("verifyAudit", key=token)["chainValid"]


def start_jobs(tour: Tour, host, token: str) -> None:
    key = host.key_for_tests
    named = {"Idempotency-Key": "one-and-the-same"}
    taken = tour.ask("startConsensus", status=202, key=key, json=job_request(), headers=named)
    tour.ask("startConsensus", key=key, json=job_request(), headers=named)
    long_form = {"operation": "runConsensus", **job_request()}
    named = {"Idempotency-Key": "another-one"}
    other = tour.ask("startJob", status=202, key=key, json=long_form, headers=named)
    tour.ask("startJob", key=key, json=long_form, headers=named)
    worked(Job.objects.get(uid=taken["id"]))
    assert tour.ask("getJob", key=key, places={"job": taken["id"]})["result"]
    tour.ask("cancelJob", status=202, key=key, places={"job": other["id"]})
    worked(Job.objects.get(uid=other["id"]))
    tour.ask("getJob", key=key, places={"job": other["id"]})
    assert tour.ask("listJobs", key=key)["jobs"]
    start_teams(tour, key, token)


def start_teams(tour: Tour, key: str, token: str) -> None:
    tasks = tour.ask("startJob", status=202, key=key, json=tasks_request())
    worked(Job.objects.get(uid=tasks["id"]))
    assert len(tour.ask("getJob", key=key, places={"job": tasks["id"]})["tasks"]) == 3
    team = tour.ask("startJob", status=202, key=key, json=team_request(approvePlan=True))
    job = Job.objects.get(uid=team["id"])
    worked(job)
    place = {"job": team["id"]}
    plan = tour.ask("getJob", key=key, places=place)["plan"]
    assert plan["awaitsApproval"]
    said = {"approve": True, "seenDigest": plan["seenDigest"]}
    assert tour.ask("decideOnPlan", status=202, key=token, places=place, json=said)["plan"][
        "resolution"
    ]
    worked(job)
    assert tour.ask("getJob", key=key, places=place)["answer"]


ANY_REQUEST = [
    ({"Host": "elsewhere.example"}, ""),
    ({}, "?x=%00"),
    ({"X-Much": "x" * 70_000}, ""),
    ({"Content-Length": str(10**9)}, ""),
    ({}, ""),
    ({"Authorization": "Bearer owc_live_000000000000_" + "x" * 43}, ""),
]


@pytest.mark.parametrize("accept", [JSON, PROBLEM])
def test_whatever_any_request_may_meet_is_described(web, described, accept):
    seen = set()
    for method, path, operation in described.operations():
        address = path.format(**dict.fromkeys(PLACES, A_UUID))
        for headers, query in ANY_REQUEST:
            sent = {"Accept": accept, "Content-Type": "application/json", **headers}
            reply = exchange(web, method=method.upper(), path=address + query, headers=sent)
            told = f"{method} {address}{query}: {reply.status} {reply.body[:300]!r}"
            fault = described.fault_in(operation, reply.status, reply.media_type, reply.json())
            assert fault is None, f"{told}: {fault}"
            assert reply.status == 200 or reply.media_type == accept, told
            seen.add(reply.status)
    assert {400, 401, 413, 431} <= seen <= {200, 400, 401, 404, 413, 431}


def be_a_host(tour: Tour, host, token: str) -> None:
    key = host.key_for_tests
    tour.ask("discoverHost")
    tour.ask("discoverHost", headers={"OpenWOP-Version": "2"})
    tour.ask("proveGate", key=key, json={})
    proof = tour.ask("proveGate", key=key, json={"simulateVerdict": "fail"})
    place = {"run": proof["runId"]}
    assert tour.ask("getHostedRun", key=token, places=place)["interrupt"]
    assert tour.ask("pollHostedRun", key=key, places=place)["isComplete"]
    as_json = {"Accept": "application/json"}
    tour.ask("streamHostedRun", key=key, places=place, headers=as_json)
    tour.ask(
        "resolveHostedInterrupt", key=token,
        places={**place, "node": NODE}, json={"resumeValue": {"action": "reject"}},
    )  # fmt: skip


def test_the_group_that_must_be_switched_on_says_so_and_comes_last(described):
    *others, last = described.document["tags"]

    assert last["name"] == "as a host"
    assert "404 unless `OPENWOP_CONSOLE_HOST_SURFACE=1`" in last["description"]
    assert {"runs", "events"} <= {each["name"] for each in others}
