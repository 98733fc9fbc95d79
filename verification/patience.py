"""Lets a question about a gate, or a poll, wait for its answer without holding anything meanwhile.

A waiting request is one coroutine. It asks the application, as a short request of its own; where
the answer is "not yet" it waits for the run's bell and asks again. Thread, database connection and
permission belong to each asking, so a key that is revoked meanwhile is refused. Bells may be lost
and Redis may be away: it looks again after a while in any case.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any
from urllib.parse import parse_qs

from channels.layers import get_channel_layer
from redis.exceptions import RedisError

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/api/v1/gates/"
POLL = "/events/poll"
POLL_S = 20
"""How long a poll waits that does not say; the official client gives up after 30."""
LONGEST_WAIT_S = 60
KEY = "openwop.patience"
"""Where a request's scope says how long it may wait."""
_BELL_TIMEOUT_S = 2.0
_QUIET_S = 0.1
"""Bells that ring within this time are answered by one asking."""


class Patience:
    """How long one request may wait, and for which bell."""

    def __init__(self, seconds: float) -> None:
        self.until = monotonic() + seconds
        self.group = ""

    @property
    def left_s(self) -> float:
        """Return how many seconds are left; never below zero."""
        return max(0.0, self.until - monotonic())

    def asks_again(self, group: str) -> bool:
        """Say whether the answer may wait for a group's bell, and remember which."""
        self.group = group if self.left_s > 0 else ""
        return bool(self.group)


def patience_of(scope: object) -> Patience | None:
    """Return the patience of a request by its ASGI scope; None where it cannot wait."""
    found = scope.get(KEY) if isinstance(scope, Mapping) else None
    return found if isinstance(found, Patience) else None


class PatientGates:
    """Holds requests that say how long they would wait until there is something to say."""

    def __init__(self, app: App, *, look_every_s: float = 5.0, without_bell_s: float = 1.0) -> None:
        """Stand before an app.

        Args:
            app: answers each asking.
            look_every_s: asks again after so long, bell or not.
            without_bell_s: the same where there is no bell to wait for.
        """
        self.app = app
        self.look_every_s = look_every_s
        self.without_bell_s = without_bell_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or hold it."""
        wait = _wait_of(scope)
        if wait == 0:
            await self.app(scope, receive, send)
            return
        gone = asyncio.create_task(_until_gone(receive))
        try:
            for message in await self._patiently(scope, Patience(wait), gone):
                await send(message)
        finally:
            gone.cancel()

    async def _patiently(
        self, scope: Scope, patience: Patience, gone: "asyncio.Task[None]"
    ) -> list[Message]:
        """Return the messages of the answer to send; none when the client went away."""
        bell = Bell()
        try:
            while not gone.done():
                messages = await self._ask(scope, patience, gone)
                if not patience.group:
                    return messages
                if await bell.join(patience.group):
                    continue  # what happened before we could hear the bell
                pause = self.look_every_s if bell.is_heard else self.without_bell_s
                await bell.wait(min(pause, patience.left_s), gone)
        finally:
            await bell.leave()
        return []

    async def _ask(
        self, scope: Scope, patience: Patience, gone: "asyncio.Task[None]"
    ) -> list[Message]:
        messages: list[Message] = []
        request = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Message:
            for message in request:
                return message
            await asyncio.shield(gone)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            messages.append(message)

        patience.group = ""
        await self.app({**scope, KEY: patience}, receive, send)
        return messages


class Bell:
    """One run's bell, as far as it can be heard."""

    def __init__(self) -> None:
        self._layer = get_channel_layer()
        self._group = self._channel = ""
        self._rings: asyncio.Task[Any] | None = None

    @property
    def is_heard(self) -> bool:
        """Say whether it can be heard."""
        return self._rings is not None

    async def join(self, group: str) -> bool:
        """Listen to a group's bell; true when it is heard from now on and was not before."""
        if self._group:
            return False
        self._group = group
        try:
            async with asyncio.timeout(_BELL_TIMEOUT_S):
                self._channel = await self._layer.new_channel()
                await self._layer.group_add(group, self._channel)
        except (OSError, TimeoutError, RedisError):
            return False
        self._rings = asyncio.create_task(self._layer.receive(self._channel))
        return True

    async def wait(self, seconds: float, *others: "asyncio.Task[Any]") -> None:
        """Wait until it rings, for so long at most, or until one of the others is done."""
        heard = {*others} if self._rings is None else {*others, self._rings}
        if heard:
            await asyncio.wait(heard, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(seconds)
        if self._rings is not None and self._rings.done():
            await asyncio.sleep(_QUIET_S)
            self._rings = asyncio.create_task(self._layer.receive(self._channel))

    async def leave(self) -> None:
        """Listen no more."""
        if self._rings is None:
            return
        self._rings.cancel()
        with suppress(OSError, TimeoutError, RedisError, asyncio.CancelledError):
            async with asyncio.timeout(_BELL_TIMEOUT_S):
                await self._rings
        with suppress(OSError, TimeoutError, RedisError):
            async with asyncio.timeout(_BELL_TIMEOUT_S):
                await self._layer.group_discard(self._group, self._channel)


def _wait_of(scope: Scope) -> int:
    """Return how many seconds a request wants to wait; zero when it is none of ours."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return 0
    if scope["path"].startswith(PATH):
        name, unsaid = "wait", ""
    elif scope["path"].endswith(POLL) and scope["path"].startswith(("/v1/runs/", "/runs/")):
        name, unsaid = "timeout", str(POLL_S)
    else:
        return 0
    asked = parse_qs(scope["query_string"].decode("latin-1")).get(name, [unsaid])[-1]
    return min(int(asked), LONGEST_WAIT_S) if is_seconds(asked) else 0


def is_seconds(text: str) -> bool:
    """Say whether a text is a whole number of seconds that can be waited."""
    return text.isascii() and text.isdigit() and len(text) <= 6


async def _until_gone(receive: Receive) -> None:
    """Read the request to its end, and then until the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass
