"""Rings workers from a thread of its own, so that no request waits for the broker.

A message carries ids at most and says "look again"; a sweep makes up for a lost one.
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
KEPT_S = {PULL: 30}
"""Seconds after which a message that nobody took says nothing any more; others are kept."""

_sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bells")
_waiting: set[tuple[str, tuple[int, ...]]] = set()
_asking = threading.Lock()


def ring(task: str, *ids: int) -> None:
    """Ask a worker to run a task, once the transaction under way has committed."""
    transaction.on_commit(partial(_ask, task, ids))


def _ask(task: str, ids: tuple[int, ...]) -> None:
    """Hand a bell to the thread; one that still waits there is enough."""
    with _asking:
        if (task, ids) in _waiting:
            return
        _waiting.add((task, ids))
    _sender.submit(_send, task, ids)


def _send(task: str, ids: tuple[int, ...]) -> None:
    with _asking:
        _waiting.discard((task, ids))
    try:
        current_app.send_task(task, args=list(ids), expires=KEPT_S.get(task))
    except (OperationalError, OSError) as error:
        logger.warning("%s not rung: %s", task, type(error).__name__)
