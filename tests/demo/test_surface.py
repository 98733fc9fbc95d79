"""The v1 surface: who may call, what is answered, what is refused."""

import json

import httpx
import pytest

from openwop_console.demo.dialects import DIALECTS

ACCEPT = {"action": "accept", "decidedBy": "p-1", "decidedAt": "2026-11-30T08:00:00Z"}
APPROVAL = "captured:postgres.approval"
EVENT = "captured:sqlite.interrupt-external-event"
MATCHING = {"orderId": "fixture-order-1", "status": "completed"}


@pytest.fixture
def waiting(caller):
    """A run that waits for an approval at node `gate`."""
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)
    return run_id


def test_discovery_needs_no_key_and_advertises_a_gating_verifier(caller):
    answer = caller.anonymous.get("/.well-known/openwop")

    assert answer.status_code == 200
    model = answer.json()["multiAgent"]["executionModel"]
    assert model["version"] == 6
    assert model["verifier"] == {"supported": True, "gating": True}
    assert {"protocolVersion", "supportedEnvelopes", "schemaVersions", "limits"} <= set(
        answer.json()
    )


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/runs"),
        ("GET", "/v1/runs"),
        ("GET", "/v1/runs/r"),
        ("GET", "/v1/runs/r/events"),
        ("GET", "/v1/runs/r/events/poll"),
        ("GET", "/v1/runs/r/artifacts/a"),
        ("POST", "/v1/runs/r/cancel"),
        ("POST", "/v1/runs/r/interrupts/n"),
        ("POST", "/v1/webhooks"),
        ("DELETE", "/v1/webhooks/w"),
        ("GET", "/admin/faults"),
    ],
)
@pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Basic a2V5", "Bearer"])
def test_every_other_route_wants_the_key(caller, method, path, authorization):
    headers = {} if authorization is None else {"authorization": authorization}

    answer = caller.anonymous.request(method, path, headers=headers)

    assert answer.status_code == 401
    assert answer.json()["error"] == "unauthenticated"
    assert "wrong" not in answer.text


def test_create_answers_201_with_where_to_look(caller):
    answer = caller.http.post("/v1/runs", json={"workflowId": "research-brief"})

    body = answer.json()
    assert answer.status_code == 201
    assert body["status"] == "pending"
    assert caller.http.get(body["statusUrl"]).json()["runId"] == body["runId"]
    assert caller.http.get(f"{body['eventsUrl']}/poll").status_code == 200


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        (b'{"workflowId": "research-brief"}', "text/plain", 415),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"workflowId": 7}', "application/json", 400),
        (b'{"workflowId": "research-brief", "inputs": []}', "application/json", 400),
        (b'{"workflowId": "no-such"}', "application/json", 404),
        (b" " * 1_048_577, "application/json", 413),
    ],
)
def test_a_create_that_cannot_be_done_is_refused(caller, content, media_type, status):
    answer = caller.http.post("/v1/runs", content=content, headers={"content-type": media_type})

    assert answer.status_code == status
    assert set(answer.json()) <= {"error", "message", "details"}


def test_unknown_routes_and_wrong_methods_are_told_apart(caller):
    assert caller.http.get("/v1/nothing").status_code == 404
    assert caller.http.put("/v1/runs", json={}).status_code == 405
    assert caller.http.get("/v1/runs/").json()["error"] == "run_not_found"


def test_runs_are_listed_and_filtered(caller, waiting):
    everything = caller.http.get("/v1/runs", params={"limit": 1000}).json()["runs"]
    some = caller.http.get("/v1/runs", params={"status": "waiting-approval"}).json()["runs"]

    assert waiting in [run["runId"] for run in everything]
    assert {run["status"] for run in some} == {"waiting-approval"}


def test_a_waiting_snapshot_shows_the_interrupt(caller, waiting):
    shown = caller.snapshot(waiting)

    assert shown["status"] == "waiting-approval"
    assert shown["currentNodeId"] == "gate"
    assert shown["interrupt"]["kind"] == "approval"
    assert shown["interrupt"]["data"]["actions"] == ["accept", "reject"]


def test_an_accept_resumes_and_completes(caller, waiting):
    answer = caller.resolve(waiting, "gate", ACCEPT)

    assert answer.status_code == 200
    assert answer.json() == {"runId": waiting, "nodeId": "gate", "status": "running"}
    assert caller.until_ended(waiting)["status"] == "completed"
    types = [event["type"] for event in caller.events(waiting)]
    assert types[-5:] == [
        "interrupt.resolved",
        "node.resumed",
        "run.resumed",
        "node.completed",
        "run.completed",
    ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"resumeValue": ACCEPT, "note": "x"},
        {"action": "accept"},
        {"resumeValue": {"action": "explode"}},
        {"resumeValue": "accept"},
    ],
)
def test_a_misfit_answer_is_400_and_leaves_the_interrupt_open(caller, waiting, body):
    answer = caller.http.post(f"/v1/runs/{waiting}/interrupts/gate", json=body)

    assert answer.status_code == 400
    assert answer.json()["error"] == "validation_error"
    assert caller.snapshot(waiting)["interrupt"]["nodeId"] == "gate"


def test_an_answer_that_misses_the_resume_schema_is_400(caller):
    run_id = caller.start("captured:openwop-app.agent-low-confidence")
    caller.until_waiting(run_id)

    assert caller.resolve(run_id, "low-conf-decider", {"rejected": False}).status_code == 400
    assert caller.resolve(run_id, "low-conf-decider", {"ratified": True}).status_code == 200


@pytest.mark.parametrize("node", ["nope", "gate%2Fx", "%20"])
def test_an_unknown_node_is_404(caller, waiting, node):
    answer = caller.http.post(f"/v1/runs/{waiting}/interrupts/{node}", json={"resumeValue": ACCEPT})

    assert answer.status_code == 404
    assert answer.json()["error"] == "interrupt_not_found"


@pytest.mark.parametrize(
    ("dialect", "second"),
    [
        ("spec", 409),
        ("in-memory", 409),
        ("python", 409),
        ("sqlite", 404),
        ("postgres", 404),
        ("openwop-app", 404),
    ],
)
def test_a_second_answer_is_refused_as_the_host_does(caller_for, dialect, second):
    caller = caller_for(dialect)
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)

    first = caller.resolve(run_id, "gate", ACCEPT)
    again = caller.resolve(run_id, "gate", {"action": "reject"})

    assert (first.status_code, again.status_code) == (200, second)
    assert caller.until_ended(run_id)["status"] == "completed"


@pytest.mark.parametrize(
    ("dialect", "status", "error"),
    [
        ("spec", 422, "interrupt_cancelled"),
        ("openwop-app", 410, "interrupt_gone"),
        ("sqlite", 404, "interrupt_not_found"),
    ],
)
def test_an_answer_after_a_cancel_is_refused_as_the_host_does(caller_for, dialect, status, error):
    caller = caller_for(dialect)
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)
    cancelled = caller.http.post(f"/v1/runs/{run_id}/cancel", json={"reason": "operator stop"})

    answer = caller.resolve(run_id, "gate", ACCEPT)

    assert cancelled.json() == {"runId": run_id, "status": "cancelled"}
    assert (answer.status_code, answer.json()["error"]) == (status, error)


def test_an_answer_after_its_time_is_410(caller_for):
    from openwop_console.demo.engine import Pace

    caller = caller_for(pace=Pace(interrupt_ttl_s=0.0))
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)

    answer = caller.resolve(run_id, "gate", ACCEPT)

    assert answer.status_code == 410
    assert answer.json()["error"] == "interrupt_expired"


def test_an_external_event_must_match_its_correlation(caller):
    run_id = caller.start(EVENT)
    caller.until_waiting(run_id)

    wrong = caller.resolve(run_id, "wait-for-external", {**MATCHING, "orderId": "other"})
    inside = caller.resolve(run_id, "wait-for-external", {"eventPayload": MATCHING})

    assert wrong.status_code == 422
    assert wrong.json()["error"] == "correlation_mismatch"
    assert inside.status_code == 200


def test_a_token_inspects_and_resolves_without_the_key_and_once(caller):
    run_id = caller.start(EVENT)
    token = caller.until_waiting(run_id)["interrupt"]["interruptToken"]
    path = f"/v1/interrupts/{token}"

    before = caller.anonymous.get(path).json()
    taken = caller.anonymous.post(path, json={"resumeValue": MATCHING})
    again = caller.anonymous.post(path, json={"resumeValue": MATCHING})
    after = caller.anonymous.get(path).json()

    assert (before["kind"], before["resolved"], after["resolved"]) == (
        "external-event",
        False,
        True,
    )
    assert (taken.status_code, again.status_code) == (200, 409)
    assert caller.anonymous.get("/v1/interrupts/unknown").status_code == 404


def test_cancel_cascades_to_children(caller_for):
    from openwop_console.demo.engine import Pace

    caller = caller_for(pace=Pace(beat_s=0.01))
    run_id = caller.start("research-brief")
    child = caller.until(run_id, lambda seen: "childRuns" in seen)["childRuns"][0]["runId"]

    caller.http.post(f"/v1/runs/{run_id}/cancel", json={})

    last = caller.events(child)[-1]
    assert last["type"] == "run.cancelled"
    assert last["payload"] == {"reason": "parent-cancelled", "parentRunId": run_id}


def test_a_run_that_ended_cannot_be_cancelled(caller):
    run_id = caller.start("contract-summary")
    caller.until_ended(run_id)

    answer = caller.http.post(f"/v1/runs/{run_id}/cancel", json={})

    assert answer.status_code == 409
    assert answer.json()["error"] == "run_terminal"


def test_the_same_key_is_one_effect_and_one_answer(caller, waiting):
    first = caller.resolve(waiting, "gate", ACCEPT, key="k-" + waiting)
    again = caller.resolve(waiting, "gate", ACCEPT, key="k-" + waiting)

    assert first.json() == again.json()
    assert "openwop-idempotent-replay" not in first.headers
    assert again.headers["openwop-idempotent-replay"] == "true"
    types = [event["type"] for event in caller.events(waiting)]
    assert types.count("interrupt.resolved") == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_same_key_with_another_body_is_409_in_the_hosts_word(caller_for, dialect):
    caller = caller_for(dialect)
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)
    caller.resolve(run_id, "gate", ACCEPT, key="k-" + run_id)

    answer = caller.resolve(run_id, "gate", {"action": "reject"}, key="k-" + run_id)

    words = {
        "in-memory": "idempotency_key_conflict",
        "openwop-app": "idempotency_key_replay_mismatch",
    }
    assert answer.status_code == 409
    assert answer.json()["error"] == words.get(dialect, "idempotency_key_mismatch")


def test_a_bad_request_is_worked_out_anew_under_its_key(caller, waiting):
    key = "k-" + waiting
    refused = caller.resolve(waiting, "gate", {"action": "explode"}, key=key)
    taken = caller.resolve(waiting, "gate", ACCEPT, key=key)

    assert (refused.status_code, taken.status_code) == (400, 200)


def test_a_key_that_is_not_url_safe_is_refused(caller, waiting):
    assert caller.resolve(waiting, "gate", ACCEPT, key="a b").status_code == 400


def test_a_create_with_a_key_makes_one_run(caller):
    headers = {"idempotency-key": "create-once"}
    body = {"workflowId": "contract-summary"}

    answers = [caller.http.post("/v1/runs", json=body, headers=headers) for _ in range(3)]

    assert len({answer.json()["runId"] for answer in answers}) == 1


def test_artifacts_of_a_run_and_its_children_can_be_fetched(caller):
    run_id = caller.start("refund-policy")
    artifact = caller.until_waiting(run_id)["interrupt"]["data"]["artifactId"]

    found = caller.http.get(f"/v1/runs/{run_id}/artifacts/{artifact}")

    assert "refund" in found.json()["content"]
    assert caller.http.get(f"/v1/runs/{run_id}/artifacts/none").status_code == 404


def test_openwop_app_lists_open_interrupts(caller_for):
    app, spec = caller_for("openwop-app"), caller_for("spec")
    run_id = app.start(APPROVAL)
    waiting = app.until_waiting(run_id)
    path = f"/v1/host/openwop-app/runs/{run_id}/interrupts"

    (listed,) = app.http.get(path).json()["interrupts"]

    assert listed["token"] == waiting["interrupt"]["interruptToken"]
    assert spec.http.get(path).status_code == 404


def test_no_secret_is_in_a_snapshot_or_event(caller, waiting):
    told = json.dumps([caller.snapshot(waiting), caller.events(waiting)])

    assert "key-of-the-tests" not in told


def test_an_encoded_slash_stays_inside_its_segment(caller):
    with httpx.Client(base_url=caller.url) as client:
        assert client.get("/v1/interrupts/a%2Fb").status_code == 404
        assert client.get("/v1/interrupts/a%2Fb").json()["error"] == "interrupt_not_found"
