"""What workers do. Each task may run twice, late or never: the tables say what is to be done."""

from celery import shared_task

from verification import sweeping
from verification.actions import deliveries


@shared_task(name="verification.tasks.deliver")
def deliver(delivery: int) -> None:
    """Try to bring one decision to its host, if that is due and nobody else is at it."""
    deliveries.attempt(delivery=delivery)


@shared_task(name="verification.tasks.sweep")
def sweep() -> None:
    """Ring again for whatever a lost message or a killed worker left lying."""
    sweeping.sweep()
