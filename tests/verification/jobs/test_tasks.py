"""Runs of tasks as jobs: order, verification, merging, and what the run's log says of them."""

import pytest

from runs.models import Event, Run
from tests.verification.jobs.building import tasks_started, worked
from verification.models import Escalation, Finding, Gate, Job, JobTask, MemoryEntry, Span

pytestmark = pytest.mark.django_db(transaction=True)


def told(job: Job) -> list[str]:
    """Return what the job's run says in short: types, and what happened to which task."""
    return [_short(event) for event in job.run.events.filter(origin="host").order_by("position")]


def _short(event: Event) -> str:
    payload = event.payload
    match event.type:
        case "core.workflowChain.event":
            return f"{payload['phase']} {payload['workerId'].partition(':')[0]}"
        case "runOrchestrator.decided":
            workers = payload["decision"].get("nextWorkerIds", ["end"])
            return f"{payload['iteration']}: {' '.join(each.partition(':')[0] for each in workers)}"
        case "agent.verified":
            return f"verified {payload['verdict']}"
        case _:
            return event.type


def findings(job: Job) -> list[str]:
    """Return what the Console's own rules found in the job's run and those of its tasks."""
    runs = Run.objects.filter(host=job.run.host)
    return list(Finding.objects.filter(run__in=runs).values_list("kind", flat=True))


def test_a_run_of_tasks_ends_with_every_accepted_result_merged(host):
    job = worked(tasks_started(host))

    assert (job.state, job.basis, job.verdict) == ("done", "quorum", "pass")
    rows = JobTask.objects.filter(job=job).order_by("number")
    assert list(rows.values_list("status", "verdict", "is_withheld")) == [
        ("completed", "pass", False),
        ("completed", "pass", False),
        ("completed", "", False),
    ]
    assert told(job) == [
        "run.started",
        "1: task-1 task-2",
        "dispatch.began task-1",
        "dispatch.began task-2",
        "dispatch.succeeded task-1",
        "dispatch.succeeded task-2",
        "memory.written",
        "memory.written",
        "child.completed task-1",
        "verified pass",
        "output.harvested task-1",
        "memory.written",
        "memory.written",
        "child.completed task-2",
        "verified pass",
        "output.harvested task-2",
        "2: task-3",
        "dispatch.began task-3",
        "dispatch.succeeded task-3",
        "memory.written",
        "child.completed task-3",
        "output.harvested task-3",
        "3: end",
        "run.completed",
    ]
    job.run.refresh_from_db()
    assert (job.run.outcome, job.run.standing) == ("goal_met", "passed")
    assert findings(job) == []
    assert not Span.objects.filter(job=job, ended_at=None).exists()


def test_every_task_is_a_run_of_its_own_below_the_jobs(host):
    job = worked(tasks_started(host))

    children = Run.objects.filter(parent_run_id=job.run.run_id)
    assert {row.run.run_id for row in job.tasks.all()} == {run.run_id for run in children}
    assert {run.status for run in children} == {"completed"}
    first = job.tasks.get(number=1).run.events.order_by("position").values_list("type", flat=True)
    assert list(first) == [
        "run.started",
        "agent.decided",
        "console.judge.voted",
        "run.completed",
    ]


def test_a_rejected_result_is_not_merged_and_what_needs_it_is_skipped(host):
    job = worked(tasks_started(host, **shouting()))

    assert (job.basis, job.verdict) == ("dissent", "fail")
    rows = JobTask.objects.filter(job=job).order_by("number")
    assert list(rows.values_list("status", "verdict", "is_withheld")) == [
        ("completed", "fail", True),
        ("completed", "pass", False),
        ("skipped", "", False),
    ]
    assert "output.harvested task-1" not in told(job)
    assert "output.harvested task-2" in told(job)
    assert findings(job) == []
    job.run.refresh_from_db()
    assert job.run.outcome == "gave_up"
    target = rows[0].run.run_id
    assert Gate.objects.get(run=job.run, target=target).state == "blocked"
    assert Escalation.objects.waiting().get(run=job.run).target == target


def shouting(**more):
    """Return a request whose first answer is one that a judge rejects."""
    replies = {"Find": "It boils!!", "Check": "Checked at sea level.", "Write": "It boils."}
    member = {"name": "ada", "model": "given", "settings": {"replies": replies}}
    return {"team": [member], "judges": JUDGES_OF_TWO, **more}


JUDGES_OF_TWO = [
    {"name": "calm", "model": "rule:must-not-match", "settings": {"pattern": "!!"}},
]


def test_memory_keeps_what_judges_and_workers_left_in_order(host):
    job = worked(tasks_started(host, **shouting()))

    entries = MemoryEntry.objects.filter(job=job).order_by("number")
    assert [f"{each.namespace}/{each.key}" for each in entries] == [
        "calm/consensus:round:1:dissent",
        "calm/consensus:round:2:dissent",
        "ada/task:task-1:verdict",
        "ada/task:task-2:verdict",
        "ada/task:task-2:result",
    ]


def test_the_logs_of_a_run_of_tasks_hold_none_of_its_words(host):
    tasks = [
        {"title": "CANARY-T", "description": "CANARY-D", "assignee": "ada", "verify": True},
    ]
    settings = {"replies": {"CANARY-T": "CANARY-A!!"}}
    team = [{"name": "ada", "model": "given", "settings": settings}]
    job = worked(tasks_started(host, tasks=tasks, team=team))

    assert job.has_ended
    rows = [Event, Job, JobTask, Span, Escalation, Gate, Finding]
    assert "CANARY" not in repr([list(table.objects.values()) for table in rows])
