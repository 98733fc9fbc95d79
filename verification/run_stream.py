"""A run's events as server-sent events, for as long as a client listens.

It waits for the run's bell, reads what came after the last event that it sent, and sends that. A
lost bell costs a delay. A stream ends with the run, and after a while in any case: whoever comes
back is asked for their key again. Source: OpenWOP stream-modes.md; RFC 0247 (bounded close).
"""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any, ClassVar

import orjson
from channels.db import database_sync_to_async

from runs.live import run_group
from verification.domain.hosting.majors import Major
from verification.models import Job
from verification.patience import Bell
from verification.queries.hosting import events_of

LIFE_S = 60.0
LOOK_EVERY_S = 5.0
MOST_STREAMS = 200
"""Open at once in one web process."""


class RunStream:
    """One client's stream of one run."""

    _open: ClassVar[int] = 0

    def __init__(self, job: Job, major: Major, above: int) -> None:
        self._job = job
        self._major = major
        self._above = above

    @property
    def has_room(self) -> bool:
        """Say whether another stream may be opened."""
        return RunStream._open < MOST_STREAMS

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield frames until the run has ended or it is time to come again."""
        RunStream._open += 1
        bell = Bell()
        until = monotonic() + LIFE_S
        try:
            await bell.join(run_group(self._job.run_id))
            while True:
                events, has_ended = await self._news()
                for event in events:
                    yield _frame(event)
                if has_ended or monotonic() >= until:
                    return
                if not events:
                    yield b": nothing new\n\n"
                await bell.wait(min(LOOK_EVERY_S, until - monotonic()))
        finally:
            RunStream._open -= 1
            await asyncio.shield(bell.leave())

    @database_sync_to_async  # type: ignore[untyped-decorator]
    def _news(self) -> tuple[list[dict[str, Any]], bool]:
        self._job.run.refresh_from_db(fields=["is_terminal", "last_sequence"])
        events = events_of(self._job, self._major, self._above)
        if events:
            self._above = events[-1]["sequence"]
        run = self._job.run
        last = -1 if run.last_sequence is None else run.last_sequence
        return events, run.is_terminal and self._above >= last


def _frame(event: dict[str, Any]) -> bytes:
    head = f"id: {event['sequence']}\nevent: {event['type']}\ndata: ".encode()
    return head + orjson.dumps(event) + b"\n\n"
