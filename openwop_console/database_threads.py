"""Threads that each keep their database connection, and know when it is no use to ask.

Django gives a connection back after each request and looks at it before the next. Here the two
questions to the database are saved: a connection is kept until it fails, and a job that met one
which broke while nobody looked is done again on a new one. Jobs must be harmless to repeat.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

AWAY_S = 1.0
"""How long after a failure to reach the database it is not asked again."""
LOCK_S = 10
"""How long a job waits for a row that somebody else has locked."""
STATEMENT_S = 25

_Result = TypeVar("_Result")


class DatabaseThreads:
    """A few threads for short jobs."""

    def __init__(self, count: int, *, name: str, most_s: float) -> None:
        """Make the threads, which start when there is something to do.

        Args:
            count: how many jobs are done at once.
            name: what the threads are called.
            most_s: how long anybody waits for a job.
        """
        self._count = count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._most_s = most_s
        self._away_until = 0.0

    async def run(self, job: Callable[[], _Result]) -> _Result:
        """Do a job on one of the threads and return what it returns.

        Raises:
            OperationalError: the database is away, or too slow. Whatever else the job raises.
        """
        if time.monotonic() < self._away_until:
            raise OperationalError("not asked again yet")
        loop = asyncio.get_running_loop()
        working = loop.run_in_executor(self._pool, self._do, job)
        try:
            return await asyncio.wait_for(asyncio.shield(working), self._most_s)
        except TimeoutError:
            working.add_done_callback(_forget)
            raise OperationalError("no answer in time") from None

    def let_go(self) -> None:
        """Close the connections of all threads; the next job opens a new one."""
        all_here = threading.Barrier(self._count)

        def close() -> None:
            all_here.wait()
            connection.close()

        for closing in [self._pool.submit(close) for _ in range(self._count)]:
            closing.result()

    def _do(self, job: Callable[[], _Result]) -> _Result:
        was_connected = connection.connection is not None
        try:
            _connect()
            return job()
        except (OperationalError, InterfaceError):
            if not was_connected or not _is_broken():
                self._note_if_away()
                raise
        connection.close()
        try:
            _connect()
            return job()
        except (OperationalError, InterfaceError):
            self._note_if_away()
            raise

    def _note_if_away(self) -> None:
        if connection.connection is None or _is_broken():
            connection.close()
            self._away_until = time.monotonic() + AWAY_S


def _connect() -> None:
    """Connect if there is no connection, and bound how long it may keep its thread.

    What is asked here finds its rows by index. It is planned once, maybe while the tables are still
    small, and must not go on reading all of them when they have grown.
    """
    if connection.connection is None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{LOCK_S}s'")
            cursor.execute(f"SET statement_timeout = '{STATEMENT_S}s'")
            cursor.execute("SET enable_seqscan = off")


def _is_broken() -> bool:
    return connection.connection is not None and bool(connection.connection.closed)


def _forget(done: "asyncio.Future[Any]") -> None:
    """Take the result of a job that nobody waits for any more."""
    if not done.cancelled():
        done.exception()
