"""What a job comes to, as rows and as a run."""

import pytest

from runs.models import Event
from tests.verification.jobs.building import started, worked
from verification.models import Escalation, Gate, JobStep, JudgeVote, Span

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_quorum_of_rules_passes_and_its_run_meets_its_goal(host):
    job = worked(started(host))

    assert (job.state, job.basis, job.verdict, job.rounds) == ("done", "quorum", "pass", 1)
    job.run.refresh_from_db()
    assert (job.run.status, job.run.outcome, job.run.standing) == (
        "completed",
        "goal_met",
        "passed",
    )
    assert list(job.run.events.filter(origin="host").values_list("type", flat=True)) == [
        "run.started",
        "agent.decided",
        "agent.verified",
        "runOrchestrator.decided",
        "run.completed",
    ]
    assert JudgeVote.objects.filter(job=job, accepted=True).count() == 2
    assert JobStep.objects.filter(job=job).count() == 3
    assert not Span.objects.filter(job=job, ended_at=None).exists()


def test_a_rejected_answer_fails_and_waits_for_a_person(host):
    job = worked(started(host, answer="Boiling!!"))

    assert (job.basis, job.verdict) == ("dissent", "fail")
    job.run.refresh_from_db()
    assert job.run.outcome == "gave_up"
    assert Gate.objects.get(run=job.run).state == "blocked"
    assert Escalation.objects.waiting().get(run=job.run).reason == "fail"


def test_the_log_of_a_job_holds_none_of_its_words(host):
    job = worked(started(host, prompt="Is CANARY-Q so?", answer="CANARY-A!! it is."))

    told = repr(list(Event.objects.filter(run=job.run).values()))
    assert "CANARY" not in told
