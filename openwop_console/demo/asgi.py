"""The little of HTTP that the demo host needs: a request, an answer, a table of routes.

A framework would answer for us where a real host would not (redirects for a trailing slash,
automatic HEAD, its own error bodies), so there is none. Paths are split before they are decoded: an
id with an encoded slash stays one segment.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote

import orjson

JsonObject = dict[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Request:
    """One request, read to its end."""

    method: str
    path: str
    """As sent, still percent-encoded."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Lower-case names."""
    body: bytes
    origin: str
    """How the caller reached us, such as `http://127.0.0.1:8080`."""
    params: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """A request is answered with an error envelope: `{error, message, details?}`."""

    def __init__(
        self, status: int, error: str, message: str, details: JsonObject | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.details = details

    def reply(self) -> "Reply":
        """The error envelope as an answer."""
        body: JsonObject = {"error": self.error, "message": self.message}
        if self.details is not None:
            body["details"] = self.details
        return Reply(self.status, body)


class Line:
    """The open connection that an answer is written to."""

    def __init__(self, receive: Receive, send: Send, transport: asyncio.Transport | None) -> None:
        self._receive = receive
        self._send = send
        self._transport = transport

    async def read(self, limit: int) -> bytes:
        """The whole request body. Raises Refused (413) as soon as it passes `limit` bytes."""
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > limit:
                raise Refused(413, "payload_too_large", f"The body is over {limit} bytes.")
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                return b"".join(chunks)

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the status line and headers."""
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def write(self, chunk: bytes, *, more: bool = True) -> None:
        """Send a piece of the body; `more=False` ends it."""
        await self._send({"type": "http.response.body", "body": chunk, "more_body": more})

    async def gone(self) -> None:
        """Return when the caller has hung up."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def drop(self) -> None:
        """Cut the connection without a word, as a host that died would."""
        if self._transport is not None:
            self._transport.abort()
        await self.gone()


class Answer(Protocol):
    """Anything that can be written to a line."""

    async def deliver(self, line: Line) -> None:
        """Write all of it."""
        ...  # pragma: no cover


@dataclass(frozen=True, slots=True)
class Reply:
    """A JSON answer of known size."""

    status: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def with_header(self, name: str, value: str) -> "Reply":
        """The same answer with one more header."""
        return replace(self, headers={**self.headers, name: value})

    async def deliver(self, line: Line) -> None:
        """Write status, headers and body."""
        content = b"" if self.status == 204 else orjson.dumps(self.body)
        headers = {"content-type": "application/json", "content-length": str(len(content))}
        if self.status == 204:
            headers = {}
        await line.start(self.status, {**headers, **self.headers})
        await line.write(content, more=False)


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer that is written while it happens; it ends early when the caller hangs up."""

    pump: Callable[[Line], Awaitable[None]]
    content_type: str = "text/event-stream"

    async def deliver(self, line: Line) -> None:
        """Start, then let the pump write until it is done or nobody listens."""
        headers = {"content-type": self.content_type, "cache-control": "no-store"}
        await line.start(200, headers)
        pumping = asyncio.ensure_future(self.pump(line))
        hung_up = asyncio.ensure_future(line.gone())
        try:
            await asyncio.wait({pumping, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            if pumping.done():
                pumping.result()
                await line.write(b"", more=False)
        finally:
            pumping.cancel()
            hung_up.cancel()
            await asyncio.gather(pumping, hung_up, return_exceptions=True)


Operation = Callable[[Request], Awaitable[Answer]]


class Router:
    """Finds the operation for a method and path."""

    def __init__(self, routes: Sequence[tuple[str, str, Operation]]) -> None:
        self._routes = [(method, path.split("/"), operation) for method, path, operation in routes]

    def find(self, request: Request) -> tuple[Operation, Request]:
        """The operation and the request with its path parameters.

        Raises:
            Refused: 404 for an unknown path, 405 for a known path with another method.
        """
        segments = request.path.split("/")
        allowed = set()
        for method, pattern, operation in self._routes:
            params = _match(pattern, segments)
            if params is None:
                continue
            if method == request.method:
                return operation, replace(request, params=params)
            allowed.add(method)
        if allowed:
            raise Refused(405, "method_not_allowed", f"Use {', '.join(sorted(allowed))} here.")
        raise no_route(request)


def no_route(request: Request) -> Refused:
    """What hosts answer to a path they do not have."""
    return Refused(404, "not_found", f"No route for {request.method} {request.path}")


def _match(pattern: Sequence[str], segments: Sequence[str]) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    params: dict[str, str] = {}
    for expected, found in zip(pattern, segments, strict=True):
        if expected.startswith("{"):
            params[expected.strip("{}")] = unquote(found)
        elif expected != found:
            return None
    return params


def request_of(scope: Scope, body: bytes = b"") -> Request:
    """The request that an ASGI scope describes."""
    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }
    server = scope.get("server") or ("127.0.0.1", 80)
    host = headers.get("host", f"{server[0]}:{server[1]}")
    return Request(
        method=scope["method"],
        path=scope["raw_path"].decode("latin-1").partition("?")[0],
        query=dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)),
        headers=headers,
        body=body,
        origin=f"{scope['scheme']}://{host}",
    )


def json_object(request: Request) -> JsonObject:
    """The body as a JSON object. Raises Refused (415 or 400)."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Refused(415, "unsupported_media_type", "Send application/json.")
    try:
        body = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise Refused(400, "validation_error", "The body is not JSON.") from error
    if not isinstance(body, dict):
        raise Refused(400, "validation_error", "The body must be a JSON object.")
    return body
