"""`deliveries`: decisions on their way to hosts, and sending again what was given up."""

import click

from openwop_console.cli.options import output, show_json, show_table
from openwop_console.cli.queue import Caller, as_person


@click.group("deliveries")
def command() -> None:
    """List deliveries and send again what was given up, as yourself."""


@command.command("list")
@click.option("--state", default="", help="waiting, dead, stopped, undeliverable … [default: all]")
@output
@as_person
def show(caller: Caller, state: str, *, as_json: bool) -> None:
    """List deliveries, newest first."""
    rows = caller.call("GET", f"/deliveries?state={state}")["deliveries"]
    if as_json:
        show_json(rows)
    else:
        columns = ["id", "escalationId", "host", "state", "attempts", "lastStatus", "words"]
        show_table(rows, columns)


@command.command("redrive")
@click.argument("delivery", type=int, nargs=-1)
@click.option("--state", default="", help="All in this state, in place of ids.")
@as_person
def redrive(caller: Caller, delivery: tuple[int, ...], state: str) -> None:
    """Send again, with the same bytes and key. Each is answered for itself."""
    wanted = list(delivery)
    if state:
        found = caller.call("GET", f"/deliveries?state={state}")["deliveries"]
        wanted += [each["id"] for each in found]
    if not wanted:
        raise click.ClickException("Name deliveries, or a --state that some are in.")
    failed = 0
    for each in wanted:
        try:
            caller.call("POST", f"/deliveries/{each}/redrive")
            click.echo(f"{each}: on its way")
        except click.ClickException as refused:
            failed += 1
            click.echo(f"{each}: {refused.message}", err=True)
    if failed:
        raise SystemExit(1)
