"""The bell: tells open pages to look again.

A bell carries no content and may be lost; the page's cursor is the truth. It is rung from a thread
of its own, so that no request waits for Redis and a burst of appends becomes one bell.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Iterable

from channels.layers import get_channel_layer
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

SEND_TIMEOUT_S = 2.0
REST_S = 0.02
"""Between two rounds: while events pour in, a bell for each would cost a tenth of taking them."""


def run_group(run: int) -> str:
    """Return the name of the group that a run's open pages join."""
    return f"run.{run}"


def workspace_group(workspace: int) -> str:
    """Return the name of the group that every open page of a workspace joins."""
    return f"workspace.{workspace}"


def host_group(host: int) -> str:
    """Return the name of the group that a host's open pages of settings join."""
    return f"host.{host}"


class _Bell(threading.Thread):
    """Rings each waiting group once, however often it was asked to meanwhile."""

    def __init__(self) -> None:
        super().__init__(name="bell", daemon=True)
        self._waiting: set[str] = set()
        self._asked = threading.Condition()

    def ask(self, groups: Iterable[str]) -> None:
        with self._asked:
            self._waiting.update(groups)
            self._asked.notify()

    def run(self) -> None:
        loop = asyncio.new_event_loop()
        while True:
            with self._asked:
                self._asked.wait_for(lambda: self._waiting)
                groups, self._waiting = self._waiting, set()
            loop.run_until_complete(_send(groups))
            time.sleep(REST_S)


async def _send(groups: Iterable[str]) -> None:
    layer = get_channel_layer()
    for group in groups:
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await layer.group_send(group, {"type": "bell", "group": group})
        except (OSError, TimeoutError, RedisError) as error:
            logger.warning("bell not rung: %s", type(error).__name__)


_bell: _Bell | None = None
_starting = threading.Lock()


def ring(*groups: str) -> None:
    """Tell the pages of these groups to look again, soon."""
    global _bell
    with _starting:
        if _bell is None or not _bell.is_alive():
            _bell = _Bell()
            _bell.start()
    _bell.ask(groups)
