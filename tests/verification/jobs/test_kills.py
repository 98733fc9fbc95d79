"""`kill -9` at each of the ten moments of a job, with a real Celery worker on a real broker.

`make bench ARGS=tests/verification/jobs/test_kills.py` kills twice at each; `DRILL_SIZE=20` before
it is the full size; `DRILL_VICTIM=parent` kills the worker as a whole. What needs no broker is in
`test_drills`, small enough for the suite.
"""

import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from django.conf import settings as ours
from django.utils import timezone

from openwop_console.celery import app
from tests.model_server import Call, ModelServer, says, verdict
from tests.system.running import PROJECT, eventually
from tests.verification.jobs.building import SOLVER, THREE, started
from tests.verification.jobs.test_drills import database_url
from verification import bells, sweeping
from verification.models import Job, JobStep

pytestmark = [pytest.mark.bench, pytest.mark.django_db(transaction=True)]

SIZE = int(os.environ.get("DRILL_SIZE", "2"))
LEASE_S = int(os.environ.get("DRILL_LEASE_S", "30"))
VICTIM = os.environ.get("DRILL_VICTIM", "child")
PHASES = {
    "P0": "request committed, nobody told",
    "P1": "told, nobody there",
    "P2": "received, unclaimed",
    "P3": "claimed",
    "P4": "call under way",
    "P5": "answer received, vote uncommitted",
    "P6": "vote committed",
    "P7": "verdict computed, uncommitted",
    "P8": "verdict committed, bells unrung",
    "P9": "done, message unacknowledged",
}
APART_S = 2.0
"""Between two jobs: how soon one is taken up again is measured, not how long the line is."""
ASKED_AGAIN = {"P4": 1, "P5": 1}
"""How many calls a death in this phase may cost: the one that was not yet recorded. With the parent
die the calls of all jobs that are under way, so that each death may cost any job one."""
TAG = re.compile(r"tag-(\d+)-(pass|fail)")


class Worker:
    """The worker and what a supervisor does for it: it is started again whenever it dies."""

    def __init__(self, armed: Path, env: dict[str, str]) -> None:
        self.words = [
            sys.executable,
            "-m",
            "tests.verification.jobs.doomed_worker",
            str(armed),
            VICTIM,
        ]
        self.env, self.deaths = env, 0
        self.is_wanted = False
        self.process: subprocess.Popen[bytes] | None = None
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        self.is_wanted = True
        self.thread = threading.Thread(target=self._keep)
        self.thread.start()

    def _keep(self) -> None:
        quiet = subprocess.DEVNULL
        while self.is_wanted:
            self.process = subprocess.Popen(
                self.words, env=self.env, cwd=PROJECT, stdout=quiet, stderr=quiet
            )
            self.process.wait()
            self.deaths += self.is_wanted

    def stop(self) -> None:
        self.is_wanted = False
        with suppress(ProcessLookupError):
            assert self.process is not None
            self.process.kill()
        assert self.thread is not None
        self.thread.join(30)


class Sweeps(threading.Thread):
    """Beat: looks for jobs that nobody works on, as often as in the product."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()

    def run(self) -> None:
        from django.db import connection

        while not self.over.wait(ours.SWEEP_INTERVAL_S):
            sweeping.ring_for_jobs(timezone.now())
        connection.close()


def scripted(server: ModelServer) -> None:
    """Let the judges vote by a script: two dissent in round 1; in round 2 the tag says how.

    What a judge says follows from what it is shown alone, so a call that is made again gets the
    same answer.
    """

    def judge(name: str):
        def answer(call: Call) -> None:
            time.sleep(0.15)  # a call takes a while, or none would be under way
            is_second = "second version" in call.text
            accepts = name == "judge-a" or (is_second and TAG.search(call.text)[2] == "pass")
            verdict(accepts, "" if accepts else "Not yet.")(call)

        return answer

    def solver(call: Call) -> str:
        return "The second version." if "Not yet." in call.text else "The first version."

    server.tell(solver=says(solver))
    for name in ("judge-a", "judge-b", "judge-c"):
        server.answers[name] = [judge(name)]


@pytest.fixture
def armed(tmp_path) -> Path:
    return tmp_path


@pytest.fixture
def worker(armed, models, settings) -> Iterator[Worker]:
    settings.JOB_LEASE_S = LEASE_S
    scripted(models)
    app.control.purge()
    env = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "REDIS_URL": ours.REDIS_URL,
        "OPENWOP_CONSOLE_JOB_LEASE_S": str(LEASE_S),
        "OPENWOP_CONSOLE_MODELS": ",".join(settings.MODELS),
        "OPENWOP_CONSOLE_COMPATIBLE_URL": settings.COMPATIBLE_URL,
        "OPENWOP_CONSOLE_MODEL_CALLS": "20",
        "DJANGO_SETTINGS_MODULE": "openwop_console.settings",
    }
    with ExitStack() as stack:
        sweeps = Sweeps()
        sweeps.start()
        stack.callback(sweeps.join, 30)
        stack.callback(sweeps.over.set)
        made = Worker(armed, env)
        yield made
        if made.thread is not None:
            made.stop()


def begun(host, n: int, expected: str) -> Job:
    return started(
        host, prompt=f"tag-{n}-{expected}", answer=None, proposer=SOLVER, judges=THREE, quorum=2
    )


@pytest.mark.timeout(300 + 60 * SIZE)
@pytest.mark.parametrize("phase", PHASES)
def test_a_killed_worker_costs_no_verdict_and_no_recorded_call(
    host, models, worker, armed, monkeypatch, phase
):
    jobs: dict[int, tuple[str, Job]] = {}
    if phase != "P1":
        worker.start()
        eventually((armed / "ready").exists, within_s=120)
    for tag in range(SIZE):
        expected = "pass" if tag % 2 == 0 else "fail"
        with monkeypatch.context() as mute:  # nobody is told before the moment is armed
            mute.setattr("runs.bells._ask", lambda task, ids: None)
            job = begun(host, tag, expected)
        if phase in ("P0", "P1"):  # whoever asked died, or whoever would have come
            (armed / f"died-{job.pk}-{time.time()}").touch()
        else:
            (armed / f"{phase}-{job.pk}").touch()
        if phase != "P0":
            bells.ring(bells.RUN_JOB, job.pk)
        jobs[tag] = (expected, job)
        if phase != "P1":
            time.sleep(APART_S)
    if phase == "P1":
        worker.start()
    eventually(lambda: not Job.objects.filter(ended_at=None).exists(), within_s=240 + 30 * SIZE)
    eventually(lambda: not list(armed.glob("P*")), within_s=60)

    may_repeat = ASKED_AGAIN.get(phase, 0) if VICTIM == "child" else SIZE
    extra = [
        assert_came_out_right(job, tag, expected, may_repeat, models)
        for tag, (expected, job) in jobs.items()
    ]
    took = sorted(resumed_after(armed, job) for _, job in jobs.values())
    print(
        f"\n{phase} {PHASES[phase]}: {VICTIM} killed {SIZE} times, worker started again"
        f" {worker.deaths} times; gone on after median {took[len(took) // 2]:.1f} s,"
        f" most {took[-1]:.1f} s of {LEASE_S} + 5; calls made again {sum(extra)}"
    )


def assert_came_out_right(
    job: Job, tag: int, expected: str, may_repeat: int, models: ModelServer
) -> int:
    """Hold a job against its script; return how many calls were made again."""
    job.refresh_from_db()
    assert (job.state, job.verdict) == ("done", expected)
    assert_told_once(job)
    assert [(v.round, v.judge, v.accepted) for v in job.votes.order_by("pk")] == votes(expected)
    asked = Counter(call.model for call in models.calls if int(TAG.search(call.text)[1]) == tag)
    steps = Counter(JobStep.objects.filter(job=job).values_list("agent", flat=True))
    again = {name: asked[name] - steps[name] for name in steps}
    assert min(again.values()) >= 0
    assert sum(again.values()) <= may_repeat, again
    return sum(again.values())


def resumed_after(armed: Path, job: Job) -> float:
    """Return how many seconds after the death somebody had the job again; 0 if it had ended."""
    (died,) = (float(each.name.split("-")[2]) for each in armed.glob(f"died-{job.pk}-*"))
    taken = sorted(float(each.name.split("-")[2]) for each in armed.glob(f"taken-{job.pk}-*"))
    return next((at - died for at in taken if at > died), 0.0)


def votes(expected: str) -> list[tuple[int, str, bool]]:
    """Return the script: quorum 2; who could not change anything any more is asked all the same."""
    first = [(1, "judge-a", True), (1, "judge-b", False), (1, "judge-c", False)]
    if expected == "pass":
        return [*first, (2, "judge-a", True), (2, "judge-b", True)]
    return [*first, (2, "judge-a", True), (2, "judge-b", False), (2, "judge-c", False)]


def assert_told_once(job: Job) -> None:
    told = Counter(job.run.events.filter(origin="host").values_list("type", flat=True))
    assert (told["agent.verified"], told["run.completed"]) == (1, 1)
    assert job.run.events.filter(type="console.judge.voted").count() == job.votes.count()
