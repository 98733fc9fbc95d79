"""Asks models on behalf of jobs: one call under way.

A call runs in a thread of its own, so that whoever waits for it can keep a lease alive and call it
off. Keys come from settings or from the admin; how a provider is spoken to is `providers`'.
"""

import asyncio
import threading
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet

from verification.calls import Endpoint, Failed, Question, Said
from verification.domain.consensus import failures

__all__ = ["Call", "Failed", "Question", "Said"]


class Call:
    """One call under way."""

    def __init__(self, endpoint: Endpoint, question: Question) -> None:
        self._endpoint = endpoint
        self._question = question
        self._result: Future[Said | Failed] = Future()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="model call", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> Said | Failed | None:
        """Return how it ended; None when it still goes on after this time."""
        try:
            return self._result.result(timeout=seconds)
        except NotYet:
            return None
        except CancelledError:
            return Failed(failures.CANCELLED)

    def call_off(self) -> None:
        """Stop waiting for an answer and close the connection."""
        self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._task = self._loop.create_task(self._ask())
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            self._settle(Failed(failures.CANCELLED))
        finally:
            self._settle(Failed(failures.raised("CallEnded")))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _settle(self, result: Said | Failed) -> None:
        if not self._result.done():
            self._result.set_result(result)

    async def _ask(self) -> None:
        from verification import providers  # heavy: loaded with the first call, where there is one

        self._settle(await providers.ask(self._endpoint, self._question))
