"""A real Celery worker that is killed by `kill -9` at a named moment of a named job.

Run as a program with the folder in which the moments are armed: a file `P4-17` there means that
whoever works on job 17 dies in phase P4, once. What is killed is the process that works (`child`)
or the whole worker (`parent`).
"""

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import django

ARMED, VICTIM = Path(sys.argv[1]), sys.argv[2]


def die_if_armed(phase: str, job: int) -> None:
    """Kill, if this is the moment; the file's name then says when."""
    try:
        (ARMED / f"{phase}-{job}").rename(ARMED / f"died-{job}-{time.time()}")
    except FileNotFoundError:
        return
    if VICTIM == "parent":
        os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def say_ready(**more: Any) -> None:
    """Tell the test that there is somebody to be told of jobs."""
    (ARMED / "ready").touch()


def main() -> None:
    """Set the traps and work."""
    django.setup()
    from celery import signals
    from django.db import transaction

    from openwop_console.celery import app
    from verification import judges
    from verification.actions import job_loop, job_steps

    real: dict[str, Any] = {
        name: getattr(job_loop, name) for name in ("take", "record", "next_todo", "work", "_called")
    }
    conclude = job_steps.conclude

    def take(*, job: int, **more: Any) -> Any:
        die_if_armed("P2", job)
        lease = real["take"](job=job, **more)
        if lease is not None:
            (ARMED / f"taken-{job}-{time.time()}").touch()
            die_if_armed("P3", job)
        return lease

    def called(lease: Any, call: judges.Call) -> Any:
        if call.wait(0.05) is None:  # on its way: the server takes longer
            die_if_armed("P4", lease.job)
        return real["_called"](lease, call)

    def record(*, lease: Any, **more: Any) -> None:
        die_if_armed("P5", lease.job)
        real["record"](lease=lease, **more)
        die_if_armed("P6", lease.job)

    def concluding(job: Any, *rest: Any) -> None:
        transaction.on_commit(partial(die_if_armed, "P8", job.pk))
        conclude(job, *rest)
        die_if_armed("P7", job.pk)

    def work(*, job: int, task: int = 0) -> None:
        real["work"](job=job, task=task)
        die_if_armed("P9", job)

    job_loop.take, job_loop._called = take, called
    job_loop.record, job_loop.work = record, work
    job_steps.conclude = concluding

    signals.worker_ready.connect(say_ready)
    app.worker_main(
        [
            *("worker", "--loglevel", "WARNING", "--concurrency", "4", "--queues", "jobs"),
            *("--prefetch-multiplier", "1", "--without-gossip", "--without-mingle"),
        ]
    )


if __name__ == "__main__":
    main()
