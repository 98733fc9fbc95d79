"""Jobs over HTTP: start, read, cancel; what is refused; the walls."""

import json
from pathlib import Path

import pytest
from django.test import Client

from tests.factories import add_host_named, decided, event, run_of, send
from tests.verification.jobs.building import document, worked
from verification.models import AuditEntry, Content, Job

pytestmark = pytest.mark.django_db(transaction=True)

FOLDER = Path(__file__).parents[2] / "fixtures" / "badinputs"
BAD = [json.loads(line) for line in (FOLDER / "jobs.jsonl").read_text().splitlines()]


def calling(host) -> Client:
    return Client(headers={"Authorization": f"Bearer {host.key_for_tests}"})


@pytest.fixture
def caller(host):
    return calling(host)


def post(client: Client, body, path: str = "consensus", **headers):
    raw = body if isinstance(body, str) else json.dumps(body)
    return client.post(f"/api/v1/{path}", raw, content_type="application/json", headers=headers)


def test_a_job_is_taken_worked_on_and_read(caller):
    answer = post(caller, document())
    assert answer.status_code == 202
    taken = answer.json()
    assert (taken["state"], taken["quorum"], taken["result"]) == ("queued", 2, None)

    worked(Job.objects.get(uid=taken["id"]))

    read = caller.get(f"/api/v1/jobs/{taken['id']}").json()
    assert (read["state"], read["verdict"], read["basis"]) == ("done", "pass", "quorum")
    assert read["result"]["answer"] == "100 degrees at sea level."
    assert read["result"]["verdict"] == "accepted"
    assert [vote["judge"] for vote in read["votes"]] == ["length", "calm"]
    assert caller.get("/api/v1/jobs").json()["jobs"][0]["id"] == taken["id"]


def test_the_same_key_starts_one_job_and_another_body_is_refused(caller):
    first = post(caller, document(), Idempotency_Key="k1")
    again = post(caller, document(), Idempotency_Key="k1")
    other = post(caller, document(prompt="Something else?"), Idempotency_Key="k1")

    assert (first.status_code, again.status_code, other.status_code) == (202, 200, 409)
    assert again.json()["id"] == first.json()["id"]
    assert other.json()["error"] == "idempotency_key_mismatch"
    assert Job.objects.count() == 1


def test_the_long_form_names_its_operation(caller):
    assert post(caller, {"operation": "runConsensus", **document()}, "jobs").status_code == 202
    refused = post(caller, document(), "jobs")
    assert refused.json()["details"] == {"reason": "operation", "pointer": "/operation"}


def test_a_cancelled_job_never_passes_and_asks_nobody(caller):
    taken = post(caller, document()).json()
    assert caller.post(f"/api/v1/jobs/{taken['id']}/cancel").status_code == 202

    job = worked(Job.objects.get(uid=taken["id"]))
    assert (job.state, job.verdict, job.basis, job.stop) == ("done", "fail", "aborted", "cancelled")
    assert not job.votes.exists()
    job.run.refresh_from_db()
    assert (job.run.status, job.run.open_escalations) == ("cancelled", 0)


def test_a_job_of_another_tenant_does_not_exist(caller, other_host):
    theirs = post(calling(other_host), document()).json()

    assert caller.get(f"/api/v1/jobs/{theirs['id']}").status_code == 404
    assert caller.post(f"/api/v1/jobs/{theirs['id']}/cancel").status_code == 404
    assert caller.get("/api/v1/jobs").json()["jobs"] == []


def test_a_key_sees_the_jobs_of_its_own_host_only(host, caller):
    beside = add_host_named("beta", workspace="acme")
    theirs = post(calling(beside), document()).json()

    assert caller.get(f"/api/v1/jobs/{theirs['id']}").status_code == 404


def test_a_viewer_reads_and_starts_nothing(cy, ada, caller):
    post(caller, document())
    reader, reviewer = Client(), Client()
    reader.force_login(cy)
    reviewer.force_login(ada)

    assert len(reader.get("/api/v1/jobs").json()["jobs"]) == 1
    assert post(reader, document()).status_code == 403
    assert post(reviewer, document()).status_code == 202


def test_starting_and_cancelling_is_in_the_audit_chain_without_words(caller):
    taken = post(caller, document(prompt="CANARY?")).json()
    caller.post(f"/api/v1/jobs/{taken['id']}/cancel")

    entries = AuditEntry.objects.filter(subject=f"job:{taken['id']}").order_by("seq")
    assert [entry.action for entry in entries] == ["job.started", "job.cancelled"]
    assert "CANARY" not in repr(list(entries.values()))


def _sent(host, other_host, record) -> str:
    send(host, event(0, "run.started"), decided(1, "writer"))
    send(host, event(0, "run.started", run="r-end"), decided(1, "writer", run="r-end"),
         event(2, "run.completed", run="r-end"))  # fmt: skip
    send(other_host, event(0, run="r-2"), decided(1, "writer", run="r-2"))
    places = {
        "<run>": "r-1",
        "<result>": "r-1-e1",
        "<actor>": "writer",
        "<ended run>": "r-end",
        "<other run>": "r-2",
        "<other result>": "r-2-e1",
    }
    body = record["body"]
    for name, value in places.items():
        body = body.replace(name, value)
    return body.replace("mock-judge", "compatible:judge-a")


@pytest.mark.parametrize("record", BAD, ids=lambda record: record["name"])
def test_what_no_job_can_be_made_of_is_refused_and_leaves_nothing(
    host, caller, other_host, models, settings, caplog, record
):
    body = _sent(host, other_host, record)
    if record.get("setup") == "spent":
        worked(Job.objects.get(uid=post(caller, _spending()).json()["id"]))
        settings.DAILY_TOKENS = 1
    before = (Job.objects.count(), Content.objects.count(), len(models.calls))

    answer = post(caller, body)

    assert answer.status_code in record["status"], answer.json()
    refused = answer.json()
    assert refused["error"] in record["error"]
    if "reasons" in record:
        assert refused["details"]["reason"] in record["reasons"]
    assert "CANARY" not in answer.content.decode() + caplog.text
    assert (Job.objects.count(), Content.objects.count(), len(models.calls)) == before


def _spending():
    judges = [{"name": "judge-a", "model": "compatible:judge-a"}]
    return document(judges=judges, quorum=1)


def test_a_verdict_on_a_hosts_result_gates_that_host(host, caller, models):
    send(host, event(0, "run.started"), decided(1, "writer"))
    body = document(runId="r-1", target="r-1-e1", answer="Boiling!!")
    taken = post(caller, body)
    assert taken.status_code == 202, taken.json()

    worked(Job.objects.get(uid=taken.json()["id"]))

    gate = run_of(host).gates.get(target="r-1-e1")
    assert gate.state == "blocked"
    assert run_of(host).open_escalations == 1
    assert run_of(host).events.filter(type="console.verdict.recorded").count() == 1


def test_a_pass_on_a_hosts_result_opens_its_gate(host, caller):
    send(host, event(0, "run.started"), decided(1, "writer"))
    taken = post(caller, document(runId="r-1", target="r-1-e1")).json()
    worked(Job.objects.get(uid=taken["id"]))

    assert run_of(host).gates.get(target="r-1-e1").state == "passed"
