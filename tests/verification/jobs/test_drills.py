"""Workers that are killed, sleep too long or come twice: nothing is asked, told or paid twice."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests.model_server import Gate, accepts, dissents, says, verdict
from tests.system.running import PROJECT, eventually
from tests.verification.jobs.building import SOLVER, THREE, panel, started, worked
from verification import sweeping
from verification.actions.job_leases import LeaseLost, take
from verification.actions.job_loop import work
from verification.actions.job_records import record
from verification.actions.job_steps import ToAsk, next_todo
from verification.actions.jobs import cancel
from verification.domain.consensus.history import Usage
from verification.judges import Said
from verification.models import Job, JobStep, JudgeVote

pytestmark = pytest.mark.django_db(transaction=True)

LEASE_S = 2


def database_url() -> str:
    """Return the address of the test's database, for a process of its own."""
    database = connection.settings_dict
    address = f"{database['HOST']}:{database['PORT'] or 5432}/{database['NAME']}"
    secret = f":{database['PASSWORD']}" if database["PASSWORD"] else ""
    host, _, rest = address.partition(":")
    where = f"host={host}&" if host.startswith("/") else ""
    port, _, name = rest.partition("/")
    return (
        f"postgresql://{database['USER']}{secret}@/{name}?{where}port={port}"
        if where
        else f"postgresql://{database['USER']}{secret}@{address}"
    )


@contextmanager
def worker_process(job: Job, settings, before: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """Work on a job in a process of its own, on the test's database and models."""
    env = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "OPENWOP_CONSOLE_JOB_LEASE_S": str(LEASE_S),
        "OPENWOP_CONSOLE_MODELS": ",".join(settings.MODELS),
        "OPENWOP_CONSOLE_COMPATIBLE_URL": settings.COMPATIBLE_URL,
        "DJANGO_SETTINGS_MODULE": "openwop_console.settings",
    }
    loaded = (
        "import django; django.setup()\nimport verification.providers"  # before its slice begins
    )
    script = f"{loaded}\n{before}\n"
    script += f"from verification.actions.job_loop import work; work(job={job.pk})"
    process = subprocess.Popen([sys.executable, "-c", script], env=env, cwd=PROJECT)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait(30)


def lapse(job: Job) -> None:
    """Let the lease run out, as time would."""
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def once_free(job: Job) -> Job:
    """Go on as soon as the killed worker's lease has really run out."""
    eventually(lambda: not _is_leased(job), within_s=LEASE_S + 5)
    return worked(job)


def _is_leased(job: Job) -> bool:
    return Job.objects.filter(pk=job.pk, lease_until__gt=timezone.now()).exists()


PHASES = ("solver", "judge-a", "judge-b")
"""Whose call is under way when the worker dies."""


@pytest.mark.parametrize("during", PHASES)
def test_a_worker_killed_in_a_call_costs_at_most_that_call(host, models, settings, during):
    settings.JOB_LEASE_S = LEASE_S
    gates = {
        "solver": Gate(says("It boils at 100 degrees.")),
        "judge-a": Gate(dissents),
        "judge-b": Gate(accepts),
    }
    models.tell(judge_a=dissents)
    models.answers[during] = [gates[during], gates[during].then]
    job = started(host, answer=None, proposer=SOLVER, judges=THREE, quorum=2, maxTokenBudget=50_000)

    with worker_process(job, settings) as process:
        assert gates[during].reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        gates[during].opened.set()
    recorded = [step.agent for step in JobStep.objects.filter(job=job, state="answered")]
    job = once_free(job)

    assert (job.verdict, job.basis, job.rounds) == ("pass", "quorum", 1)
    assert recorded == list(PHASES[: PHASES.index(during)])
    assert {name: models.asked(name) for name in (*PHASES, "judge-c")} == {
        name: 2 if name == during else 1 for name in (*PHASES, "judge-c")
    }
    step = JobStep.objects.get(job=job, agent=during)
    assert (step.attempts, step.input_tokens + step.output_tokens) == (2, 40)
    assert step.lost_tokens > 0
    assert_told_once(job)


def assert_told_once(job: Job) -> None:
    events = list(job.run.events.filter(origin="host").values_list("type", flat=True))
    assert events.count("agent.verified") == 1
    assert events.count("run.completed") == 1
    assert job.run.events.filter(type="console.judge.voted").count() == job.votes.count()


@pytest.mark.parametrize("failpoint", ["take", "next_todo", "record", "conclude"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_worker_killed_around_a_transaction_changes_nothing(
    host, models, settings, failpoint, moment
):
    """Kill where there is no call to hold: around every transaction of the loop."""
    settings.JOB_LEASE_S = LEASE_S
    models.tell(judge_a=dissents)
    job = started(host, judges=THREE, quorum=2)
    killer = KILLER.format(point=failpoint, moment=moment)

    with worker_process(job, settings, killer) as process:
        assert process.wait(60) == -signal.SIGKILL
    job = once_free(job) if not Job.objects.get(pk=job.pk).has_ended else worked(job)

    assert (job.verdict, job.basis) == ("pass", "quorum")
    most = 2 if failpoint == "record" and moment == "before" else 1
    assert {name: models.asked(name) for name in ("judge-b", "judge-c")} == {
        "judge-b": 1,
        "judge-c": 1,
    }
    assert 1 <= models.asked("judge-a") <= most
    assert_told_once(job)


KILLER = """
import os, signal
from verification.actions import job_loop, job_steps

place = job_steps if "{point}" == "conclude" else job_loop
real = getattr(place, "{point}")

def killing(*args, **kwargs):
    if "{moment}" == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    real(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(place, "{point}", killing)
"""


def test_a_sleeper_that_wakes_up_writes_nothing(host, models, caplog):
    gate = Gate(accepts)
    models.tell(judge_a=[gate, dissents], judge_b=dissents)
    job = started(host, judges=panel("judge-a", "judge-b"), quorum=2)
    sleeper = take(job=job.pk, now=timezone.now())
    todo = _next_call(sleeper)

    lapse(job)
    models.answers["judge-a"] = [dissents]
    worked(job)
    before = list(JobStep.objects.filter(job=job).values())

    with pytest.raises(LeaseLost):
        record(
            lease=sleeper,
            ask=todo.ask,
            result=Said('{"accept": true}', Usage(1, 1), None),
            was_called_off=False,
            now=timezone.now(),
        )
    assert list(JobStep.objects.filter(job=job).values()) == before
    assert Job.objects.get(pk=job.pk).verdict == "fail"


def _next_call(lease) -> ToAsk:
    while True:
        todo = next_todo(lease=lease, now=timezone.now())
        if isinstance(todo, ToAsk):
            return todo


def test_a_message_that_comes_twice_or_late_does_nothing(host, models):
    job = worked(started(host, judges=THREE, quorum=2))
    asked = len(models.calls)

    work(job=job.pk)
    work(job=job.pk)

    assert len(models.calls) == asked
    assert_told_once(job)


def test_two_workers_at_once_ask_each_judge_once(host, models):
    gate = Gate(accepts)
    models.tell(judge_a=gate)
    job = started(host, judges=THREE, quorum=2)
    first = threading.Thread(target=_work_in_thread, args=(job.pk,))
    first.start()
    assert gate.reached.wait(60)

    work(job=job.pk)
    gate.opened.set()
    first.join(30)

    job.refresh_from_db()
    assert (job.verdict, models.asked("judge-a"), models.asked("judge-b")) == ("pass", 1, 1)


def _work_in_thread(job: int) -> None:
    try:
        work(job=job)
    finally:
        connection.close()


def test_the_sweep_rings_for_jobs_whose_bell_or_worker_was_lost(host, monkeypatch):
    rung: list[int] = []
    job = started(host)
    monkeypatch.setattr("runs.bells._ask", lambda task, ids: rung.extend(ids))

    sweeping.ring_for_jobs(timezone.now())
    assert rung == []  # it was rung a moment ago
    sweeping.ring_for_jobs(timezone.now() + timedelta(minutes=5))
    assert rung == [job.pk]
    take(job=job.pk, now=timezone.now())
    sweeping.ring_for_jobs(timezone.now())
    assert rung == [job.pk]
    sweeping.ring_for_jobs(timezone.now() + timedelta(minutes=5))
    assert rung == [job.pk, job.pk]


def test_a_job_that_kills_its_workers_again_and_again_fails(host):
    job = started(host)
    for _ in range(10):
        assert take(job=job.pk, now=timezone.now()) is not None
        lapse(job)

    job = worked(job)
    assert (job.state, job.verdict, job.broken_because) == ("broken", "fail", "crashed")
    assert job.run.events.filter(type="agent.verified", payload__verdict="fail").count() == 1


def test_cancelling_during_a_call_ends_it_at_once_and_nothing_of_it_counts(host, models):
    gate = Gate(accepts)
    models.tell(judge_b=gate)
    job = started(host, judges=THREE, quorum=2)
    worker = threading.Thread(target=_work_in_thread, args=(job.pk,))
    worker.start()
    assert gate.reached.wait(60)

    cancel(job=job.pk, by="person:1")
    worker.join(60)

    assert not worker.is_alive()
    job.refresh_from_db()
    assert (job.state, job.verdict, job.basis, job.stop) == ("done", "fail", "aborted", "cancelled")
    assert JobStep.objects.get(job=job, agent="judge-b").failure["kind"] == "cancellation"
    assert models.asked("judge-c") == 0


def test_a_job_past_its_deadline_ends_and_asks_nobody_else(host, models):
    gate = Gate(accepts)
    models.tell(judge_a=gate)
    job = started(host, judges=THREE, quorum=2)
    Job.objects.filter(pk=job.pk).update(deadline_at=timezone.now() + timedelta(seconds=1.5))

    job = worked(job)

    assert (job.verdict, job.basis, job.stop) == ("fail", "aborted", "deadline")
    assert len(models.calls) == 1


def test_a_budget_is_never_exceeded_and_stops_before_the_call_that_could(host, models, settings):
    settings.MODEL_REPLY_TOKENS = 200
    models.tell(judge_a=verdict(True, usage=(500, 100)))
    job = worked(started(host, judges=THREE, quorum=3, maxTokenBudget=1_200))

    assert (job.verdict, job.basis, job.stop) == ("fail", "budget", "budget")
    steps = JobStep.objects.filter(job=job)
    assert sum(s.input_tokens + s.output_tokens + s.lost_tokens for s in steps) <= 1_200
    assert 0 < len(models.calls) < 3
    assert not JudgeVote.objects.filter(job=job, judge="judge-c").exists()


def test_what_a_killed_call_may_have_cost_counts_against_the_budget(host, models, settings):
    settings.MODEL_REPLY_TOKENS = 200
    job = started(host, judges=panel("judge-a"), quorum=1, maxTokenBudget=1_200)
    _next_call(take(job=job.pk, now=timezone.now()))
    lapse(job)

    job = worked(job)
    assert (job.verdict, job.basis) == ("fail", "budget")


def test_calls_to_one_provider_are_no_more_at_a_time_than_is_set(host, models, settings):
    settings.MODEL_CALLS = 1
    gate = Gate(accepts)
    models.tell(judge_a=gate)
    jobs = [started(host, judges=panel(name), quorum=1) for name in ("judge-a", "judge-b")]
    threads = [threading.Thread(target=_work_in_thread, args=(job.pk,)) for job in jobs]
    threads[0].start()
    assert gate.reached.wait(60)
    threads[1].start()
    eventually(lambda: JobStep.objects.filter(job=jobs[1], state="asking").exists(), within_s=60)
    waiting = models.asked("judge-b")
    gate.opened.set()
    for thread in threads:
        thread.join(30)

    assert waiting == 0
    assert [Job.objects.get(pk=job.pk).verdict for job in jobs] == ["pass", "pass"]
