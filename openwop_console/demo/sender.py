"""Carries a host's events to a Console: in order, in batches, each until it is committed.

A batch leaves the outbox only when the Console has answered for it. Busy, broken or unreachable
means the same batch again, later; only what the Console refuses for good is put aside, and counted.
Everything waits in memory: what is unsent when the host dies is lost, which a real host must not
copy.
"""

import asyncio
import logging
from collections import deque
from dataclasses import dataclass

import httpx
import orjson

from openwop_console.demo.asgi import JsonObject

_BATCH = 200

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait between tries; doubles up to the longest."""

    first_s: float = 0.5
    longest_s: float = 30.0

    def wait_s(self, failures: int, retry_after: str | None) -> float:
        """Seconds to wait after that many failures in a row; the Console's word is honoured."""
        wait_s = min(self.first_s * (1 << min(failures - 1, 16)), self.longest_s)
        if retry_after is not None and retry_after.isdigit():
            return max(wait_s, float(retry_after))
        return wait_s


class TryAgain(Exception):
    """The Console did not take the batch; it may later."""

    def __init__(self, why: str, retry_after: str | None = None) -> None:
        super().__init__(why)
        self.retry_after = retry_after


class Sender:
    """The outbox of one host key."""

    def __init__(self, console_url: str, key: str, backoff: Backoff | None = None) -> None:
        self._url = f"{console_url.rstrip('/')}/api/v1/events"
        self._headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        self._backoff = backoff or Backoff()
        self._outbox: deque[JsonObject] = deque()
        self._has_mail = asyncio.Event()
        self._is_empty = asyncio.Event()
        self._is_empty.set()
        self.refused = 0
        """Events the Console refused for good."""

    @property
    def pending(self) -> int:
        """Events not yet committed by the Console."""
        return len(self._outbox)

    def offer(self, event: JsonObject) -> None:
        """Take an event; never blocks."""
        self._outbox.append(event)
        self._is_empty.clear()
        self._has_mail.set()

    async def drained(self) -> None:
        """Return when nothing is pending."""
        await self._is_empty.wait()

    async def run(self) -> None:
        """Send for ever."""
        failures = 0
        async with httpx.AsyncClient(timeout=10.0, trust_env=False) as client:
            while True:
                await self._has_mail.wait()
                batch = [self._outbox[i] for i in range(min(_BATCH, len(self._outbox)))]
                try:
                    await self._send(client, batch)
                except TryAgain as again:
                    failures += 1
                    wait_s = self._backoff.wait_s(failures, again.retry_after)
                    log.warning("Console not taking events (%s); next try in %.1f s", again, wait_s)
                    await asyncio.sleep(wait_s)
                else:
                    failures = 0
                    self._committed(len(batch))

    def _committed(self, count: int) -> None:
        for _ in range(count):
            self._outbox.popleft()
        if not self._outbox:
            self._has_mail.clear()
            self._is_empty.set()

    async def _send(self, client: httpx.AsyncClient, batch: list[JsonObject]) -> None:
        """Return when every event of the batch is committed or refused for good."""
        content = orjson.dumps({"events": batch})
        try:
            response = await client.post(self._url, content=content, headers=self._headers)
        except httpx.TransportError as error:
            raise TryAgain(type(error).__name__) from error
        match response.status_code:
            case 200 | 201 | 202:
                return
            case 207:
                self._put_aside(len(response.json().get("rejected", [])))
            case 400 | 409 | 413 | 422 if len(batch) > 1:
                half = len(batch) // 2
                await self._send(client, batch[:half])
                await self._send(client, batch[half:])
            case 400 | 409 | 413 | 422:
                self._put_aside(1)
            case status:
                raise TryAgain(f"HTTP {status}", response.headers.get("retry-after"))

    def _put_aside(self, count: int) -> None:
        self.refused += count
        log.warning("The Console refused %d event(s).", count)
