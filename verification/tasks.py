"""What workers do. Each task may run twice, late or never: the tables say what is to be done."""

from celery import shared_task
from django.utils import timezone

from verification import sweeping
from verification.actions import (
    bulk,
    connecting,
    deliveries,
    exporting,
    job_loop,
    learning,
    notifying,
)


@shared_task(name="verification.tasks.test_connection")
def test_connection(host: int) -> None:
    """Try a host's connection, if that was asked for and nobody did."""
    connecting.try_connection(host=host)


@shared_task(name="verification.tasks.deliver")
def deliver(delivery: int) -> None:
    """Try to bring one decision to its host, if that is due and nobody else is at it."""
    deliveries.attempt(delivery=delivery)


@shared_task(name="verification.tasks.learn")
def learn(escalation: int) -> None:
    """Ask a host what its pause is about."""
    learning.learn(escalation=escalation)


@shared_task(name="verification.tasks.notify")
def notify() -> None:
    """Send the notifications whose time has come."""
    notifying.send_due(timezone.now())


@shared_task(name="verification.tasks.move_many")
def move_many(batch: int) -> None:
    """Move the escalations of a batch that are not done yet."""
    bulk.work(batch=batch)


@shared_task(name="verification.tasks.run_job")
def run_job(job: int, task: int = 0) -> None:
    """Work on a job, or a task of it, if it is unfinished and nobody else is at it."""
    job_loop.work(job=job, task=task)


@shared_task(name="verification.tasks.export")
def export(job: int) -> None:
    """Send the spans of a job that has ended, if that is due."""
    exporting.export(job=job)


@shared_task(name="verification.tasks.sweep")
def sweep() -> None:
    """Ring again for whatever a lost message or a killed worker left lying."""
    sweeping.sweep()
