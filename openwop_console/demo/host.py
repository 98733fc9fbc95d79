"""The demo host as a process: `python -m openwop_console.demo.host --port 0 …`.

It listens on 127.0.0.1 alone, prints one line when it is ready, and no secret ever. Keys are better
given in the environment than as options, which other users of the machine can read.
"""

import asyncio
import logging
import os
import secrets
import sys
from pathlib import Path

import click
import uvicorn

from openwop_console.demo.application import Host, Options
from openwop_console.demo.dialects import DIALECTS
from openwop_console.demo.engine import Pace
from openwop_console.demo.server import AnnouncingServer


def _stop_when_orphaned(server: uvicorn.Server, loop: asyncio.AbstractEventLoop) -> None:
    """The parent holds our standard input; when it dies, so do we."""

    def read() -> None:
        if not os.read(sys.stdin.fileno(), 1):
            loop.remove_reader(sys.stdin.fileno())
            server.should_exit = True

    loop.add_reader(sys.stdin.fileno(), read)


async def serve(options: Options, port: int, *, until_stdin_closes: bool) -> None:
    """Run the host until it is told to stop."""
    server = AnnouncingServer(Host(options), port)
    if until_stdin_closes:
        _stop_when_orphaned(server, asyncio.get_running_loop())
    await server.run_until_stopped()


@click.command()
@click.option("--port", default=0, help="0 picks a free one.")
@click.option("--dialect", type=click.Choice(sorted(DIALECTS)), default="spec")
@click.option("--api-key", envvar="OPENWOP_DEMO_API_KEY", default="")
@click.option("--console", envvar="OPENWOP_DEMO_CONSOLE", default=None, help="Console URL.")
@click.option("--key", envvar="OPENWOP_DEMO_KEY", default="", help="Host key of the Console.")
@click.option("--webhook", default=None, help="Also deliver signed webhooks to this URL.")
@click.option("--webhook-secret", envvar="OPENWOP_DEMO_WEBHOOK_SECRET", default="")
@click.option("--captured", type=click.Path(exists=True, path_type=Path), default=None)
@click.option("--pace", default=1.0, help="Seconds between two events of a script.")
@click.option("--seed", default="", help="Same seed, same ids.")
@click.option("--heartbeat", default=15.0, help="Seconds between stream comments.")
@click.option("--interrupt-ttl", default=86_400.0, help="Seconds until an interrupt expires.")
@click.option("--faults", is_flag=True, help="Offer /admin/faults, for tests.")
@click.option("--until-stdin-closes", is_flag=True, help="Stop when the parent goes.")
def main(
    *,
    port: int,
    dialect: str,
    api_key: str,
    console: str | None,
    key: str,
    webhook: str | None,
    webhook_secret: str,
    captured: Path | None,
    pace: float,
    seed: str,
    heartbeat: float,
    interrupt_ttl: float,
    faults: bool,
    until_stdin_closes: bool,
) -> None:
    """Run a small OpenWOP v1 host that plays scripted runs."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    options = Options(
        dialect=dialect,
        api_key=api_key or secrets.token_urlsafe(),
        console_url=console,
        console_key=key,
        webhook_url=webhook,
        webhook_secret=webhook_secret,
        captured=captured,
        has_faults=faults,
        seed=seed or secrets.token_hex(),
        pace=Pace(pace, interrupt_ttl),
        heartbeat_s=heartbeat,
    )
    asyncio.run(serve(options, port, until_stdin_closes=until_stdin_closes))


if __name__ == "__main__":
    main()
