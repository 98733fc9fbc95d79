"""Stops reading a request's body at the limit or the deadline, before Django would store all of it.

Django's ASGI handler takes in the whole body before any view runs, whatever its size.
"""

import asyncio

from django.conf import settings

from openwop_console.bodies import (
    App,
    Message,
    Receive,
    Scope,
    Send,
    Upload,
    answer_to,
    headers_by_name,
    send_answer,
)
from runs.door import too_large
from runs.refusal import Refusal, refused_because


class BodyLimit:
    """Answers in the API's own words when a request is, or claims to be, too large or too slow."""

    def __init__(self, app: App) -> None:
        """Guard an app."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = headers_by_name(scope)
        upload = Upload(receive, seconds=settings.BODY_DEADLINE_S)
        claimed = headers.get(b"content-length", b"0")
        if claimed.isdigit() and int(claimed[:18]) > settings.MAX_BODY_BYTES:
            refusal: Refusal | None = too_large()
        else:
            guard = _Guard(receive, send)
            await self.app(scope, guard.receive, guard.send)
            refusal = guard.refusal
        if refusal is not None:
            accept = headers.get(b"accept", b"").decode("latin-1")
            await send_answer(send, answer_to(refusal, accept), upload)


class _Guard:
    """Counts what is received; once it is too much, the app sees a client that went away."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._left = settings.MAX_BODY_BYTES
        self._until = asyncio.get_running_loop().time() + settings.BODY_DEADLINE_S
        self._is_whole = False
        self.refusal: Refusal | None = None

    async def receive(self) -> Message:
        if self._is_whole:
            return await self._receive()  # what comes now is the end of the connection
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            self.refusal = refused_because("body_too_slow", 408, "validation_error")
            return {"type": "http.disconnect"}
        if message["type"] == "http.request":
            self._is_whole = not message.get("more_body", False)
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                self.refusal = too_large()
                return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        if self.refusal is None:
            await self._send(message)
