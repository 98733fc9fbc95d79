"""Stops reading a request's body at the limit, before Django would store all of it.

Django's ASGI handler takes in the whole body before any view runs, whatever its size.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class BodyLimit:
    """Answers 413 in the API's own words when a body is, or claims to be, too large."""

    def __init__(self, app: App, *, limit: int, setting: str) -> None:
        """Guard an app; `setting` is the variable that moves the limit of so many bytes."""
        self.app = app
        self.limit = limit
        self._answer = orjson.dumps(
            {
                "error": "payload_too_large",
                "message": "The body is larger than this Console takes; send smaller batches.",
                "details": {"reason": "body_too_large", "limit": limit, "setting": setting},
            }
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._claims_too_much(scope):
            await self._refuse(send)
            return
        guard = _Guard(receive, send, self.limit)
        await self.app(scope, guard.receive, guard.send)
        if guard.is_over:
            await self._refuse(send)

    def _claims_too_much(self, scope: Scope) -> bool:
        claimed = dict(scope["headers"]).get(b"content-length", b"0")
        return claimed.isdigit() and int(claimed[:20]) > self.limit

    async def _refuse(self, send: Send) -> None:
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self._answer)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": self._answer})


class _Guard:
    """Counts what is received; once it is too much, the app sees a client that went away."""

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive = receive
        self._send = send
        self._left = limit
        self.is_over = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                self.is_over = True
                return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        if not self.is_over:
            await self._send(message)
