"""Who may write to a job: one worker for itself and one for each task, under leases with fences.

A worker that was thought dead holds an older fence and can record nothing. A killed worker leaves a
lease that runs out; the sweep then rings again.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from verification.domain.errors import VerificationError
from verification.domain.jobs.states import UNFINISHED, JobState
from verification.models import Job, JobTask


class LeaseLost(VerificationError):
    """Another worker has the job."""

    def __init__(self, job: int) -> None:
        self.job = job
        super().__init__("Another worker has taken this job over.")


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to a job, or to one task of it, as long as no newer one was given."""

    job: int
    fence: int
    task: int = 0
    """Number of the task; 0: what belongs to no task."""


def take(*, job: int, now: datetime, task: int = 0) -> Lease | None:
    """Take a lease; None where nothing is to be done or somebody else is at it."""
    with transaction.atomic():
        found = Job.objects.select_for_update().filter(pk=job, state__in=UNFINISHED).first()
        lane = _lane(found, task) if found is not None else None
        if found is None or lane is None or is_held(lane, now):
            return None
        lane.fence += 1
        lane.fruitless += 1
        lane.lease_until = _end(now)
        lane.save(update_fields=["fence", "fruitless", "lease_until"])
        found.state, found.started_at = JobState.RUNNING, found.started_at or now
        found.save(update_fields=["state", "started_at"])
        return Lease(found.pk, lane.fence, task)


def is_held(lane: Job | JobTask, now: datetime) -> bool:
    """Say whether somebody works on it."""
    return lane.lease_until is not None and lane.lease_until > now


def _lane(job: Job, task: int) -> Job | JobTask | None:
    return JobTask.objects.filter(job=job, number=task).first() if task else job


def renew(*, lease: Lease, now: datetime) -> None:
    """Keep the lease alive. Raises LeaseLost."""
    if not _of(lease).update(lease_until=_end(now)):
        raise LeaseLost(lease.job)


def give_back(*, lease: Lease, now: datetime) -> bool:
    """Let another worker go on; false when one already does."""
    return bool(_of(lease).update(lease_until=None, rung_at=now))


def leave(*, lease: Lease, job: Job, now: datetime) -> None:
    """Let go of a locked job, or of its task: others go on, and ring for what they make possible.

    A job itself is looked at again after a while all the same; a task is only rung for.
    """
    job.fruitless, job.rung_at = 0, now
    if lease.task:
        task = JobTask.objects.filter(job=job, number=lease.task)
        task.update(lease_until=None, rung_at=None, fruitless=0)
    else:
        job.lease_until = None
    job.save(update_fields=["fruitless", "rung_at", "lease_until"])


def is_to_stop(*, lease: Lease, now: datetime) -> bool:
    """Say whether somebody has cancelled the job or its time is up."""
    job = Job.objects.filter(pk=lease.job).values("cancel_asked_at", "deadline_at").get()
    return job["cancel_asked_at"] is not None or job["deadline_at"] <= now


def held(lease: Lease, now: datetime) -> Job:
    """Return the job, locked until the transaction ends, its lease renewed. Raises LeaseLost."""
    job = locked(lease.job)
    if not _of(lease).update(lease_until=_end(now)):
        raise LeaseLost(lease.job)
    if not lease.task:
        job.lease_until = _end(now)
    return job


def fruitless(lease: Lease, job: Job) -> int:
    """Return how many leases were given since anything was recorded under one of this kind."""
    if not lease.task:
        return job.fruitless
    return JobTask.objects.get(job=job, number=lease.task).fruitless


def locked(job: int) -> Job:
    """Return a job, locked until the transaction ends: whoever changes it comes by here."""
    jobs = Job.objects.select_for_update(of=("self",)).select_related("run__host")
    return jobs.get(pk=job)


def _of(lease: Lease) -> "QuerySet[Job] | QuerySet[JobTask]":
    if lease.task:
        return JobTask.objects.filter(
            job=lease.job, number=lease.task, fence=lease.fence, job__state=JobState.RUNNING
        )
    return Job.objects.filter(pk=lease.job, fence=lease.fence, state=JobState.RUNNING)


def _end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.JOB_LEASE_S)
