"""uvicorn for the demo host: a port of its own, streams that end, connections that can be cut."""

import asyncio
import socket
from functools import partial

import click
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from openwop_console.demo.application import Host


class Cuttable(H11Protocol):
    """Serves the host with its transport at hand, so that a fault can cut the connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Pass the transport on."""
        super().connection_made(transport)
        self.app = partial(self.app, transport=transport)


def listening_on(port: int) -> socket.socket:
    """A socket that says it is TCP: asyncio turns Nagle's delay off only for those."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(128)
    return listening


class HostServer(uvicorn.Server):
    """uvicorn on a port of its own choice that tells when it is ready."""

    def __init__(self, host: Host, port: int = 0) -> None:
        config = uvicorn.Config(
            host,
            http=Cuttable,
            ws="none",
            lifespan="on",
            proxy_headers=False,
            log_level="warning",
            timeout_graceful_shutdown=2,
        )
        super().__init__(config)
        self._host = host
        self.socket = listening_on(port)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams first: they would outlast the grace period."""
        self._host.close_streams()
        await super().shutdown(sockets)

    async def run_until_stopped(self) -> None:
        """Serve until a signal or `should_exit`."""
        await self.serve(sockets=[self.socket])


class AnnouncingServer(HostServer):
    """Says on standard output where it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """One line once requests are answered."""
        await super().startup(sockets)
        if self.started:
            click.echo(f"listening on {self.url}")
