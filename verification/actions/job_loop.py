"""Works on a job: asks what is next, does that one thing, records it, and again.

The model is called outside of any transaction, while the lease is kept alive. This may stop at any
instruction: whoever comes next goes on from the ledger.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import assert_never

from django.conf import settings
from django.db import connection
from django.utils import timezone

from verification import bells
from verification.actions.job_leases import Lease, LeaseLost, give_back, is_to_stop, renew, take
from verification.actions.job_records import record
from verification.actions.job_steps import GoOn, Left, Over, ToAsk, ToWait, next_todo
from verification.calls import Endpoint
from verification.domain.consensus import failures
from verification.judges import Call, Failed, Said

logger = logging.getLogger(__name__)

SLICE_S = 20.0
"""After this long a job makes room: others, and deliveries, wait for the same workers."""
LOOK_EVERY_S = 0.5
_CALL_OFF_S = 5.0


def work(*, job: int, task: int = 0) -> None:
    """Work on a job, or on one task of it, until it ends or waits, or the slice is over."""
    lease = take(job=job, now=timezone.now(), task=task)
    if lease is not None:
        work_under(lease)


def work_under(lease: Lease) -> None:
    """Do what `work` does, with a lease that the caller has taken."""
    try:
        _work(lease)
    except LeaseLost as lost:
        logger.warning("job %s, fence %s: %s Nothing was written.", lost.job, lease.fence, lost)


def _work(lease: Lease) -> None:
    until = time.monotonic() + SLICE_S
    while True:
        todo = next_todo(lease=lease, now=timezone.now())
        match todo:
            case Over() | Left():
                return
            case GoOn():
                pass
            case ToWait():
                _wait(lease, todo.until)
            case ToAsk():
                _ask(lease, todo)
            case _:
                assert_never(todo)
        if time.monotonic() > until:
            if give_back(lease=lease, now=timezone.now()):
                bells.ring(bells.RUN_JOB, lease.job, lease.task)
            return


def _wait(lease: Lease, until: datetime) -> None:
    """Wait for the next attempt, and no longer than the job may go on."""
    while timezone.now() < until:
        if _keep_alive(lease):
            return
        left = (until - timezone.now()).total_seconds()
        _pause(min(max(left, 0.0), LOOK_EVERY_S))


def _ask(lease: Lease, todo: ToAsk) -> None:
    with _place(lease, todo.endpoint) as has_place:
        if not has_place:
            return
        result, was_called_off = _called(lease, Call(todo.endpoint, todo.question))
    record(
        lease=lease,
        ask=todo.ask,
        result=result,
        was_called_off=was_called_off,
        now=timezone.now(),
    )


def _called(lease: Lease, call: Call) -> tuple[Said | Failed, bool]:
    """Return how a call ended, and whether it was us who ended it."""
    while True:
        result = call.wait(LOOK_EVERY_S)
        if result is not None:
            return result, False
        try:
            is_to_end = _keep_alive(lease)
        except LeaseLost:
            call.call_off()
            raise
        if is_to_end:
            call.call_off()
            ended = call.wait(_CALL_OFF_S)
            return ended or Failed(failures.CANCELLED), True


def _keep_alive(lease: Lease) -> bool:
    """Renew the lease; true when the job is to stop. Raises LeaseLost."""
    now = timezone.now()
    renew(lease=lease, now=now)
    return is_to_stop(lease=lease, now=now)


@contextmanager
def _place(lease: Lease, endpoint: Endpoint) -> Iterator[bool]:
    """Hold one of the places that a provider's calls share; false when the job is to stop first.

    A place is a lock of the database session: it is free again the moment its worker dies.
    """
    while True:
        for number in range(settings.MODEL_CALLS):
            key = _key(endpoint, number)
            if _try_lock(key):
                try:
                    yield True
                finally:
                    _unlock(key)
                return
        if _keep_alive(lease):
            yield False
            return
        _pause(LOOK_EVERY_S)


def _key(endpoint: Endpoint, number: int) -> int:
    name = f"model place {number} of {endpoint.limited_as}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)


def _try_lock(key: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        (is_ours,) = cursor.fetchone()
        return bool(is_ours)


def _unlock(key: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)
