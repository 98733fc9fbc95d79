"""A host that misbehaves on request, and remembers byte for byte what it was sent."""

import base64

import httpx
import pytest

ACCEPT = {"action": "accept", "decidedBy": "p-1"}
APPROVAL = "captured:postgres.approval"


@pytest.fixture
def faulty(caller_for):
    """A host of its own, well behaved again after each test."""
    caller = caller_for(seed="faulty")
    yield caller
    caller.http.delete("/admin/faults")


@pytest.fixture
def waiting(faulty):
    run_id = faulty.start(APPROVAL)
    faulty.until_waiting(run_id)
    return run_id


def plan(caller, *faults, **more):
    answer = caller.http.put("/admin/faults", json={"queue": list(faults), **more})
    assert answer.status_code == 204, answer.text


def seen(caller):
    return caller.http.get("/admin/faults").json()


def test_the_admin_route_exists_only_when_asked_for(caller_for):
    caller = caller_for(has_faults=False)

    assert caller.http.get("/admin/faults").status_code == 404


def test_a_host_that_is_down_cuts_the_connection_and_applies_nothing(faulty, waiting):
    plan(faulty, {"fault": "down"})

    with pytest.raises(httpx.TransportError):
        faulty.resolve(waiting, "gate", ACCEPT)

    assert seen(faulty)["applied"] == []
    assert faulty.resolve(waiting, "gate", ACCEPT).status_code == 200


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        ("server_error", 500, "internal_error"),
        ("rate_limited", 429, "rate_limited"),
        ("already_resolved", 409, "interrupt_already_resolved"),
        ("not_found", 404, "interrupt_not_found"),
        ("expired", 410, "interrupt_expired"),
    ],
)
def test_a_refusal_on_request_applies_nothing(faulty, waiting, fault, status, error):
    plan(faulty, {"fault": fault, "retryAfter": 3})

    answer = faulty.resolve(waiting, "gate", ACCEPT)

    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer.headers.get("retry-after") == ("3" if status == 429 else None)
    assert faulty.snapshot(waiting)["status"] == "waiting-approval"


def test_an_answer_can_be_applied_and_then_never_confirmed(faulty, waiting):
    plan(faulty, {"fault": "apply_then_hang"})

    with pytest.raises(httpx.ReadTimeout):
        faulty.http.post(
            f"/v1/runs/{waiting}/interrupts/gate",
            json={"resumeValue": ACCEPT},
            headers={"idempotency-key": f"k-{waiting}"},
            timeout=2,
        )
    again = faulty.resolve(waiting, "gate", ACCEPT, key=f"k-{waiting}")

    assert again.status_code == 200
    assert again.headers["openwop-idempotent-replay"] == "true"
    assert len(seen(faulty)["applied"]) == 1


def test_a_forgetful_host_meets_the_repeat_with_its_second_answer(faulty, waiting):
    plan(faulty, {"fault": "apply_then_error"}, forgetsKeys=True)

    first = faulty.resolve(waiting, "gate", ACCEPT, key=f"k-{waiting}")
    again = faulty.resolve(waiting, "gate", ACCEPT, key=f"k-{waiting}")

    assert (first.status_code, again.status_code) == (500, 409)
    assert again.json()["error"] == "interrupt_already_resolved"
    assert faulty.until_ended(waiting)["status"] == "completed"
    assert len(seen(faulty)["applied"]) == 1


def test_the_second_answer_can_be_404_as_on_real_hosts(faulty, waiting):
    plan(faulty, secondResolve=404)

    faulty.resolve(waiting, "gate", ACCEPT)

    assert faulty.resolve(waiting, "gate", ACCEPT).status_code == 404


def test_a_lying_host_says_200_and_does_nothing(faulty, waiting):
    plan(faulty, {"fault": "no_effect"})

    answer = faulty.resolve(waiting, "gate", ACCEPT)

    assert answer.json() == {"runId": waiting, "nodeId": "gate", "status": "running"}
    assert faulty.snapshot(waiting)["status"] == "waiting-approval"
    assert seen(faulty)["applied"] == []


def test_a_redirect_names_where_it_leads(faulty, waiting):
    plan(faulty, {"fault": "redirect", "location": "http://169.254.169.254/"})

    answer = faulty.resolve(waiting, "gate", ACCEPT)

    assert (answer.status_code, answer.headers["location"]) == (307, "http://169.254.169.254/")


def test_garbage_is_200_and_not_json(faulty, waiting):
    plan(faulty, {"fault": "garbage"})

    answer = faulty.resolve(waiting, "gate", ACCEPT)

    assert answer.status_code == 200
    with pytest.raises(ValueError, match=r".*"):
        answer.json()


def test_a_slow_body_drips(faulty, waiting):
    plan(faulty, {"fault": "slow_body"})
    path = f"/v1/runs/{waiting}/interrupts/gate"

    with faulty.http.stream("POST", path, json={"resumeValue": ACCEPT}) as answer:
        drops = answer.iter_bytes()
        assert [next(drops), next(drops)] == [b" ", b" "]


def test_a_huge_body_goes_on_and_on(faulty, waiting):
    plan(faulty, {"fault": "huge_body"})
    path = f"/v1/runs/{waiting}/interrupts/gate"

    received = 0
    with faulty.http.stream("POST", path, json={"resumeValue": ACCEPT}) as answer:
        for chunk in answer.iter_bytes():
            received += len(chunk)
            if received > 8_000_000:
                break

    assert received > 8_000_000
    assert faulty.snapshot(waiting)["status"] == "waiting-approval"


def test_every_answer_is_kept_byte_for_byte_without_the_key(faulty, waiting):
    body = b'{ "resumeValue" : {"action":"accept", "feedback":"\xc3\xa9"} }'
    headers = {"content-type": "application/json", "idempotency-key": f"k-{waiting}"}

    faulty.http.post(f"/v1/runs/{waiting}/interrupts/gate", content=body, headers=headers)

    (entry,) = seen(faulty)["received"]
    assert base64.b64decode(entry["bodyBase64"]) == body
    assert entry["headers"]["idempotency-key"] == f"k-{waiting}"
    assert "authorization" not in entry["headers"]
    assert (entry["path"], entry["status"]) == (f"/v1/runs/{waiting}/interrupts/gate", 200)


def test_a_test_can_wait_for_answers_to_come(faulty, waiting):
    faulty.resolve(waiting, "gate", ACCEPT)

    got = faulty.http.get("/admin/faults", params={"count": 1, "timeout": 5}).json()
    none = faulty.http.get("/admin/faults", params={"count": 9, "timeout": 0}).json()

    assert len(got["received"]) == len(none["received"]) == 1


def test_a_queue_heals_and_a_standing_fault_does_not(faulty, waiting):
    plan(faulty, {"fault": "not_found"}, standing={"fault": "server_error"})

    statuses = [faulty.resolve(waiting, "gate", ACCEPT).status_code for _ in range(4)]
    faulty.http.delete("/admin/faults")

    assert statuses == [404, 500, 500, 500]
    assert faulty.resolve(waiting, "gate", ACCEPT).status_code == 200


def test_a_fault_meets_other_requests_only_when_it_covers_all(faulty, waiting):
    plan(faulty, {"fault": "server_error"}, {"fault": "server_error", "covers": "all"})

    assert faulty.http.get(f"/v1/runs/{waiting}").status_code == 200
    assert faulty.resolve(waiting, "gate", ACCEPT).status_code == 500
    assert faulty.http.get(f"/v1/runs/{waiting}").status_code == 500
    assert faulty.http.get(f"/v1/runs/{waiting}").status_code == 200


@pytest.mark.parametrize("body", [{"queue": [{"fault": "no"}]}, {"queue": [{}]}, {"standing": 1}])
def test_an_unknown_fault_is_refused(faulty, body):
    assert faulty.http.put("/admin/faults", json=body).status_code == 400
