"""What workers do for facts. Each task may run twice, late or never: the tables say what is due."""

from celery import shared_task

from runs import pull_rounds, sweeping


@shared_task(name="runs.tasks.pull")
def pull() -> None:
    """Read from hosts what is due, unless others are at it."""
    pull_rounds.run_round()


@shared_task(name="runs.tasks.sweep")
def sweep() -> None:
    """Make due whatever a lost message, a silent host or a killed worker left lying."""
    sweeping.sweep()
