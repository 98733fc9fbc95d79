"""One HTTP request to a judged address, within one deadline.

The name is resolved once, every address is judged, and the connection goes to a judged address and
to no other, while TLS and the Host header keep the name: a name that resolves differently a moment
later changes nothing. The deadline covers resolution, connection, request and answer together, so
that a host that sends a byte a second gains nothing. It follows no redirect, reads no proxy
variable, decodes nothing, and stops reading at its limit. It logs nothing.
"""

import functools
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import httpcore
import httpx

from runs.domain.addresses import Network
from runs.domain.destinations import (
    Allowed,
    Destination,
    Policy,
    Reason,
    Refused,
    judge_addresses,
    read_url,
    refused,
)
from runs.domain.host_answer import Answer, Reached
from runs.network import Deadline, PinnedBackend, TlsFailed

DEADLINE_S = 10.0
ANSWER_LIMIT = 64 * 1024
"""Bytes of an answer that are read; the status counts whatever the rest is."""

_BROKEN_OFF = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.RemoteProtocolError)

Resolver = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Call:
    """What is sent. Its repr holds no headers and no body, which may be secret."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    limit: int = ANSWER_LIMIT


@dataclass(frozen=True, slots=True)
class Received:
    """What came back."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    """By lower-case name."""
    body: bytes = field(repr=False)
    is_whole: bool
    """False when the body was longer than the limit or broke off."""


@dataclass(frozen=True, slots=True)
class Line:
    """How the Console reaches out: what it may connect to, who resolves names, and how long."""

    private: tuple[Network, ...] = ()
    resolver: Resolver | None = None
    deadline_s: float = DEADLINE_S


@dataclass(frozen=True, slots=True)
class Opened:
    """An answer whose body is still arriving."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    """By lower-case name."""
    chunks: Iterator[bytes] = field(repr=False)
    """Ends with the body, at the limit, at the deadline, or where the connection breaks."""


class _Unresolved(Exception):
    """The name has no address, or its resolution took too long."""


def send(call: Call, line: Line) -> tuple[Answer, Received | None]:
    """Send one request and say how it went; never raises for anything a host or network does."""
    started = time.monotonic()
    deadline = Deadline(line.deadline_s)
    with ExitStack() as stack:
        answer, response = _attempt(call, line, deadline, stack)
        received = _received(response, call.limit) if response else None
    elapsed = round((time.monotonic() - started) * 1000)
    status = received.status if received else answer.status
    return Answer(answer.reached, status, why=answer.why, elapsed_ms=elapsed), received


@contextmanager
def opened(call: Call, line: Line) -> Iterator[Opened | Answer]:
    """Send one request and give its answer while it arrives: for streams.

    Yields:
        The open answer, or how the attempt ended where none came.
    """
    deadline = Deadline(line.deadline_s)
    with ExitStack() as stack:
        answer, response = _attempt(call, line, deadline, stack)
        if response is None:
            yield answer
        else:
            chunks = _up_to(call.limit, response.iter_stream())
            yield Opened(response.status, _headers(response), chunks)


def _attempt(
    call: Call, line: Line, deadline: Deadline, stack: ExitStack
) -> tuple[Answer, httpcore.Response | None]:
    try:
        target = _judged(call.url, line, deadline)
        if isinstance(target, Refused):
            return Answer(Reached.FORBIDDEN, why=target.words), None
        return Answer(Reached.ANSWERED), _exchange(call, target, deadline, stack)
    except (_Unresolved, httpcore.ConnectError, httpcore.ConnectTimeout) as error:
        return Answer(Reached.NOT_SENT, why=_why_not_sent(error)), None
    except (httpcore.LocalProtocolError, UnicodeError):
        return Answer(Reached.FORBIDDEN, why="The stored API key cannot be put in a header."), None
    except httpcore.TimeoutException:
        return Answer(Reached.NO_ANSWER, why="timeout"), None
    except httpcore.NetworkError:
        return Answer(Reached.NO_ANSWER, why="reset"), None
    except httpcore.RemoteProtocolError:
        return Answer(Reached.NO_ANSWER, why="garbled"), None


def _why_not_sent(error: Exception) -> str:
    match error:
        case _Unresolved():
            return "name"
        case TlsFailed():
            return "tls"
        case httpcore.ConnectTimeout():
            return "slow"
        case _:
            return "refused"


def _judged(url: str, line: Line, deadline: Deadline) -> Allowed | Refused:
    destination = read_url(url) if url else refused(Reason.UNREADABLE)
    if isinstance(destination, Refused):
        return destination
    addresses = _resolved(destination, line.resolver or addresses_of, deadline)
    return judge_addresses(destination, addresses, Policy(line.private))


def addresses_of(host: str, port: int) -> list[str]:
    """Return every address the system knows for a name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _resolved(destination: Destination, resolver: Resolver, deadline: Deadline) -> Sequence[str]:
    """Resolve a name within the deadline; the system's resolver takes no timeout of its own."""
    if destination.is_literal:
        return [destination.host]
    answers: queue.SimpleQueue[Sequence[str]] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(resolver(destination.host, destination.port))
        except OSError:
            answers.put(())

    threading.Thread(target=ask, daemon=True).start()
    try:
        addresses = answers.get(timeout=deadline.remaining(httpcore.ConnectTimeout))
    except queue.Empty:
        raise _Unresolved from None
    if not addresses:
        raise _Unresolved
    return addresses


def _exchange(
    call: Call, target: Allowed, deadline: Deadline, stack: ExitStack
) -> httpcore.Response:
    where = target.destination
    url = httpcore.URL(
        scheme=where.scheme.encode(),
        host=where.host.encode(),
        port=where.port,
        target=where.path.encode("ascii"),
    )
    headers = [(b"Host", _authority(where).encode()), (b"Connection", b"close")]
    headers += [(name.encode("ascii"), value.encode("ascii")) for name, value in _sent(call)]
    if any(byte in value for _, value in headers for byte in b"\r\n\0"):
        raise httpcore.LocalProtocolError  # before there is a connection
    backend = PinnedBackend(target.addresses, deadline)
    pool = stack.enter_context(httpcore.ConnectionPool(ssl_context=_tls(), network_backend=backend))
    return stack.enter_context(pool.stream(call.method, url, headers=headers, content=call.body))


def _sent(call: Call) -> Iterable[tuple[str, str]]:
    yield "Accept-Encoding", "identity"
    yield "User-Agent", "openwop-console"
    yield from call.headers.items()
    if call.body or call.method == "POST":
        yield "Content-Length", str(len(call.body))


def _received(response: httpcore.Response, limit: int) -> Received:
    """Read a body up to a limit. Once the status is known, a body that breaks off is no failure."""
    body = bytearray()
    is_whole = True
    try:
        for chunk in response.iter_stream():
            body += chunk[: limit + 1 - len(body)]
            if len(body) > limit:
                is_whole = False
                break
    except _BROKEN_OFF:
        is_whole = False
    return Received(response.status, _headers(response), bytes(body[:limit]), is_whole)


def _up_to(limit: int, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Pass chunks on, at most so many bytes in all, until they end in whatever way."""
    left = limit
    try:
        for chunk in chunks:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return
    except _BROKEN_OFF:
        return


def _headers(response: httpcore.Response) -> Mapping[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
    }


def _authority(where: Destination) -> str:
    host = f"[{where.host}]" if ":" in where.host else where.host
    is_usual = where.port == {"https": 443, "http": 80}[where.scheme]
    return host if is_usual else f"{host}:{where.port}"


@functools.cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()
