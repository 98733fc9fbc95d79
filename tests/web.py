"""The web process of the product, on a free port of this machine, with the test's database."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from openwop_console.asgi import http
from openwop_console.bodies import App
from openwop_console.body_limit import BodyLimit
from openwop_console.events_edge import EventsEdge
from openwop_console.front import Front
from verification.patience import PatientGates


@dataclass(frozen=True)
class Web:
    """Where it answers."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        """Open a bare connection, for what no HTTP client would send."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)


@contextmanager
def serving_web() -> Iterator[Web]:
    """Serve the Console as the product does, with the settings of this moment."""
    edge = EventsEdge(BodyLimit(PatientGates(http)))
    try:
        with serving(Front(edge)) as web:
            yield web
    finally:
        edge.let_go()


@contextmanager
def serving(app: App) -> Iterator[Web]:
    """Serve an app by uvicorn, in a thread."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        config = uvicorn.Config(
            app, lifespan="off", access_log=False, server_header=False, log_config=None
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Web(listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(timeout=60)
    assert not thread.is_alive()
