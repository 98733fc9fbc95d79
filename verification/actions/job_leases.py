"""Who may write to a job: one worker at a time, under a lease with a rising fence.

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
from verification.models import Job


class LeaseLost(VerificationError):
    """Another worker has the job."""

    def __init__(self, job: int) -> None:
        self.job = job
        super().__init__("Another worker has taken this job over.")


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to a job, as long as no newer one was given."""

    job: int
    fence: int


def take(*, job: int, now: datetime) -> Lease | None:
    """Take the lease of a job; None where nothing is to be done or somebody else is at it."""
    with transaction.atomic():
        found = Job.objects.select_for_update().filter(pk=job, state__in=UNFINISHED).first()
        if found is None or (found.lease_until is not None and found.lease_until > now):
            return None
        found.fence += 1
        found.fruitless += 1
        found.lease_until = _end(now)
        found.state, found.started_at = JobState.RUNNING, found.started_at or now
        found.save(update_fields=["fence", "fruitless", "lease_until", "state", "started_at"])
        return Lease(found.pk, found.fence)


def renew(*, lease: Lease, now: datetime) -> None:
    """Keep the lease alive. Raises LeaseLost."""
    if not _of(lease).update(lease_until=_end(now)):
        raise LeaseLost(lease.job)


def give_back(*, lease: Lease, now: datetime) -> bool:
    """Let another worker go on; false when one already does."""
    return bool(_of(lease).update(lease_until=None, rung_at=now))


def is_to_stop(*, lease: Lease, now: datetime) -> bool:
    """Say whether somebody has cancelled the job or its time is up."""
    job = Job.objects.filter(pk=lease.job).values("cancel_asked_at", "deadline_at").get()
    return job["cancel_asked_at"] is not None or job["deadline_at"] <= now


def held(lease: Lease, now: datetime) -> Job:
    """Return the job, locked until the transaction ends, its lease renewed. Raises LeaseLost."""
    job = Job.objects.select_for_update(of=("self",)).select_related("run__host").get(pk=lease.job)
    if job.fence != lease.fence or job.state != JobState.RUNNING:
        raise LeaseLost(lease.job)
    job.lease_until = _end(now)
    job.save(update_fields=["lease_until"])
    return job


def _of(lease: Lease) -> "QuerySet[Job]":
    return Job.objects.filter(pk=lease.job, fence=lease.fence, state=JobState.RUNNING)


def _end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.JOB_LEASE_S)
