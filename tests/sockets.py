"""A page's socket, driven without a server."""

from typing import Any

from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.test import Client

WAIT_S = 30


class Socket(ApplicationCommunicator):
    """One open socket of a signed-in person."""

    async def say(self, text: str) -> None:
        await self.send_input({"type": "websocket.receive", "text": text})

    async def hears(self) -> str:
        """The next thing that it is sent."""
        message = await self.receive_output(timeout=WAIT_S)
        return message.get("text") or f"closed {message.get('code')}"

    async def close(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(timeout=WAIT_S)


async def opened(application: Any, address: str, user: User) -> Socket:
    """A socket that was accepted."""
    session = await database_sync_to_async(_session_of, thread_sensitive=False)(user)
    scope = {
        "type": "websocket",
        "path": address,
        "query_string": b"",
        "subprotocols": [],
        "headers": [
            (b"cookie", f"sessionid={session}".encode()),
            (b"origin", b"http://127.0.0.1"),
            (b"host", b"127.0.0.1"),
        ],
    }
    socket = Socket(application, scope)
    await socket.send_input({"type": "websocket.connect"})
    accepted = await socket.receive_output(timeout=WAIT_S)
    assert accepted["type"] == "websocket.accept"
    return socket


def _session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value
