"""Bodies of requests as they arrive, and answers as they leave, below any framework.

Django takes in a whole body before a view runs, however large and however slow. Here a body is read
no further than asked, and no longer than the deadline.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from openwop_console.errors import headers_of, packed
from runs.refusal import Refusal

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LINGER_S = 5.0
"""How long what a client still sends is thrown away, so that it gets to read the answer."""


class ClientGone(Exception):
    """The client closed the connection: there is nobody to answer."""


class BodyTooSlow(Exception):
    """The body did not arrive in time."""


class Upload:
    """One request's body, read as far as was asked for."""

    def __init__(self, receive: Receive, *, seconds: float) -> None:
        """Start the clock."""
        self._receive = receive
        self._until = asyncio.get_running_loop().time() + seconds
        self._parts: list[bytes] = []
        self.size = 0
        self.is_whole = False

    async def read(self, most: int) -> None:
        """Read until the body ends or more than `most` bytes of it are here.

        Raises:
            BodyTooSlow: the deadline passed.
            ClientGone: it never will end.
        """
        try:
            async with asyncio.timeout_at(self._until):
                while not self.is_whole and self.size <= most:
                    await self._take_part()
        except TimeoutError:
            raise BodyTooSlow from None

    async def _take_part(self) -> None:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part: bytes = message.get("body", b"")
        if part:
            self._parts.append(part)
            self.size += len(part)
        self.is_whole = not message.get("more_body", False)

    def is_within(self, most: int) -> bool:
        """Say whether all of it is here and no more than `most` bytes."""
        return self.is_whole and self.size <= most

    def take(self) -> bytes:
        """Return what was read, and forget it."""
        parts, self._parts = self._parts, []
        return b"".join(parts)

    async def discard(self) -> None:
        """Throw away what still comes, for a while."""
        try:
            async with asyncio.timeout(LINGER_S):
                while not self.is_whole:
                    self._parts.clear()
                    await self._take_part()
        except (TimeoutError, ClientGone):
            return


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def answer_to(refusal: Refusal, accept: str) -> Answer:
    """Return a refusal as an answer."""
    content_type, body = packed(refusal, accept)
    return Answer(refusal.status, content_type, body, headers_of(refusal))


async def send_answer(send: Send, answer: Answer, unread: Upload | None = None) -> None:
    """Send an answer; with a body left unread, close the connection once the client had time."""
    headers = {
        "content-type": answer.content_type,
        "content-length": str(len(answer.body)),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        **answer.headers,
    }
    is_unread = unread is not None and not unread.is_whole
    if is_unread:
        headers["connection"] = "close"
    encoded = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": encoded})
    await send({"type": "http.response.body", "body": answer.body, "more_body": is_unread})
    if unread is not None and is_unread:
        await unread.discard()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def headers_by_name(scope: Scope) -> dict[bytes, bytes]:
    """Return a request's headers by lower-case name; of one that is repeated, the values joined."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        found[name] = found[name] + b"," + value if name in found else value
    return found
