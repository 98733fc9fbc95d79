"""The Console as a host: read and answered by the official OpenWOP client, over real HTTP."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta

import httpx
import pytest
from django.db import connections, transaction
from django.utils import timezone
from openwop_client import OpenwopClient, ResolveInterruptRequest, WopError, stream_events

from runs.actions.people import grant
from runs.models import Role, Workspace
from tests.factories import event, person, send
from tests.model_server import Gate, accepts, dissents
from tests.system.running import eventually
from tests.verification.jobs.building import panel, started, tasks_started, worked
from tests.web import serving_web
from verification.actions import hosting
from verification.actions.askers import asker_of
from verification.actions.job_leases import take
from verification.actions.job_loop import work
from verification.actions.jobs import Asker, start
from verification.actions.tokens import create_token
from verification.domain.capabilities import advertised
from verification.domain.consensus.result import GateVerdict
from verification.domain.jobs.request import read_request
from verification.models import Escalation, Job
from verification.models import Gate as GateRow

pytestmark = pytest.mark.django_db(transaction=True)

REJECTING = [{"name": "cited", "model": "rule:required-citations", "settings": {"minimum": 1}}]
HTTP_TIMEOUT_S = 30


@pytest.fixture
def web(settings, transactional_db):
    settings.HOST_SURFACE = True
    with serving_web() as web:
        yield web


@pytest.fixture
def tokens() -> Callable[..., str]:
    return lambda user: create_token(user=user, name="tests")


@pytest.fixture
def sdk(web) -> Callable[[str], OpenwopClient]:
    """The official client, which speaks v2, with the key that it is given."""
    return lambda key: OpenwopClient(web.url, key, timeout=HTTP_TIMEOUT_S)


@pytest.fixture
def v1(web) -> Iterator[Callable[..., httpx.Response]]:
    with httpx.Client(base_url=web.url, timeout=HTTP_TIMEOUT_S) as client:

        def call(method: str, path: str, key: str, **more) -> httpx.Response:
            headers = {"Authorization": f"Bearer {key}", **more.pop("headers", {})}
            return client.request(method, path, headers=headers, **more)

        yield call


def failed(host, **more) -> Job:
    return worked(started(host, judges=REJECTING, quorum=1, onDissent="reject", **more))


def named(job: Job) -> str:
    return f"{job.workspace.slug}/{job.uid}"


def test_discovery_says_what_the_console_does_and_both_readers_understand_it(web, sdk):
    v1 = httpx.get(f"{web.url}/.well-known/openwop").json()
    said = sdk("nobody").discovery_capabilities()

    model = v1["multiAgent"]["executionModel"]
    assert (model["version"], model["verifier"]) == (6, {"supported": True, "gating": True})
    assert said.protocolVersions == ["1.0", "2.0"]
    assert said.families["multiAgent"].facets["executionModel"]["version"] == 6
    for document in (v1, said.raw):
        claim = advertised(document)
        assert (claim.level, claim.verifies, claim.gates) == (6, True, True)
    assert set(said.families) == {"multiAgent"}


def test_the_official_client_reads_a_console_run_and_resolves_its_interrupt(host, ada, sdk, tokens):
    job = failed(host)
    client = sdk(tokens(ada))

    run = client.runs_get(named(job))
    page = client.runs_poll_events(named(job))
    assert (run.runId, run.status, run.metadata["outcome"]) == (named(job), "completed", "withheld")
    assert run.owner.tenant == "acme"
    assert (run.interrupt["nodeId"], run.interrupt["kind"]) == ("gate", "approval")
    assert run.interrupt["data"]["actions"] == ["accept", "refine", "reject"]
    assert [each.type for each in page.events] == [
        "run.started", "agent.decided", "agent.verified", "orchestrator.decided", "run.completed",
    ]  # fmt: skip
    assert page.isTerminal
    assert page.lastSequence == 4

    done = client.interrupts_resolve_by_run(
        named(job),
        run.interrupt["nodeId"],
        ResolveInterruptRequest({"action": "accept", "feedback": "Read it myself."}),
    )

    after = client.runs_get(named(job))
    assert (done.runId, done.nodeId) == (named(job), "gate")
    assert (after.interrupt, after.metadata["outcome"]) == (None, "committed")
    asked = Escalation.objects.get(run=job.run)
    assert (asked.state, asked.resolution.by, asked.resolution.reason) == (
        "resolved", ada, "Read it myself.",
    )  # fmt: skip


def test_what_v2_says_of_events_fits_its_closed_payloads(host, ada, sdk, tokens):
    page = sdk(tokens(ada)).runs_poll_events(named(failed(host)))

    by_type = {each.type: each for each in page.events}
    assert set(by_type["run.started"].payload) == {"workflowId", "inputs", "owner"}
    assert set(by_type["run.started"].payload["owner"]) == {"tenant", "workspace", "subject"}
    assert set(by_type["agent.verified"].payload) == {"agentId", "target", "verdict"}
    assert set(by_type["orchestrator.decided"].payload) == {"agentId", "decision", "iteration"}
    assert by_type["run.completed"].payload == {"outputs": {}}
    assert by_type["agent.verified"].payload["target"] == by_type["agent.decided"].eventId
    for each in page.events:
        assert 16 <= len(each.eventId) <= 128
        assert each.runId.startswith("acme/")


def test_the_stream_follows_a_run_to_its_end_and_goes_on_where_it_was_left(
    host, ada, sdk, tokens, web, models, settings
):
    gate = Gate(dissents)
    models.tell(judge_a=gate)
    job = started(host, judges=panel("judge-a"), quorum=1, onDissent="reject")
    worker = threading.Thread(target=_work_in_thread, args=(job.pk,))
    worker.start()
    assert gate.reached.wait(60)
    seen = []
    first = threading.Event()

    def listen() -> None:
        for each in stream_events(web.url, tokens(ada), named(job), reconnect=False):
            seen.append(each)
            first.set()
        connections.close_all()

    listener = threading.Thread(target=listen)
    listener.start()
    assert first.wait(60)
    assert [each.type for each in seen][-1] != "run.completed"
    gate.opened.set()
    worker.join(60)
    listener.join(60)

    assert [each.sequence for each in seen] == [0, 1, 2, 3, 4]
    assert seen[-1].type == "run.completed"
    rest = list(stream_events(web.url, tokens(ada), named(job), last_event_id="2", reconnect=False))
    assert [each.sequence for each in rest] == [3, 4]


def _work_in_thread(job: int) -> None:
    try:
        work(job=job)
    finally:
        connections.close_all()


def test_a_poll_waits_for_the_next_event(host, ada, v1, tokens, models):
    gate = Gate(accepts)
    models.tell(judge_a=gate)
    job = started(host, judges=panel("judge-a"), quorum=1)
    worker = threading.Thread(target=_work_in_thread, args=(job.pk,))
    worker.start()
    assert gate.reached.wait(60)
    polled = []

    def poll() -> None:
        path = f"/v1/runs/{job.uid}/events/poll?lastSequence=1&timeout=20"
        polled.append(v1("GET", path, tokens(ada)).json())
        connections.close_all()

    waiting = threading.Thread(target=poll)
    waiting.start()
    gate.opened.set()
    waiting.join(60)
    worker.join(60)

    assert next(each["type"] for each in polled[0]["events"]) == "agent.verified"


def test_v1_clients_read_and_answer_the_same_run(host, ada, v1, tokens):
    job, key = failed(host), tokens(ada)

    run = v1("GET", f"/v1/runs/{job.uid}", key)
    events = v1("GET", f"/v1/runs/{job.uid}/events", key, headers={"Accept": "application/json"})
    answer = v1(
        "POST",
        f"/v1/runs/{job.uid}/interrupts/gate",
        key,
        json={"resumeValue": {"action": "reject"}},
    )

    assert run.headers["OpenWOP-Version"] == "1.0"
    assert run.json()["runId"] == str(job.uid)
    assert run.json()["owner"]["principal"] == "key:test"
    types = [each["type"] for each in events.json()["events"]]
    assert types[-2:] == ["runOrchestrator.decided", "run.completed"]
    assert events.json()["isComplete"] is True
    assert answer.json() == {"runId": str(job.uid), "nodeId": "gate", "status": "completed"}
    assert GateRow.objects.get(run=job.run).state == "upheld"


@pytest.mark.parametrize(
    ("verdict", "status", "committed", "outcome"),
    [
        ("pass", "completed", True, "committed"),
        ("fail", "escalated", False, "withheld"),
        ("revise", "escalated", False, "withheld"),
    ],
)
def test_the_seam_drives_a_real_run_through_the_real_gate(
    host, v1, verdict, status, committed, outcome
):
    answer = v1(
        "POST",
        "/v1/host/sample/agents/verify-run",
        host.key_for_tests,
        json={"simulateVerdict": verdict, "task": "sentinel-of-the-task"},
    ).json()

    job = Job.objects.get(uid=answer["runId"])
    said = (answer["status"], answer["committed"], answer["outcome"], answer["verdict"])
    assert said == (status, committed, outcome, verdict)
    assert answer["events"] == [
        {
            "type": "agent.verified",
            "agentId": "console.consensus",
            "target": job.decided_event,
            "verdict": verdict,
        }
    ]
    assert (job.verdict, job.votes.count()) == (verdict, 1)
    assert (
        GateRow.objects.get(run=job.run).state
        == ({"pass": "passed", "fail": "blocked", "revise": "revise_asked"}[verdict])
    )
    assert "sentinel" not in str(list(job.run.events.values()))


def test_whatever_is_no_verdict_means_pass(host, v1):
    for body in ({}, {"simulateVerdict": "maybe"}, {"simulateVerdict": 7}):
        path = "/v1/host/sample/agents/verify-run"
        assert v1("POST", path, host.key_for_tests, json=body).json()["committed"] is True


def test_a_host_reads_only_the_runs_that_it_asked_for_and_never_decides(
    host, other_host, v1, ada, tokens
):
    job = failed(host)
    path = f"/v1/runs/{job.uid}"
    body = {"resumeValue": {"action": "accept", "feedback": "I say so."}}

    assert v1("GET", path, host.key_for_tests).status_code == 200
    refused = v1("POST", f"{path}/interrupts/gate", host.key_for_tests, json=body)
    assert (refused.status_code, refused.json()["details"]["reason"]) == (403, "person_required")
    foreign = [
        v1("GET", path, other_host.key_for_tests),
        v1("GET", f"{path}/events", other_host.key_for_tests),
        v1("GET", f"{path}/events/poll?timeout=0", other_host.key_for_tests),
        v1("GET", "/v1/runs/nowhere", other_host.key_for_tests),
    ]
    assert {(each.status_code, each.content) for each in foreign} == {(404, foreign[0].content)}


def test_another_tenants_people_find_nothing_and_no_tenant_can_be_claimed(
    host, other_host, sdk, tokens
):
    job = failed(host)
    omar = person("omar")
    grant(user=omar, workspace=other_host.workspace, role=Role.ADMIN)
    client = sdk(tokens(omar))

    for run in (named(job), f"other/{job.uid}", str(job.uid)):
        for call in (
            client.runs_get,
            client.runs_poll_events,
            lambda run: client.interrupts_resolve_by_run(
                run, "gate", ResolveInterruptRequest({"action": "reject"})
            ),
        ):
            with pytest.raises(WopError) as refused:
                call(run)
            assert (refused.value.status, refused.value.envelope.error) == (404, "not_found")
    assert Escalation.objects.get(run=job.run).state == "open"


def test_only_the_consoles_own_runs_are_here(host, ada, v1, tokens):
    send(host, event(0, "run.started"))

    assert v1("GET", "/v1/runs/r-1", tokens(ada)).status_code == 404
    assert v1("GET", "/api/v1/runs/r-1", tokens(ada)).status_code == 200


def test_whoever_started_a_job_does_not_let_its_answer_through(host, ada, ben, v1, tokens):
    document = {"prompt": "Q?", "answer": "A.", "judges": REJECTING, "onDissent": "reject"}
    job = worked(start(request=read_request(document), asker=asker_of(ada)).job)
    path = f"/v1/runs/{job.uid}/interrupts/gate"
    body = {"resumeValue": {"action": "accept", "feedback": "Mine is right."}}

    refused = v1("POST", path, tokens(ada), json=body)
    assert (refused.status_code, refused.json()["details"]["reason"]) == (403, "self_approval")
    assert Escalation.objects.get(run=job.run).state == "open"
    assert v1("POST", path, tokens(ben), json=body).status_code == 200


def test_a_viewer_does_not_decide(host, cy, v1, tokens):
    job = failed(host)
    body = {"resumeValue": {"action": "reject"}}

    refused = v1("POST", f"/v1/runs/{job.uid}/interrupts/gate", tokens(cy), json=body)

    assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"action": "approve"}, "/resumeValue/action"),
        ({"action": "edit-accept"}, "/resumeValue/action"),
        ({"action": "accept"}, "/resumeValue/feedback"),
        ({"action": "refine"}, "/resumeValue/feedback"),
        (
            {"action": "refine", "refineFeedback": {"scope": "none"}},
            "/resumeValue/refineFeedback/scope",
        ),
        ({"action": "reject", "verdict": "pass"}, "/resumeValue"),
        ("accept", "/resumeValue"),
        (None, "/resumeValue"),
    ],
)
def test_a_value_that_is_no_decision_decides_nothing(host, ada, v1, tokens, value, pointer):
    job = failed(host)

    refused = v1(
        "POST", f"/v1/runs/{job.uid}/interrupts/gate", tokens(ada), json={"resumeValue": value}
    )

    assert (refused.status_code, refused.json()["details"]["pointer"]) == (400, pointer)
    asked = Escalation.objects.get(run=job.run)
    assert (asked.state, asked.claimed_by) == ("open", None)


def test_who_decided_is_never_taken_from_what_is_sent(host, ada, v1, tokens):
    job = failed(host)
    value = {"action": "reject", "decidedBy": "ben", "decidedAt": "2020-01-01T00:00:00Z"}

    v1("POST", f"/v1/runs/{job.uid}/interrupts/gate", tokens(ada), json={"resumeValue": value})

    resolution = Escalation.objects.get(run=job.run).resolution
    assert resolution.by == ada
    assert timezone.now() - resolution.at < timedelta(minutes=5)


def test_an_interrupt_is_resolved_once_and_sending_it_again_is_harmless(host, ada, ben, v1, tokens):
    job = failed(host)
    path = f"/v1/runs/{job.uid}/interrupts/gate"
    body = {"resumeValue": {"action": "reject"}}
    key = {"Idempotency-Key": "a-key-of-twenty-two-letters"}

    first = v1("POST", path, tokens(ada), json=body, headers=key)
    again = v1("POST", path, tokens(ada), json=body, headers=key)
    other = v1("POST", path, tokens(ben), json=body)
    elsewhere = v1("POST", path.replace("gate", "nowhere"), tokens(ben), json=body)

    assert (first.status_code, again.json()) == (200, first.json())
    assert (other.status_code, other.json()["error"]) == (409, "interrupt_already_resolved")
    assert (elsewhere.status_code, elsewhere.json()["error"]) == (404, "interrupt_not_found")


def test_every_task_asks_at_a_node_of_its_own_and_hears_no_answer_to_another(
    host, ada, ben, v1, tokens
):
    tasks = [
        {"title": title, "description": "Find it.", "assignee": "ada", "verify": True}
        for title in ("Find", "Check")
    ]
    job = worked(tasks_started(host, tasks=tasks, judges=REJECTING, onRejected="pause"))
    path = f"/v1/runs/{job.uid}"
    shown = v1("GET", path, tokens(ada)).json()["interrupt"]
    run = job.tasks.get(number=1).run.run_id
    assert (shown["nodeId"], shown["data"]["artifactId"]) == ("gate-task-1", run)
    assert shown["data"]["title"].startswith("The judges came to fail on task 1.")

    value = {"resumeValue": {"action": "accept", "feedback": "Read it."}}
    first, late = (
        v1("POST", f"{path}/interrupts/gate-task-1", tokens(who), json=value) for who in (ada, ben)
    )
    nowhere = v1("POST", f"{path}/interrupts/gate", tokens(ben), json=value)

    assert (first.status_code, late.status_code, nowhere.status_code) == (200, 409, 404)
    assert v1("GET", path, tokens(ada)).json()["interrupt"]["nodeId"] == "gate-task-2"
    assert Escalation.objects.waiting().get(run=job.run).target != run


def test_a_claim_of_somebody_else_is_not_walked_over(host, ada, ben, v1, tokens):
    from verification.actions.escalations import claim

    job = failed(host)
    claim(escalation=Escalation.objects.get(run=job.run).pk, by=ben)

    refused = v1(
        "POST",
        f"/v1/runs/{job.uid}/interrupts/gate",
        tokens(ada),
        json={"resumeValue": {"action": "reject"}},
    )

    assert (refused.status_code, refused.json()["details"]["reason"]) == (409, "claimed_by_another")


ADDRESSES = [
    ("GET", "/.well-known/openwop"),
    ("GET", "/v1/runs/{run}"),
    ("GET", "/v1/runs/{run}/events"),
    ("GET", "/v1/runs/{run}/events/poll"),
    ("POST", "/v1/runs/{run}/interrupts/gate"),
    ("POST", "/v1/host/sample/agents/verify-run"),
    ("GET", "/v1/whatever"),
]


def test_when_it_is_off_nothing_is_there_with_a_key_or_without(
    host, ada, v1, sdk, tokens, settings
):
    job = failed(host)
    settings.HOST_SURFACE = False

    for method, path in ADDRESSES:
        for key in (tokens(ada), "wrong"):
            more = {"json": {}} if method == "POST" else {}
            answer = v1(method, path.format(run=job.uid), key, **more)
            assert (path, answer.status_code) == (path, 404)
            assert set(answer.json()) == {"error", "message", "details"}
    client = sdk(tokens(ada))
    for call in (client.discovery_capabilities, lambda: client.runs_get(named(job))):
        with pytest.raises(WopError) as refused:
            call()
        assert (refused.value.status, refused.value.envelope.error) == (404, "not_found")


def test_without_a_key_nothing_but_discovery_is_shown(host, web):
    job = failed(host)

    for method, path in ADDRESSES[1:-1]:
        answer = httpx.request(method, web.url + path.format(run=job.uid), timeout=HTTP_TIMEOUT_S)
        assert (path, answer.status_code) == (path, 401)
        assert answer.json()["error"] == "unauthenticated"


def test_a_key_that_may_not_read_or_ask_is_refused(host, v1):
    from runs.models import HostKey

    job = failed(host)
    HostKey.objects.filter(host=host).update(scopes=["events:write"])

    assert v1("GET", f"/v1/runs/{job.uid}", host.key_for_tests).status_code == 403
    path = "/v1/host/sample/agents/verify-run"
    assert v1("POST", path, host.key_for_tests, json={}).status_code == 403


def test_a_major_that_is_not_spoken_is_refused_with_those_that_are(web, ada, tokens):
    answer = httpx.get(
        f"{web.url}/.well-known/openwop", headers={"OpenWOP-Version": "3.0"}, timeout=HTTP_TIMEOUT_S
    )

    assert (answer.status_code, answer.json()["error"]) == (406, "protocol_version_unsupported")
    assert answer.json()["details"]["protocolVersions"] == ["1.0", "2.0"]


def test_pages_stay_pages_for_whoever_sends_no_version(web):
    answer = httpx.get(f"{web.url}/runs/alpha/events", timeout=HTTP_TIMEOUT_S)

    assert (answer.status_code, answer.headers["location"][:6]) == (302, "/login")


def test_a_stream_whose_client_went_away_is_let_go(host, ada, web, tokens, models):
    from verification.run_stream import RunStream

    gate = Gate(accepts)
    models.tell(judge_a=gate)
    job = started(host, judges=panel("judge-a"), quorum=1)
    headers = {"Authorization": f"Bearer {tokens(ada)}"}
    address = f"{web.url}/v1/runs/{job.uid}/events"
    with httpx.stream("GET", address, headers=headers, timeout=HTTP_TIMEOUT_S) as stream:
        lines = stream.iter_lines()  # kept: one that is dropped closes the connection
        assert next(lines) == "id: 0"
        assert RunStream._open == 1

    eventually(lambda: RunStream._open == 0, within_s=60)


def test_streams_beyond_measure_are_told_to_poll(host, ada, v1, tokens, monkeypatch):
    monkeypatch.setattr("verification.run_stream.MOST_STREAMS", 0)
    job = failed(host)

    answer = v1("GET", f"/v1/runs/{job.uid}/events", tokens(ada))

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


def test_an_unknown_stream_mode_is_refused_with_the_known_ones(host, ada, v1, tokens):
    job = failed(host)

    for mode in ("everything", "values,debug"):
        answer = v1("GET", f"/v1/runs/{job.uid}/events?streamMode={mode}", tokens(ada))
        assert (answer.status_code, answer.json()["error"]) == (400, "unsupported_stream_mode")
        assert answer.json()["details"]["supported"] == ["debug", "messages", "updates", "values"]


def test_somebody_of_several_workspaces_must_not_guess_where_a_proof_runs(host, ada, v1, tokens):
    grant(user=ada, workspace=Workspace.objects.create(slug="second"), role=Role.OPERATOR)

    answer = v1("POST", "/v1/host/sample/agents/verify-run", tokens(ada), json={})

    assert (answer.status_code, answer.json()["details"]["pointer"]) == (400, "/workspace")


def test_a_proof_is_worked_on_by_who_asked_for_it_so_that_nobody_waits_for_a_worker(
    host, monkeypatch
):
    taken = []

    def rings(_: str, job: int, *__: int) -> None:
        transaction.on_commit(lambda: taken.append(take(job=job, now=timezone.now())))

    monkeypatch.setattr("verification.bells.ring", rings)
    asker = Asker("key:test", host.workspace, host)
    job = hosting.prove_gate(asker=asker, verdict=GateVerdict.PASS)

    assert (job.has_ended, job.verdict) == (True, "pass")
    assert taken == [None]  # the worker that was rung found nothing to do
