"""Short ways to start jobs and to work on them without a broker."""

from typing import Any

from runs.models import Host, Run
from verification.actions.job_loop import work
from verification.actions.job_people import decide_on_plan
from verification.actions.jobs import Asker, start
from verification.domain.jobs.plan_changes import digest
from verification.domain.jobs.request import read_request
from verification.domain.jobs.requests import read_any
from verification.models import Job, JobTask
from verification.queries.job_tasks import team_view

LONG_ENOUGH = {"name": "length", "model": "rule:length", "settings": {"minimum": 5}}
NO_SHOUTING = {"name": "calm", "model": "rule:must-not-match", "settings": {"pattern": "!!"}}


def document(**more: Any) -> dict[str, Any]:
    """Return a request that two rules judge."""
    made = {
        "prompt": "What is the boiling point of water?",
        "answer": "100 degrees at sea level.",
        "judges": [LONG_ENOUGH, NO_SHOUTING],
        "quorum": 2,
    }
    made |= more
    return {name: value for name, value in made.items() if value is not None}


def started(host: Host, about: Run | None = None, key: str = "", **more: Any) -> Job:
    """Start a job as a key of the host."""
    asker = Asker("key:test", host.workspace, host)
    request = read_request(document(**more))
    return start(request=request, asker=asker, about=about, idempotency_key=key).job


def worked(job: Job) -> Job:
    """Work on a job as a worker would, one task after another, until it ends or waits."""
    for _ in range(50):  # a long job is given back now and then
        lanes = JobTask.objects.filter(job=job).exclude(rung_at=None)
        for task in [0, *lanes.order_by("number").values_list("number", flat=True)]:
            work(job=job.pk, task=task)
        job.refresh_from_db()
        if job.has_ended or job.lease_until is not None or job.paused_at is not None:
            break
    return job


def panel(*names: str) -> list[dict[str, Any]]:
    """Return judges, each with the model of its name."""
    return [{"name": name, "model": f"compatible:{name}"} for name in names]


SOLVER = {"name": "solver", "model": "compatible:solver"}
THREE = panel("judge-a", "judge-b", "judge-c")


def tasks_document(**more: Any) -> dict[str, Any]:
    """Return a request for three tasks, whose answers are given and two of which rules judge."""
    replies = {
        "Find": "It boils at 100 degrees.",
        "Check": "Checked at sea level.",
        "Write": "Water boils at 100 degrees at sea level.",
    }
    made = {
        "operation": "runTasks",
        "team": [{"name": "ada", "model": "given", "settings": {"replies": replies}}],
        "judges": [LONG_ENOUGH, NO_SHOUTING],
        "tasks": [
            {"title": "Find", "description": "Find it.", "assignee": "ada", "verify": True},
            {"title": "Check", "description": "Check it.", "assignee": "ada", "verify": True},
            {
                "title": "Write",
                "description": "Write it down.",
                "assignee": "ada",
                "dependsOn": ["Find", "Check"],
            },
        ],
    }
    made |= more
    return {name: value for name, value in made.items() if value is not None}


def tasks_started(host: Host, key: str = "", **more: Any) -> Job:
    """Start a run of tasks as a key of the host."""
    asker = Asker("key:test", host.workspace, host)
    request = read_any(tasks_document(**more))
    return start(request=request, asker=asker, idempotency_key=key).job


def team_document(**more: Any) -> dict[str, Any]:
    """Return a request for a goal that two tasks lead to; the plan and all answers are given."""
    plan = [
        {"title": "Find", "description": "Find it.", "assignee": "ada", "verify": True},
        {
            "title": "Write",
            "description": "Write it down.",
            "assignee": "ada",
            "dependsOn": ["Find"],
        },
    ]
    said = {"plan": plan, "answer": "Water boils at 100 degrees at sea level."}
    made = {
        "operation": "runTeam",
        "goal": "Say when water boils.",
        "team": tasks_document()["team"],
        "coordinator": {"name": "lead", "model": "given", "settings": said},
        "verifyJudges": [LONG_ENOUGH, NO_SHOUTING],
    }
    made |= more
    return {name: value for name, value in made.items() if value is not None}


def team_started(host: Host, **more: Any) -> Job:
    """Start a run of a team as a key of the host."""
    asker = Asker("key:test", host.workspace, host)
    return start(request=read_any(team_document(**more)), asker=asker).job


def seen(job: Job) -> str:
    """Return the digest of a team's plan as it is shown."""
    return digest(team_view(job).plan.proposed)


def decided(job: Job, *, is_approved: bool = True, by: str = "person:1", **more: Any) -> None:
    """Decide on the plan that waits, having seen it."""
    decide_on_plan(job=job.pk, by=by, is_approved=is_approved, **{"seen": seen(job), **more})
