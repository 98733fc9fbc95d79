"""Rings workers from a thread of its own, so that no request waits for the broker.

A message carries nothing and says "look again"; a sweep makes up for a lost one.
"""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

PULL = "runs.tasks.pull"
KEPT_S = 30
"""Seconds after which a message that nobody took says nothing any more."""

_sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bells")
_waiting: set[str] = set()
_asking = threading.Lock()


def ring(task: str) -> None:
    """Ask a worker to run a task, once the transaction under way has committed."""
    transaction.on_commit(partial(_ask, task))


def _ask(task: str) -> None:
    """Hand a bell to the thread; one that still waits there is enough."""
    with _asking:
        if task in _waiting:
            return
        _waiting.add(task)
    _sender.submit(_send, task)


def _send(task: str) -> None:
    with _asking:
        _waiting.discard(task)
    try:
        current_app.send_task(task, expires=KEPT_S)
    except (OperationalError, OSError) as error:
        logger.warning("%s not rung: %s", task, type(error).__name__)
