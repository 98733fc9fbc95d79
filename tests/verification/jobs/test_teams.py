"""Runs of teams as jobs: the plan, its approval, and what the coordinator makes of it all."""

import json
from datetime import timedelta

import pytest

from tests.model_server import says
from tests.verification.jobs.building import decided, team_document, team_started, worked
from tests.verification.jobs.test_tasks import findings, told
from verification.actions.job_people import NothingToApprove, decide_on_plan
from verification.domain.jobs.refusals import JobRefused
from verification.domain.refusals import AlreadyResolved
from verification.models import Content, Job
from verification.queries.job_tasks import team_view
from verification.queries.jobs import phase_of, waited_for_people

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_team_plans_works_and_sums_up(host):
    job = worked(team_started(host))

    assert (job.state, job.basis, job.verdict) == ("done", "quorum", "pass")
    view = team_view(job)
    assert [(task.title, task.state, task.verdict) for task in view.tasks] == [
        ("Find", "completed", "pass"),
        ("Write", "completed", ""),
    ]
    assert [task["title"] for task in view.plan.proposed] == ["Find", "Write"]
    assert view.plan.resolved[0].verify == {
        "judges": ["length", "calm"],
        "mode": "refute",
        "quorum": 1,
        "maxRounds": 2,
        "onDissent": "revise",
    }
    assert view.synthesis == "Water boils at 100 degrees at sea level."
    assert findings(job) == []
    assert told(job)[-3:] == ["agent.decided", "3: end", "run.completed"]


def test_a_team_that_sums_up_with_nothing_passes_no_gate(host, models):
    plan = json.dumps(team_document()["coordinator"]["settings"]["plan"])
    lead = {"name": "lead", "model": "compatible:solver"}
    models.tell(solver=[says(plan), says("")])
    job = worked(team_started(host, coordinator=lead))

    assert (job.basis, job.verdict, job.answer) == ("unfinished", "fail", None)
    assert told(job)[-2:] == ["3: end", "run.completed"]


def test_a_plan_that_cannot_be_run_is_repaired_once_and_then_ends_the_job(host):
    said = {"plan": [{"title": "Find"}], "answer": "Nothing."}
    lead = {"name": "lead", "model": "given", "settings": said}
    job = worked(team_started(host, coordinator=lead))

    assert (job.basis, job.verdict, job.tasks.count()) == ("no_plan", "fail", 0)
    assert list(job.steps.values_list("phase", flat=True)) == ["decomposition", "decomposition"]
    assert findings(job) == []


def test_a_plan_waits_for_a_person_and_is_run_as_they_changed_it(host):
    job = worked(team_started(host, approvePlan=True))
    assert (job.state, job.paused_at is None, job.tasks.count()) == ("running", False, 0)
    assert team_view(job).plan.awaits_approval

    with pytest.raises(JobRefused):
        decided(job, plan=[{"title": "?"}])
    changed = [{"title": "Write", "description": "Write at once.", "assignee": "ada"}]
    decided(job, plan=changed)
    job = worked(job)

    view = team_view(job)
    assert (job.basis, job.verdict) == ("unverified", "")
    assert [task["title"] for task in view.plan.proposed] == ["Find", "Write"]
    assert [task.title for task in view.plan.resolved] == ["Write"]
    with pytest.raises(AlreadyResolved):
        decided(job)


def test_the_run_of_a_job_says_that_a_plan_waits_for_a_person_and_that_it_goes_on(host):
    job = worked(team_started(host, approvePlan=True))
    assert (job.run.status, phase_of(job)) == ("paused", "waiting")

    decided(job)
    job.run.refresh_from_db()
    assert job.run.status == "running"

    types = list(worked(job).run.events.filter(origin="host").values_list("type", flat=True))
    assert types[:3] == ["run.started", "run.paused", "run.resumed"]
    assert types[-1] == "run.completed"


def test_what_a_person_took_to_decide_is_not_what_the_job_took(host):
    job = worked(team_started(host, approvePlan=True))
    asked = job.steps.get(phase="approval")
    decided(job, now=asked.started_at + timedelta(hours=2))

    assert waited_for_people(worked(job).steps.all()) == timedelta(hours=2)


def test_a_refused_plan_is_not_run(host):
    job = worked(team_started(host, approvePlan=True))
    decided(job, is_approved=False)
    job = worked(job)

    assert (job.state, job.basis, job.verdict, job.tasks.count()) == ("done", "no_plan", "fail", 0)


def test_a_plan_whose_words_are_erased_cannot_be_decided_on(host):
    job = worked(team_started(host, approvePlan=True))
    Content.objects.all().delete()

    with pytest.raises(NothingToApprove):
        decide_on_plan(job=job.pk, by="person:1", is_approved=True, seen="")


def test_a_paused_job_loses_no_time(host):
    job = worked(team_started(host, approvePlan=True))
    Job.objects.filter(pk=job.pk).update(deadline_at=job.created_at)
    job = worked(job)
    assert not job.has_ended

    decided(job)
    assert Job.objects.get(pk=job.pk).deadline_at > job.created_at


PLAN = [
    {"title": "Find", "description": "Find it.", "assignee": "solver", "verify": True},
    {"title": "Write", "description": "Write.", "assignee": "solver", "dependsOn": ["Find"]},
]


def test_models_plan_work_judge_and_sum_up(host, models, settings):
    settings.MODELS = [*settings.MODELS, "compatible:lead"]
    models.tell(lead=[says(json.dumps(PLAN)), says("At 100 degrees.")])
    document = team_document(
        team=[{"name": "solver", "model": "compatible:solver"}],
        coordinator={"name": "lead", "model": "compatible:lead"},
        verifyJudges=[{"name": "judge-a", "model": "compatible:judge-a"}],
    )
    job = worked(team_started(host, **document))

    assert (job.basis, job.verdict) == ("quorum", "pass")
    assert (models.asked("lead"), models.asked("solver"), models.asked("judge-a")) == (2, 2, 1)
    synthesis = [call for call in models.calls if call.model == "lead"][1].text
    assert "It boils at 100 degrees." in synthesis
    assert '"verify"' in models.calls[0].text


def test_the_coordinator_hears_of_verification_only_where_judges_are_named(host, models, settings):
    settings.MODELS = [*settings.MODELS, "compatible:lead"]
    models.tell(lead=[says(json.dumps(PLAN)), says("At 100 degrees.")])
    document = team_document(
        team=[{"name": "solver", "model": "compatible:solver"}],
        coordinator={"name": "lead", "model": "compatible:lead"},
        verifyJudges=None,
    )
    job = worked(team_started(host, **document | {"verifyJudges": None}))

    assert '"verify"' not in models.calls[0].text
    assert (job.basis, job.verdict) == ("unverified", "")
