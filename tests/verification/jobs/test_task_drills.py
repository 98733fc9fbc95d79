"""Tasks in parallel whose workers are killed at any moment: nothing is lost, doubled or overspent.

`OPENWOP_DRILL_KILLS` sets how many are killed; the suite kills a few.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.model_server import Call, accepts, dissents, says
from tests.system.running import PROJECT
from tests.verification.jobs.building import tasks_started, worked
from tests.verification.jobs.test_drills import database_url
from tests.verification.jobs.test_tasks import findings
from verification.models import Job, JobStep, MemoryEntry

pytestmark = pytest.mark.django_db(transaction=True)

KILLS = int(os.environ.get("OPENWOP_DRILL_KILLS", "10"))
A_JOB = 12
"""Kills of one job at most, far below what would have it given up."""


@contextmanager
def killer(settings) -> Iterator[subprocess.Popen[str]]:
    env = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "OPENWOP_CONSOLE_MODELS": ",".join(settings.MODELS),
        "OPENWOP_CONSOLE_COMPATIBLE_URL": settings.COMPATIBLE_URL,
        "OPENWOP_CONSOLE_MODEL_REPLY_TOKENS": "128",
        "DJANGO_SETTINGS_MODULE": "openwop_console.settings",
    }
    words = [sys.executable, "-m", "tests.verification.jobs.killing", "7"]
    process = subprocess.Popen(
        words, env=env, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


def killed(process: subprocess.Popen[str], job: Job, most: int) -> int:
    process.stdin.write(f"{job.pk} {most}\n")
    process.stdin.flush()
    count = int(process.stdout.readline())
    job.refresh_from_db()
    return count


def tasks() -> list[dict[str, object]]:
    """Return four tasks that need nobody, and a fifth that needs them all."""
    first = [
        {
            "title": f"Part {number}",
            "description": f"Write part {number}.",
            "assignee": "solver",
            "verify": {"quorum": 2},
        }
        for number in range(1, 5)
    ]
    last = {
        "title": "Whole",
        "description": "Put it together.",
        "assignee": "solver",
        "dependsOn": [task["title"] for task in first],
        "verify": {"quorum": 2},
    }
    return [*first, last]


def writes(call: Call) -> str:
    """Answer as a worker whose reply depends on what was asked and on nothing else."""
    asked = call.text
    part = next((n for n in "1234" if f"Write part {n}." in asked), "5")
    return f"Version {2 if 'Critique' in asked else 1} of part {part}."


def picky(call: Call) -> None:
    """Reject the first version of part 2, and accept everything else."""
    (dissents if "Version 1 of part 2." in call.text else accepts)(call)


def asked_for(host, **more) -> Job:
    return tasks_started(
        host,
        team=[{"name": "solver", "model": "compatible:solver"}],
        judges=[{"name": name, "model": f"compatible:{name}"} for name in ("judge-a", "judge-b")],
        tasks=tasks(),
        **more,
    )


def came_to(job: Job) -> dict[str, object]:
    """Return everything a job came to, clocks and order apart."""
    return {
        "outcome": (job.state, job.basis, job.verdict),
        "tasks": list(job.tasks.order_by("number").values_list("status", "verdict", "rounds")),
        "answers": list(job.tasks.order_by("number").values_list("answer_sha256", flat=True)),
        "votes": Counter(job.votes.values_list("task", "round", "judge", "accepted")),
        "memory": Counter(
            MemoryEntry.objects.filter(job=job).values_list("namespace", "key", "value__sha256")
        ),
        "told": Counter(job.run.events.filter(origin="host").values_list("type", flat=True)),
        "tokens": sum(step.input_tokens + step.output_tokens for step in job.steps.all()),
    }


def test_jobs_whose_workers_are_killed_come_to_what_undisturbed_ones_do(host, models, settings):
    settings.MODEL_REPLY_TOKENS = 128
    models.tell(solver=says(writes), judge_a=picky, judge_b=accepts)
    expected = came_to(worked(asked_for(host, maxTokenBudget=1_000_000)))
    assert expected["outcome"] == ("done", "quorum", "pass")
    done = 0

    with killer(settings) as process:
        while done < KILLS:
            models.calls.clear()
            job = asked_for(host, maxTokenBudget=1_000_000)
            done += killed(process, job, min(A_JOB, KILLS - done))

            expected["told"]["runOrchestrator.decided"] = came_to(job)["told"][
                "runOrchestrator.decided"
            ]  # how many tasks one decision names depends on who is quicker
            assert came_to(job) == expected
            assert_called_once(job, models)
    assert done == KILLS
    assert findings(job) == []


def assert_called_once(job: Job, models) -> None:
    """Every call was made once, but for those under way when their worker was killed."""
    steps = list(JobStep.objects.filter(job=job))
    assert sorted(step.settled_as for step in steps) == list(range(len(steps)))
    assert all(step.state == "answered" for step in steps)
    came = Counter((call.model, call.text) for call in models.calls)
    assert len(came) <= sum(step.attempts for step in steps)
    again = sum(count - 1 for count in came.values())
    assert again <= sum(step.attempts - 1 for step in steps)


def test_no_kill_makes_parallel_tasks_spend_more_than_their_budget(host, models, settings):
    models.tell(solver=says(writes), judge_a=picky, judge_b=accepts)
    done = 0

    with killer(settings) as process:
        while done < KILLS:
            budget = 2_500 + 600 * (done % 7)
            job = asked_for(host, maxTokenBudget=budget)
            done += max(1, killed(process, job, min(A_JOB, KILLS - done)))

            spent = [
                step.input_tokens + step.output_tokens + step.lost_tokens + step.reserved_tokens
                for step in job.steps.all()
            ]
            assert sum(spent) <= budget
            assert job.basis in ("budget", "quorum")
    assert findings(job) == []
