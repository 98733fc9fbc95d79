"""One demo host put together: engine, surface, and what carries its events away."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from openwop_console.demo.asgi import (
    Line,
    Operation,
    Receive,
    Refused,
    Router,
    Scope,
    Send,
    request_of,
)
from openwop_console.demo.captured import recordings_in, workflows_from
from openwop_console.demo.dialects import dialect_named
from openwop_console.demo.discovery import BODY_LIMIT
from openwop_console.demo.engine import Engine, Pace
from openwop_console.demo.faults import Faults, FaultsAdmin
from openwop_console.demo.scripts import SCRIPTS
from openwop_console.demo.sender import Backoff, Sender
from openwop_console.demo.store import Ids
from openwop_console.demo.surface import Surface
from openwop_console.demo.webhooks import Subscription, Webhooks

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """How a host is to behave."""

    dialect: str = "spec"
    api_key: str = field(default_factory=secrets.token_urlsafe, repr=False)
    """Bearer key of the surface. Without one given, nobody has it."""
    console_url: str | None = None
    console_key: str = field(default="", repr=False)
    webhook_url: str | None = None
    webhook_secret: str = field(default="", repr=False)
    captured: Path | None = None
    """Folder of recordings to offer as workflows."""
    has_faults: bool = False
    seed: str = field(default_factory=secrets.token_hex, repr=False)
    pace: Pace = field(default_factory=Pace)
    heartbeat_s: float = 15.0
    backoff: Backoff = field(default_factory=Backoff)


class Host:
    """One host: its engine, its surface, and what carries its events away. An ASGI application."""

    def __init__(self, options: Options) -> None:
        self._options = options
        ids = Ids(options.seed)
        dialect = dialect_named(options.dialect, ids)
        workflows = dict(SCRIPTS)
        if options.captured is not None:
            workflows |= workflows_from(list(recordings_in(options.captured)), options.dialect)
        self.engine = Engine(dialect, workflows, ids, options.pace)
        self.closing = asyncio.Event()
        self.faults = Faults()
        self.webhooks = Webhooks(dialect.hooks, ids)
        self.engine.add_outlet(self.webhooks.offer)
        self.sender: Sender | None = None
        if options.console_url is not None:
            self.sender = Sender(options.console_url, options.console_key, options.backoff)
            self.engine.add_outlet(self.sender.offer)
        self._router = Router(self._routes())

    def _routes(self) -> Sequence[tuple[str, str, Operation]]:
        surface = Surface(
            self.engine,
            self.webhooks,
            self.faults,
            api_key=self._options.api_key,
            heartbeat_s=self._options.heartbeat_s,
            closing=self.closing,
        )
        routes = list(surface.routes())
        if self._options.has_faults:
            admin = FaultsAdmin(self.faults, self.engine.applied)
            path = "/admin/faults"
            routes += [
                ("GET", path, surface.guarded(admin.show)),
                ("PUT", path, surface.guarded(admin.put)),
                ("DELETE", path, surface.guarded(admin.delete)),
            ]
        return routes

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Deliver events while the host lives; stop its runs afterwards."""
        options = self._options
        if options.webhook_url is not None:
            subscription = Subscription(
                "wh-configured", options.webhook_url, options.webhook_secret, frozenset()
            )
            self.webhooks.add(subscription)
        sending = None if self.sender is None else asyncio.ensure_future(self.sender.run())
        try:
            yield
        finally:
            await self.engine.close()
            await self.webhooks.close()
            if self.sender is not None and sending is not None:
                await self._leave(self.sender, sending)

    async def _leave(self, sender: Sender, sending: asyncio.Task[None]) -> None:
        try:
            async with asyncio.timeout(2.0):
                await sender.drained()
        except TimeoutError:
            log.warning("%d event(s) were never taken by the Console.", sender.pending)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    def close_streams(self) -> None:
        """Let open streams and polls end, so that the server can stop."""
        self.closing.set()
        for run in self.engine.store.runs.values():
            run.ring()

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        transport: asyncio.Transport | None = None,
    ) -> None:
        """The ASGI entry; `transport` is there when served by `Cuttable`."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, Line(receive, send, transport))

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self.at_work():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, line: Line) -> None:
        try:
            body = await line.read(BODY_LIMIT)
            request = request_of(scope, body)
            operation, request = self._router.find(request)
            if request.path.startswith("/admin/"):
                answer = await operation(request)
            else:
                answer = await self.faults.around(request, operation)
        except Refused as refused:
            answer = refused.reply()
        await answer.deliver(line)
