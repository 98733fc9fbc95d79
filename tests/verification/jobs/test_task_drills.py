"""Tasks in parallel whose workers are killed at any moment: nothing is lost, doubled or overspent.

`OPENWOP_DRILL_KILLS` sets how many are killed; the suite kills a few.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.model_server import Call, Gate, says
from tests.system.running import PROJECT
from tests.verification.jobs.building import panel, tasks_started, team_started, worked
from tests.verification.jobs.scripted_models import ScriptedCall
from tests.verification.jobs.test_drills import LEASE_S, database_url, once_free, worker_process
from tests.verification.jobs.test_tasks import findings
from verification.actions import job_loop
from verification.models import Job, JobStep, MemoryEntry

pytestmark = pytest.mark.django_db(transaction=True)

KILLS = int(os.environ.get("OPENWOP_DRILL_KILLS", "6"))
SEED = os.environ.get("OPENWOP_DRILL_SEED", "7")
A_JOB = 8
"""Kills of one job at most: ten leases in a row without a record would have it given up."""


@pytest.fixture
def calls(settings, monkeypatch, tmp_path) -> Path:
    """Put scripted models in the place of real ones; the file has a line for each call."""
    path = tmp_path / "calls"
    path.touch()
    monkeypatch.setenv("DRILL_CALLS", str(path))
    monkeypatch.setattr(job_loop, "Call", ScriptedCall)
    settings.COMPATIBLE_URL = "http://nobody.example"
    settings.MODELS = [f"compatible:{name}" for name in ("solver", "judge-a", "judge-b")]
    settings.MODEL_REPLY_TOKENS = 128
    return path


@contextmanager
def killer(settings) -> Iterator[subprocess.Popen[str]]:
    env = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "OPENWOP_CONSOLE_MODELS": ",".join(settings.MODELS),
        "OPENWOP_CONSOLE_COMPATIBLE_URL": settings.COMPATIBLE_URL,
        "OPENWOP_CONSOLE_MODEL_REPLY_TOKENS": "128",
        "OPENWOP_CONSOLE_JOB_LEASE_S": "3",
        "DJANGO_SETTINGS_MODULE": "openwop_console.settings",
    }
    words = [sys.executable, "-m", "tests.verification.jobs.killing", SEED]
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


def test_jobs_whose_workers_are_killed_come_to_what_undisturbed_ones_do(host, calls, settings):
    expected = came_to(worked(asked_for(host, maxTokenBudget=1_000_000)))
    assert expected["outcome"] == ("done", "quorum", "pass")
    done = 0

    with killer(settings) as process:
        while done < KILLS:
            calls.write_text("")
            job = asked_for(host, maxTokenBudget=1_000_000)
            done += killed(process, job, min(A_JOB, KILLS - done))

            found = came_to(job)
            # How many tasks one decision names depends on who is quicker.
            expected["told"]["runOrchestrator.decided"] = found["told"]["runOrchestrator.decided"]
            assert found == expected
            assert_called_once(job, calls)
    assert findings(job) == []


def assert_called_once(job: Job, calls: Path) -> None:
    """Every call was made once, but for those under way when their worker was killed."""
    steps = list(JobStep.objects.filter(job=job))
    assert sorted(step.settled_as for step in steps) == list(range(len(steps)))
    assert {step.state for step in steps} == {"answered"}
    came = Counter(calls.read_text().splitlines())
    assert len(came) == len(steps)
    again = sum(came.values()) - len(came)
    assert again <= sum(step.attempts - 1 for step in steps)


def test_no_kill_makes_parallel_tasks_spend_more_than_their_budget(host, calls, settings):
    done, bases = 0, set()

    with killer(settings) as process:
        while done < KILLS:
            budget = 2_000 + 1_500 * (done % 7)
            job = asked_for(host, maxTokenBudget=budget)
            done += max(1, killed(process, job, min(A_JOB, KILLS - done)))

            spent = [
                step.input_tokens + step.output_tokens + step.lost_tokens + step.reserved_tokens
                for step in job.steps.all()
            ]
            assert sum(spent) <= budget
            bases.add(job.basis)
    assert "budget" in bases
    assert bases <= {"budget", "quorum"}
    assert findings(job) == []


PLAN = [
    {"title": "Find", "description": "Find it.", "assignee": "solver", "verify": True},
    {"title": "Write", "description": "Write.", "assignee": "solver", "dependsOn": ["Find"]},
]
THE_WHOLE_JOB = """
from tests.verification.jobs.building import worked
from verification.models import Job
worked(Job.objects.get(pk={job}))
"""


def led_team(host) -> Job:
    lead, *judges = panel("lead", "judge-a")
    return team_started(
        host,
        team=panel("solver"),
        coordinator=lead,
        verifyJudges=judges,
        maxTokenBudget=1_000_000,
    )


def phase_of(call: Call) -> str:
    return "decomposition" if "Plan how the team" in call.text else "synthesis"


def leads(call: Call) -> None:
    """Answer as a coordinator whose every reply follows from what it is asked alone."""
    said = {"decomposition": json.dumps(PLAN), "synthesis": "At 100 degrees."}
    says(said[phase_of(call)])(call)


@pytest.mark.parametrize("during", ["decomposition", "synthesis"])
def test_a_team_whose_worker_is_killed_while_its_coordinator_is_asked_loses_that_call_alone(
    host, models, settings, during
):
    settings.JOB_LEASE_S = LEASE_S
    settings.MODELS = [*settings.MODELS, "compatible:lead"]
    models.tell(lead=leads)
    expected = came_to(worked(led_team(host)))
    assert expected["outcome"] == ("done", "quorum", "pass")
    undisturbed = Counter(call.model for call in models.calls)
    models.calls.clear()
    gate = Gate(leads)
    models.tell(lead=lambda call: (gate if phase_of(call) == during else leads)(call))
    job = led_team(host)

    with worker_process(job, settings, THE_WHOLE_JOB.format(job=job.pk)) as process:
        assert gate.reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        gate.opened.set()
    before = dict(job.steps.filter(state="answered").values_list("position", "reply__sha256"))
    job = once_free(job)

    assert came_to(job) == expected
    assert Counter(call.model for call in models.calls) == undisturbed + Counter(lead=1)
    again = job.steps.get(phase=during)
    assert (again.attempts, again.lost_tokens > 0) == (2, True)
    assert set(job.steps.exclude(pk=again.pk).values_list("attempts", flat=True)) == {1}
    assert len(before) == {"decomposition": 0, "synthesis": job.steps.count() - 1}[during]
    assert before.items() <= dict(job.steps.values_list("position", "reply__sha256")).items()
    assert findings(job) == []
