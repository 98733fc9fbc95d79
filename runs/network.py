"""Sockets that go to judged addresses only and end by one deadline.

Below HTTP: what `pinned` builds its requests on. A timeout per step would let a host stretch an
attempt for ever by a byte now and then; here every step gets what is left of the whole.
"""

import ssl
import time
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore


class Deadline:
    """A moment on the monotonic clock by which everything must be over."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = time.monotonic() + seconds

    def remaining(self, late: type[Exception] = httpcore.ReadTimeout) -> float:
        """Return the seconds that are left. Raises `late` when none are."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise late
        return left


class TlsFailed(httpcore.ConnectError):
    """The host's certificate or protocol was not acceptable."""


class PinnedBackend(httpcore.NetworkBackend):
    """Connects to the judged addresses, whatever host it is asked for."""

    def __init__(self, addresses: Sequence[str], deadline: Deadline) -> None:
        self._addresses = addresses
        self._deadline = deadline
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers."""
        failure: Exception = httpcore.ConnectError()
        for left, address in zip(range(len(self._addresses), 0, -1), self._addresses, strict=True):
            share = self._deadline.remaining(httpcore.ConnectTimeout) / left
            try:
                stream = self._inner.connect_tcp(address, port, timeout=share)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return DeadlineStream(stream, self._deadline)
        raise failure


class DeadlineStream(httpcore.NetworkStream):
    """A stream whose every step ends by the one deadline."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what has arrived."""
        return self._inner.read(max_bytes, self._deadline.remaining(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send in small parts, so that a slow reader cannot stretch the deadline by much."""
        for start in range(0, len(buffer), 4096):
            left = self._deadline.remaining(httpcore.WriteTimeout)
            self._inner.write(buffer[start : start + 4096], left)

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Return the stream under TLS, verified for the name."""
        left = self._deadline.remaining(httpcore.ConnectTimeout)
        try:
            stream = self._inner.start_tls(ssl_context, server_hostname, left)
        except httpcore.ConnectError as error:
            raise TlsFailed from error
        return DeadlineStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """Return a detail of the connection."""
        return self._inner.get_extra_info(info)
