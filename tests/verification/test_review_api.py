"""The API by which people decide: who may, what is refused and with which words, and what is not
repeated. `fixtures/decisions/requests.jsonl` holds one hostile or odd request a line."""

import json
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from runs.actions.people import grant
from runs.models import Event, Role
from tests.factories import START, decided, event, person, send, verified
from verification.actions import escalations, timeouts
from verification.actions.queues import default_queue
from verification.actions.tokens import create_token, revoke_token
from verification.models import AuditEntry, Delivery, Escalation, Resolution
from verification.queries import api

FIXTURE = Path(__file__).parent.parent / "fixtures" / "decisions" / "requests.jsonl"
REQUESTS = [json.loads(line) for line in FIXTURE.read_text().splitlines()]

pytestmark = pytest.mark.django_db


def pause(sequence: int, run: str = "r-1", **payload) -> dict:
    asked = {"kind": "approval", "interruptId": "i-1", "actions": ["accept", "reject", "refine"]}
    more = {"payload": {**asked, **payload}, "nodeId": "review"}
    return event(sequence, "node.suspended", run=run, **more)


def waiting(host, run="r-1", started=None, **payload) -> Escalation:
    send(host, event(0, "run.started", run=run, payload=started or {}), pause(1, run, **payload))
    return Escalation.objects.get(run__run_id=run, run__host=host)


def claimed(found: Escalation, by) -> Escalation:
    return escalations.claim(escalation=found.pk, by=by)


def expired(found: Escalation) -> Escalation:
    queue = default_queue(found.workspace_id)
    queue.on_timeout = "fail_closed"
    queue.save()
    timeouts.pass_one(escalation=found.pk, now=timezone.now() + timedelta(days=9))
    found.refresh_from_db()
    return found


@pytest.fixture
def matters(host, other_host, ada, ben):
    """One escalation of each kind that a request may be about, made when it is asked for."""

    def cancelled():
        found = waiting(host)
        send(host, event(2, "run.cancelled"))
        found.refresh_from_db()
        return found

    return {
        "waiting": lambda: claimed(waiting(host), ada),
        "other tenant": lambda: waiting(other_host),
        "expired": lambda: expired(waiting(host)),
        "cancelled": cancelled,
        "own run": lambda: claimed(waiting(host, started={"startedBy": "Ada"}), ada),
        "approvers": lambda: claimed_before_named(host, ada),
    }


def claimed_before_named(host, ada):
    """A claim that was made before the host said who may approve."""
    found = claimed(waiting(host), ada)
    send(host, pause(2, approversList=["ben"]))
    found.refresh_from_db()
    return found


class Caller:
    """A client of the API, by a session with its CSRF token, by a bearer key, or by nothing."""

    def __init__(self, user=None, bearer: str = "") -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.headers: dict[str, str] = {"Idempotency-Key": str(uuid.uuid4())}
        if bearer:
            self.headers["Authorization"] = f"Bearer {bearer}"
        if user is not None:
            self.client.force_login(user)
            self.client.get("/queue")
            self.headers |= {
                "X-CSRFToken": self.client.cookies["csrftoken"].value,
                "Origin": "http://testserver",
            }

    def call(self, path, body=None, method="POST", headers=(), content_type="application/json"):
        sent = {**self.headers, **dict(headers)}
        sent = {name: value for name, value in sent.items() if value is not None}
        raw = body if isinstance(body, str | bytes) else json.dumps({} if body is None else body)
        return self.client.generic(method, path, raw, content_type, headers=sent)

    def post(self, found, move, body=None, **more):
        pk = found if isinstance(found, int) else found.pk
        return self.call(f"/api/v1/escalations/{pk}/{move}", body, **more)


def filled(value, version: int):
    if isinstance(value, dict):
        return {name: filled(each, version) for name, each in value.items()}
    if value == "{version}":
        return version
    return "c" * 20_000 if value == "{20000 c}" else value


@pytest.mark.parametrize("asked", REQUESTS, ids=lambda each: each["name"])
def test_a_request_that_must_not_decide_decides_nothing(asked, matters, host, ada, cy):
    on = asked.get("on", "waiting")
    found = matters[on]() if on in matters else matters["waiting"]()
    callers = {"nobody": Caller, "viewer": lambda: Caller(cy)}
    callers["host key"] = lambda: Caller(bearer=host.key_for_tests)
    caller = callers.get(asked.get("by", ""), lambda: Caller(ada))()
    headers = dict(asked.get("headers", {}))
    if headers.get("Idempotency-Key") == "{used}":
        headers["Idempotency-Key"] = "used-for-a-release"
        caller.post(found, "release", headers=headers)
        found = claimed(found, ada)
    pk = 987_654 if on == "nothing" else found.pk
    before = Escalation.objects.values("state", "version").get(pk=found.pk)

    answer = caller.call(
        asked.get("path", f"/api/v1/escalations/{pk}/resolve"),
        asked.get("raw") or filled(asked.get("body"), found.version),
        method=asked.get("method", "POST"),
        headers=headers,
        content_type=asked.get("contentType", "application/json"),
    )

    assert answer.status_code in asked["status"], answer.content
    said = answer.json()
    assert said["error"] in asked["error"]
    assert said["details"].get("reason") in asked.get("reason", [said["details"].get("reason")])
    assert "evil" not in answer.content.decode()
    assert Escalation.objects.values("state", "version").get(pk=found.pk) == before
    assert not Resolution.objects.exists()
    assert not Delivery.objects.exclude(escalation__state="expired").exists()


def test_another_tenants_escalation_answers_like_one_that_never_was(other_host, ada, host):
    theirs = waiting(other_host)
    caller = Caller(ada)

    answers = [caller.post(pk, "claim") for pk in (theirs.pk, 987_654)]

    assert {answer.status_code for answer in answers} == {404}
    assert answers[0].content == answers[1].content


class TestAPersonWithAToken:
    def test_claims_reads_and_decides(self, host, ada):
        found = waiting(host)
        caller = Caller(bearer=create_token(user=ada, name="script"))

        taken = caller.post(found, "claim", headers={"Idempotency-Key": None}).json()
        assert (taken["state"], taken["claimedBy"]) == ("claimed", "ada")
        assert {"accept", "reject", "refine"} <= {each["action"] for each in taken["actions"]}
        body = {"action": "accept", "expectedVersion": taken["version"]}
        answer = caller.post(found, "resolve", {**body, "seenDigest": taken["seenDigest"]})

        assert answer.status_code == 200, answer.content
        assert answer.json()["resolution"]["action"] == "accept"
        assert Delivery.objects.get().state == "waiting"
        assert AuditEntry.objects.filter(action="escalation.resolved").get().actor.startswith("per")

    def test_is_refused_once_the_token_is_revoked(self, host, ada):
        token = create_token(user=ada, name="script")
        revoke_token(user=ada, token_id=token.split("_")[1])

        answer = Caller(bearer=token).post(waiting(host), "claim")
        assert answer.status_code == 401
        assert answer.json()["details"]["reason"] == "key_revoked"

    def test_the_token_itself_is_kept_nowhere(self, ada, host):
        token = create_token(user=ada, name="script")

        said = json.dumps([list(AuditEntry.objects.values_list("subject", "detail"))])
        assert token.split("_")[2] not in said


def test_a_request_sent_twice_is_answered_twice_and_done_once(host, ada):
    found = claimed(waiting(host), ada)
    caller = Caller(ada)
    body = {"action": "accept", "expectedVersion": found.version}

    first, second = caller.post(found, "resolve", body), caller.post(found, "resolve", body)

    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    assert Resolution.objects.count() == 1


def test_a_verdict_that_comes_makes_the_version_stale(host, ada):
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    found = claimed(Escalation.objects.get(), ada)
    send(host, verified(3, "r-1-e1", "fail", critic="critic-2"))

    body = {"action": "override", "reason": "Seen.", "expectedVersion": found.version}
    answer = Caller(ada).post(found, "resolve", body)

    assert answer.status_code == 409
    assert answer.json()["details"]["changed"] == ["escalation"]


def test_the_loser_is_told_who_holds_it_and_until_when(host, ada, ben):
    found = claimed(waiting(host), ada)

    answer = Caller(ben).post(found, "claim")

    assert answer.status_code == 409
    assert answer.json()["details"]["by"] == "ada"
    assert answer.json()["details"]["until"]


def test_an_admin_hands_it_to_a_member_and_to_nobody_else(host, ada, ben):
    grant(user=ben, workspace=host.workspace, role=Role.ADMIN)
    found, caller = waiting(host), Caller(ben)

    assert caller.post(found, "reassign", {"to": "ada"}).json()["claimedBy"] == "ada"
    person("mallory")
    again = caller.post(found, "reassign", {"to": "mallory"}, headers={"Idempotency-Key": None})
    assert again.json()["details"]["reason"] == "not_a_member"


def test_a_comment_is_kept_in_the_restricted_zone_only(host, ada):
    found = waiting(host)

    answer = Caller(ada).post(found, "comment", {"text": "CANARY-33 ask the shop"})

    assert answer.status_code == 200
    assert "CANARY" not in answer.content.decode()
    assert found.comments.get().content.body


def test_several_comments_can_be_made_on_one_escalation(host, ada):
    found, caller = waiting(host), Caller(ada)

    answers = [
        caller.post(found, "comment", {"text": text}, headers={"Idempotency-Key": None})
        for text in ("one", "two", "one")
    ]

    assert [each.status_code for each in answers] == [200, 200, 200]
    assert found.comments.count() == 3
    assert Event.objects.filter(type="console.escalation.commented").count() == 3


def test_escalations_are_listed_due_first_page_by_page(host, ada, monkeypatch):
    monkeypatch.setattr(api, "PAGE", 2)
    found = [waiting(host, run=f"r-{n}") for n in range(5)]
    hours = [5, 1, 3, 1, 2]
    for each, hour in zip(found, hours, strict=True):
        each.due_at = START + timedelta(hours=hour)
        each.save()
    caller, listed, cursor = Caller(ada), [], ""
    while cursor is not None:
        query = f"?state=open&cursor={cursor}"
        page = caller.call(f"/api/v1/escalations{query}", method="GET").json()
        assert len(page["escalations"]) <= 2
        listed += [each["runId"] for each in page["escalations"]]
        cursor = page["next"]

    assert listed == ["r-1", "r-3", "r-4", "r-2", "r-0"]
