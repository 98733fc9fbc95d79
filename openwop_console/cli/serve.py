"""`serve`: the whole Console on this machine."""

import ipaddress

import click

from openwop_console.cli.options import data_dir
from openwop_console.supervisor.folder import Folder


def _address(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Accept an address of this machine; names are resolved by nobody but the browser."""
    wanted = "127.0.0.1" if value == "localhost" else value
    try:
        return str(ipaddress.ip_address(wanted))
    except ValueError as error:
        raise click.BadParameter("give an IP address, such as 127.0.0.1 or 0.0.0.0") from error


@click.command("serve")
@data_dir
@click.option(
    "--port",
    envvar="PORT",
    type=click.IntRange(0, 65535),
    default=8000,
    help="Port of the web pages and the API; 0 takes a free one. [env: PORT; default: 8000]",
)
@click.option(
    "--bind",
    envvar="BIND_ADDRESS",
    default="127.0.0.1",
    callback=_address,
    help="Address to listen on. [env: BIND_ADDRESS; default: 127.0.0.1]",
)
def command(folder: Folder, port: int, bind: str) -> None:
    """Start everything on this machine; Ctrl-C stops it.

    PostgreSQL and a Redis-protocol server run as children unless DATABASE_URL and REDIS_URL name
    others. Migrations are applied, then the web process, a worker and the clock start. Whatever
    dies is started again. Logs are in DATA_DIR/logs.
    """
    from openwop_console.supervisor.run import serve

    try:
        serve(folder, bind, port)
    except RuntimeError as error:  # each of the supervisor's own says what to do
        raise click.ClickException(str(error)) from error
