"""HTTP written and read byte by byte, for requests that no client would send."""

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.web import Web


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0]

    def json(self) -> Any:
        return json.loads(self.body)


def exchange(
    web: Web,
    body: bytes = b"",
    *,
    method: str = "POST",
    path: str = "/api/v1/events",
    headers: dict[str, str | None],
    is_framed: bool = False,
) -> Reply:
    """Send one request on a connection of its own and read its answer.

    Args:
        headers: None leaves one out that would be sent otherwise.
        is_framed: the body and the headers say themselves where it ends.
    """
    sent: dict[str, str | None] = {"Host": f"127.0.0.1:{web.port}", "Connection": "close"}
    if not is_framed:
        sent["Content-Length"] = str(len(body))
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in (sent | headers).items() if value is not None]
    with web.connect() as connection:
        send(connection, "\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        return read_reply(connection)


def send(connection: socket.socket, content: bytes) -> None:
    """Send as much as the server wants to have."""
    try:
        connection.sendall(content)
    except (BrokenPipeError, ConnectionResetError):
        return


def read_reply(connection: socket.socket) -> Reply:
    """Read an answer to the end of the connection, or as much as it says it is."""
    received = b""
    while not _is_whole(received):
        part = connection.recv(65536)
        if not part:
            break
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(_chunks(body))
    return Reply(int(first.split(" ")[1]), headers, body)


def _chunks(body: bytes) -> Iterator[bytes]:
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        yield rest[:length]
        body = rest[length + 2 :] if length else b""


def _is_whole(received: bytes) -> bool:
    head, end, body = received.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return bool(end) and len(body) >= int(line.partition(b":")[2])
    return False
