"""The API of facts over HTTP: keys, shapes, walls between tenants."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from runs.actions.hosts import create_key, revoke_key
from runs.models import HostKey, Run
from tests.factories import event, send

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller(host):
    return calling(host.key_for_tests)


def calling(key: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {key}"})


def post(client: Client, document, **headers):
    return client.post(
        "/api/v1/events", json.dumps(document), content_type="application/json", headers=headers
    )


def test_a_host_sends_an_event_and_reads_it_back(caller):
    sent = event(0, "run.started", payload={"workflowId": "wf"}, engineVersion="1.2")
    assert post(caller, sent).status_code == 201

    answer = caller.get("/api/v1/runs/r-1/events").json()
    assert answer["events"] == [sent]
    assert {key: answer[key] for key in ("runId", "lastSequence", "status", "isTerminal")} == {
        "runId": "r-1",
        "lastSequence": 0,
        "status": "running",
        "isTerminal": False,
    }


def test_events_are_read_in_pages_after_a_sequence(host, caller):
    send(host, *(event(n) for n in range(5)))

    answer = caller.get("/api/v1/runs/r-1/events?after_sequence=1&limit=2").json()
    assert [each["sequence"] for each in answer["events"]] == [2, 3]
    assert answer["lastSequence"] == 3


def test_past_the_end_there_is_nothing_and_the_cursor_stays(host, caller):
    send(host, event(0))

    answer = caller.get("/api/v1/runs/r-1/events?after_sequence=7").json()
    assert (answer["events"], answer["lastSequence"]) == ([], 7)


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer nonsense", "Bearer owc_live_000000000000_" + "x" * 43, "Basic YTpi"],
)
def test_without_a_key_of_ours_the_answer_is_401_and_says_nothing_of_the_key(db, header):
    client = Client(headers={"Authorization": header} if header else {})
    answer = post(client, event(0))

    assert answer.status_code == 401
    assert answer.json()["error"] == "unauthenticated"
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert "nonsense" not in answer.text
    assert not Run.objects.exists()


def test_a_revoked_key_is_refused_at_once(host, caller):
    revoke_key(key_id=HostKey.objects.get(host=host).key_id)

    assert post(caller, event(0)).json()["details"]["reason"] == "key_revoked"


def test_an_expired_key_is_refused(host):
    key = create_key(host=host, expires_at=timezone.now() - timedelta(seconds=1))

    assert post(calling(key), event(0)).json()["details"]["reason"] == "key_expired"


def test_two_keys_of_a_host_work_side_by_side_while_it_rotates(host, caller):
    second = calling(create_key(host=host))

    assert post(caller, event(0)).status_code == 201
    assert post(second, event(1)).status_code == 201


@pytest.mark.parametrize("path", ["", "/r-1", "/r-1/events"])
def test_a_key_that_may_only_write_reads_nothing(host, path):
    send(host, event(0, "run.started"))
    writer = calling(create_key(host=host, scopes=["events:write"]))

    assert writer.get(f"/api/v1/runs{path}").status_code == 403


def test_a_key_without_the_scope_writes_nothing(host):
    reader = calling(create_key(host=host, scopes=["runs:read"]))

    assert post(reader, event(0)).status_code == 403
    assert not Run.objects.exists()


def test_a_key_is_stored_as_a_hash(host):
    secret = host.key_for_tests.rpartition("_")[2]

    stored = HostKey.objects.get(host=host)
    assert secret not in json.dumps([stored.key_id, stored.digest])


@pytest.mark.parametrize("rest", ["", "/events", "/gates", "/findings"])
def test_a_run_of_another_tenant_does_not_exist(host, other_host, rest):
    send(other_host, event(0, run="secret"))

    answer = calling(host.key_for_tests).get(f"/api/v1/runs/secret{rest}")
    missing = calling(host.key_for_tests).get(f"/api/v1/runs/nonexistent{rest}")
    assert (answer.status_code, answer.content) == (404, missing.content)


def test_runs_of_other_hosts_are_not_listed(host, other_host, caller):
    send(host, event(0, run="mine"))
    send(other_host, event(0, run="theirs"))

    assert [run["runId"] for run in caller.get("/api/v1/runs").json()["runs"]] == ["mine"]


@pytest.mark.parametrize(
    ("query", "found"),
    [("tile=failed", ["bad"]), ("tile=running", ["good"]), ("within=1h", ["bad", "good"]),
     ("tile=nothing", []), ("within=nothing", [])],
)  # fmt: skip
def test_the_list_is_narrowed_as_the_page_is(host, caller, query, found):
    send(host, event(0, "run.started", run="good"))
    send(host, event(0, "run.started", run="bad"), event(1, "run.failed", run="bad"))

    assert [run["runId"] for run in caller.get(f"/api/v1/runs?{query}").json()["runs"]] == found


def test_the_list_is_read_in_pages(host, caller):
    for number in range(5):
        send(host, event(0, run=f"r-{number}"))

    first = caller.get("/api/v1/runs?limit=3").json()
    rest = caller.get(f"/api/v1/runs?limit=3&cursor={first['next']}").json()
    found = [run["runId"] for run in first["runs"] + rest["runs"]]
    assert found == ["r-4", "r-3", "r-2", "r-1", "r-0"]
    assert rest["next"] is None


@pytest.mark.parametrize("address", ["acme~2Fr-1", "acme%2Fr-1", "acme/r-1"])
def test_a_run_id_with_a_slash_can_be_asked_for(host, caller, address):
    send(host, event(0, run="acme/r-1234567890123456"))

    path = f"/api/v1/runs/{address.replace('r-1', 'r-1234567890123456')}/events"
    assert caller.get(path).json()["runId"] == "acme/r-1234567890123456"


def test_a_person_must_say_which_host_when_two_have_the_run(host, other_host, client, ada):
    from runs.actions.people import grant
    from runs.models import Role

    grant(user=ada, workspace=other_host.workspace, role=Role.VIEWER)
    send(host, event(0))
    send(other_host, event(0))
    client.force_login(ada)

    assert client.get("/api/v1/runs/r-1").json()["details"]["reason"] == "host_required"
    assert client.get("/api/v1/runs/r-1?host=alpha").json()["host"] == "alpha"


def test_every_limit_is_told_with_the_setting_that_moves_it(caller):
    limits = caller.get("/api/v1/limits").json()["limits"]

    assert limits["batchEvents"] == {
        "limit": 1000,
        "setting": "OPENWOP_CONSOLE_MAX_BATCH_EVENTS",
    }


def test_a_body_above_the_limit_is_refused_with_the_limit(caller):
    answer = caller.post("/api/v1/events", b" " * (5 * 1024 * 1024 + 1), "application/json")

    assert answer.status_code == 413
    assert answer.json()["details"]["setting"] == "OPENWOP_CONSOLE_MAX_BODY_BYTES"


def test_problems_are_told_in_rfc_9457_when_asked_for(caller):
    answer = post(caller, {}, Accept="application/problem+json")

    assert answer.headers["Content-Type"].startswith("application/problem+json")
    assert answer.json()["type"] == "urn:openwop:error:validation_error"


@pytest.mark.parametrize("path", ["/api/v1/nowhere", "/api/v1/runs/x/y/z/w"])
def test_an_unknown_address_is_answered_in_json(caller, path):
    answer = caller.get(path)

    assert answer.status_code == 404
    assert answer.json()["error"] == "not_found"


def test_the_wrong_method_is_answered_in_json(caller):
    answer = caller.get("/api/v1/events")

    assert (answer.status_code, answer.json()["error"]) == (405, "method_not_allowed")


def test_a_session_is_no_key_for_sending(client, ada):
    client.force_login(ada)

    assert post(client, event(0)).status_code in (401, 403)
    assert not Run.objects.exists()
