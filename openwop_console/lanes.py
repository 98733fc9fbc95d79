"""Lanes: each host has one, and only so much of a lane is worked on or waits at once.

A host that is slow, or hostile, or just large fills its own lane; there is always room for the next
one.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

LEAST_BYTES = 64 * 1024
"""What a request counts at least, however small its body."""


class LaneFull(Exception):
    """Too much waits in the lane already."""


class NoTurn(Exception):
    """The turn did not come in time."""


@dataclass(slots=True)
class _Lane:
    turns: asyncio.Semaphore
    bytes: int = 0
    users: int = 0


class Lanes:
    """The lanes of one event loop."""

    def __init__(self, *, abreast: int, most_bytes: int, wait_s: float) -> None:
        """Make no lane yet.

        Args:
            abreast: requests of one lane that are worked on at once.
            most_bytes: bodies of one lane that may be held.
            wait_s: how long a request may wait for its turn.
        """
        self._abreast = abreast
        self._most_bytes = most_bytes
        self._wait_s = wait_s
        self._lanes: dict[Hashable, _Lane] = {}

    @contextmanager
    def room(self, of: Hashable, size: int) -> Iterator[None]:
        """Hold a body of so many bytes for the length of the block.

        Raises:
            LaneFull: the lane holds too much already.
        """
        size = max(size, LEAST_BYTES)
        with self._using(of) as lane:
            if lane.bytes and lane.bytes + size > self._most_bytes:
                raise LaneFull
            lane.bytes += size
            try:
                yield
            finally:
                lane.bytes -= size

    @asynccontextmanager
    async def turn(self, of: Hashable) -> AsyncIterator[None]:
        """Wait for a turn and hold it for the length of the block.

        Raises:
            NoTurn: it did not come in time.
        """
        with self._using(of) as lane:
            try:
                async with asyncio.timeout(self._wait_s):
                    await lane.turns.acquire()
            except TimeoutError:
                raise NoTurn from None
            try:
                yield
            finally:
                lane.turns.release()

    @contextmanager
    def _using(self, of: Hashable) -> Iterator[_Lane]:
        """Give the lane, made if there is none, and forgotten once nobody uses it."""
        lane = self._lanes.get(of)
        if lane is None:
            lane = self._lanes[of] = _Lane(asyncio.Semaphore(self._abreast))
        lane.users += 1
        try:
            yield lane
        finally:
            lane.users -= 1
            if not lane.users:
                del self._lanes[of]
