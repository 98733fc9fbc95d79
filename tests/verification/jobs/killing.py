"""Works on jobs in processes that are killed at random moments.

Run as a module of its own, so that nothing but the job's rows connects one process with the next.
Each line of its input is `JOB KILLS`; it works on that job to its end, kills that many processes at
most on the way, and answers how many it has killed.
"""

import os
import random
import signal
import sys
import time
from contextlib import suppress
from datetime import timedelta

import django

AT_ONCE = 4
LONGEST_LIFE_S = 0.2


def main() -> None:
    django.setup()
    from django.conf import settings

    from runs import bells
    from tests.verification.jobs.scripted_models import ScriptedCall
    from verification.actions import job_loop

    del settings.DATABASES["default"]["OPTIONS"]["pool"]  # its threads would not be forked
    bells._ask = lambda task, ids: None  # whom to wake is read from the rows
    job_loop.Call = ScriptedCall
    chance = random.Random(int(sys.argv[1]))
    for line in sys.stdin:
        job, kills = (int(word) for word in line.split())
        print(_drive(job, kills, chance), flush=True)


def _drive(job: int, most: int, chance: random.Random) -> int:
    from verification.models import Job

    kills, children = 0, {}
    while not Job.objects.get(pk=job).has_ended:
        _start(job, children)
        time.sleep(chance.uniform(0.0, LONGEST_LIFE_S) if kills < most else 0.01)
        if kills < most and children:
            pid = chance.choice(list(children))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            _lapse(job, children.pop(pid))
            kills += 1
        _reap(children)
    while children:
        time.sleep(0.01)
        _reap(children)
    return kills


def _start(job: int, children: dict[int, int]) -> None:
    """Start a process for every task that was rung for; where there is none, for the job itself."""
    from django.db import connection
    from django.db.models import Q
    from django.utils import timezone

    from verification.models import JobTask

    # A server may still commit what a client sent that is dead by now: a lease that nobody holds.
    free = Q(lease_until=None) | Q(lease_until__lte=timezone.now())
    rung = JobTask.objects.filter(free, job=job).exclude(rung_at=None)
    wanted = [
        lane
        for lane in rung.order_by("number").values_list("number", flat=True)
        if lane not in children.values()
    ]
    if not wanted and not children:
        wanted = [0]
    connection.close()
    for lane in wanted[: AT_ONCE - len(children)]:
        pid = os.fork()
        if not pid:
            _work(job, lane)
        children[pid] = lane


def _work(job: int, lane: int) -> None:
    from verification.actions.job_loop import work

    status = 1
    try:
        work(job=job, task=lane)
        status = 0
    finally:
        os._exit(status)


def _lapse(job: int, lane: int) -> None:
    """Let the lease of whoever was killed run out, and ring again, as time and the sweep would."""
    from django.utils import timezone

    from verification.models import Job, JobTask

    gone = timezone.now() - timedelta(seconds=1)
    if lane:
        JobTask.objects.filter(job=job, number=lane).update(lease_until=None, rung_at=gone)
    else:
        Job.objects.filter(pk=job).update(lease_until=gone)


def _reap(children: dict[int, int]) -> None:
    for pid in list(children):
        with suppress(ChildProcessError):
            ended, _ = os.waitpid(pid, os.WNOHANG)
            if ended:
                del children[pid]


if __name__ == "__main__":
    main()
