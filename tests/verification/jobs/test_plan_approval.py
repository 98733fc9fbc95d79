"""A plan is decided on by API as every other matter: as it was seen, once, and within bounds."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from tests.verification.jobs.building import decided, seen, team_document, team_started, worked
from tests.verification.jobs.test_tasks import shouting
from verification.actions import escalations
from verification.actions.jobs import Asker, start
from verification.actions.tokens import create_token
from verification.domain.decisions import Action, Decision
from verification.domain.jobs.requests import read_any
from verification.domain.refusals import AlreadyResolved, ConflictOfInterest
from verification.models import AuditEntry, Escalation, Job, Replay
from verification.queries.job_tasks import team_view

pytestmark = pytest.mark.django_db(transaction=True)

PLAN = team_document()["coordinator"]["settings"]["plan"]


@pytest.fixture
def job(host) -> Job:
    return worked(team_started(host, approvePlan=True))


@pytest.fixture
def decide(ada, job):
    """Return how ada decides on the plan, having seen it, unless something else is said."""
    return decider(ada, job)


def decider(user, job):
    headers = {"Authorization": f"Bearer {create_token(user=user, name='tests')}"}

    def send(key: str = "", **more):
        said = {"approve": True, "seenDigest": seen(job), **more}
        body = {name: value for name, value in said.items() if value is not None}
        kept = {"Idempotency-Key": key} if key else {}
        path = f"/api/v1/jobs/{job.uid}/plan"
        return Client(headers=headers | kept).post(path, body, content_type="application/json")

    return send


def waits(job: Job) -> bool:
    return team_view(job).plan.awaits_approval


def test_the_job_names_the_plan_that_a_decision_is_about(host, job, decide):
    key = {"Authorization": f"Bearer {host.key_for_tests}"}
    plan = Client(headers=key).get(f"/api/v1/jobs/{job.uid}").json()["plan"]
    answer = decide(seenDigest=plan["seenDigest"])

    assert plan["resolution"] is None
    assert answer.status_code == 202
    made = answer.json()["plan"]["resolution"]
    assert (made["approved"], made["changed"], made["by"]) == (True, False, "ada")
    assert AuditEntry.objects.get(action="job.plan_approved").detail["proposed"] == seen(job)


@pytest.mark.parametrize("approve", [True, False])
def test_a_decision_about_another_plan_than_waits_is_refused(job, decide, approve):
    answer = decide(approve=approve, seenDigest="0" * 64)

    assert answer.status_code == 409
    assert answer.json()["details"] == {"reason": "stale", "changed": ["plan"], "since": -1}
    assert waits(job)


def test_nothing_is_decided_unseen(job, decide):
    answer = decide(seenDigest=None)

    assert answer.status_code == 400
    assert answer.json()["details"] == {"reason": "required", "pointer": "/seenDigest"}
    assert waits(job)


def test_who_comes_second_is_told_who_was_first(job, decide, ben):
    plan = [{**PLAN[1], "dependsOn": []}]
    assert decider(ben, job)(plan=plan).status_code == 202
    answer = decide()

    assert answer.status_code == 409
    details = answer.json()["details"]
    assert details == {"reason": "settled", "because": "approved", "by": "ben"}
    assert [task.title for task in team_view(worked(job)).tasks] == ["Write"]


def test_a_decision_that_is_sent_twice_with_one_key_is_made_once_and_kept_without_words(
    job, decide
):
    first, again = decide(key="one-and-the-same"), decide(key="one-and-the-same")
    other = decide(key="one-and-the-same", approve=False)

    assert (first.status_code, again.status_code, other.status_code) == (202, 202, 409)
    assert again.json()["plan"]["resolution"] == first.json()["plan"]["resolution"]
    assert AuditEntry.objects.filter(action="job.plan_approved").count() == 1
    assert Replay.objects.get().answer == {}


def test_of_two_who_decide_at_once_one_decides_and_the_other_is_told(job, ada, ben):
    both = threading.Barrier(2)

    def decide(by: User) -> str:
        try:
            both.wait(20)
            decided(job, by=f"person:{by.pk}", is_approved=by == ada, seen=digest)
        except AlreadyResolved as refused:
            return refused.by
        else:
            return ""
        finally:
            connection.close()

    digest = seen(job)
    with ThreadPoolExecutor(2) as pool:
        told = set(pool.map(decide, (ada, ben)))

    (entry,) = AuditEntry.objects.filter(action__startswith="job.plan_")
    first = ada if entry.action == "job.plan_approved" else ben
    assert told == {"", first.username}
    assert entry.actor == f"person:{first.pk}"


@pytest.mark.parametrize(
    "wish", [{"maxRetries": 6}, {"retryDelayMs": 30_001}, {"verify": {"maxRounds": 11}}]
)
def test_a_person_may_ask_for_no_more_than_a_coordinator(job, decide, wish):
    answer = decide(plan=[{**PLAN[0], **wish}, PLAN[1]])

    assert answer.status_code == 400
    assert answer.json()["details"] == {"reason": "plan", "pointer": "/plan"}
    assert waits(job)


def test_a_cancelled_job_waits_for_no_plan(job, decide, ada):
    Client(headers={"Authorization": f"Bearer {create_token(user=ada, name='more')}"}).post(
        f"/api/v1/jobs/{job.uid}/cancel"
    )
    worked(job)
    answer = decide()

    assert answer.status_code == 409
    assert answer.json()["details"]["reason"] == "no_plan_waits"


def test_who_started_a_job_may_approve_its_plan_but_not_let_its_rejected_result_through(host, ada):
    loud = {"team": shouting()["team"], "verifyJudges": shouting()["judges"]}
    asked = team_document(**loud, approvePlan=True, onRejected="pause")
    job = start(request=read_any(asked), asker=Asker(f"person:{ada.pk}", host.workspace)).job
    worked(job)
    assert decider(ada, job)().status_code == 202
    worked(job)
    found = escalations.claim(escalation=Escalation.objects.get().pk, by=ada)

    with pytest.raises(ConflictOfInterest):
        escalations.resolve(
            escalation=found.pk, by=ada, decision=Decision(Action.OVERRIDE, "Mine."), seen=None
        )
