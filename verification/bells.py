"""Rings workers. A message carries ids and says "look again"; the sweep makes up for a lost one."""

import logging
from functools import partial

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

DELIVER = "verification.tasks.deliver"
NOTIFY = "verification.tasks.notify"
LEARN = "verification.tasks.learn"
RUN_JOB = "verification.tasks.run_job"
_QUEUES = {RUN_JOB: "jobs"}
"""Tasks that do not wait in the default queue."""


def ring(task: str, *ids: int) -> None:
    """Ask a worker to run a task, once the transaction under way has committed."""
    transaction.on_commit(partial(_send, task, ids))


def _send(task: str, ids: tuple[int, ...]) -> None:
    try:
        current_app.send_task(task, args=list(ids), queue=_QUEUES.get(task))
    except (OperationalError, OSError) as error:
        logger.warning("%s not rung: %s", task, type(error).__name__)
