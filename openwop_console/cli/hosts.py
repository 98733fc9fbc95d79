"""`hosts`: who may send events, how each is connected, and what it shows of itself."""

import json
from datetime import timedelta
from typing import IO

import click

from openwop_console.cli.host_reports import card_of, shown_report, wait_for_test
from openwop_console.cli.instance import adopt, foreign_host
from openwop_console.cli.options import data_dir, moment, output, show_json, show_table
from openwop_console.supervisor.folder import Folder
from runs.domain.destinations import Refused, read_url
from runs.domain.tenants import is_tenant

FAILS, UNFINISHED = 1, 3


@click.group("hosts")
def command() -> None:
    """Add, connect, try and list hosts: the OpenWOP servers that send events."""


@command.command("add")
@click.argument("name")
@click.option("--workspace", required=True, help="Slug of the workspace; made if it is new.")
@click.option(
    "--capabilities",
    type=click.File("rb"),
    metavar="FILE",
    help="The host's /.well-known/openwop document; - reads standard input.",
)
@click.option(
    "--base-url",
    default="",
    metavar="URL",
    callback=lambda ctx, param, value: _address(value),
    help="Where the host answers.",
)
@output
@data_dir
def add(
    folder: Folder,
    name: str,
    workspace: str,
    capabilities: IO[bytes] | None,
    base_url: str,
    *,
    as_json: bool,
) -> None:
    """Add a host and print its id, key and webhook secret. They are shown this once."""
    document = None if capabilities is None else _document(capabilities)
    adopt(folder)
    from runs.actions.hosts import HostExists
    from verification.actions.host_settings import COMMAND_LINE, add_host

    try:
        added = add_host(
            by=COMMAND_LINE,
            name=name,
            workspace=workspace,
            capabilities=document,
            base_url=base_url,
        )
    except HostExists as exists:
        raise click.ClickException(str(exists)) from exists
    if as_json:
        show_json({"id": added.id, "key": added.key, "webhookSecret": added.webhook_secret})
        return
    click.echo(f"host            {added.id}")
    click.echo(f"key             {added.key}")
    click.echo(f"webhook secret  {added.webhook_secret}")
    click.echo("The key and the secret are shown this once.", err=True)


@command.command("connect")
@click.argument("host")
@click.option(
    "--base-url",
    required=True,
    metavar="URL",
    callback=lambda ctx, param, value: _address(value),
    help="Where the host answers.",
)
@click.option(
    "--api-key",
    envvar="OPENWOP_API_KEY",
    help="What the Console presents to it; '' for none. [env: OPENWOP_API_KEY; default: as before]",
)
@click.option(
    "--tenant",
    metavar="TENANT",
    callback=lambda ctx, param, value: _tenant(value),
    help="OpenWOP tenant of its run ids; '' for any. [default: as before]",
)
@data_dir
def connect(
    folder: Folder, host: str, base_url: str, api_key: str | None, tenant: str | None
) -> None:
    """Say where a host answers, so that decisions reach it."""
    adopt(folder)
    from runs.sealing import SealBroken
    from verification.actions.host_settings import COMMAND_LINE, KeyNeeded, connect_host

    try:
        connect_host(
            host=foreign_host(host),
            by=COMMAND_LINE,
            base_url=base_url,
            api_key=api_key,
            tenant=tenant,
        )
    except (SealBroken, KeyNeeded) as refused:
        raise click.ClickException(f"{refused} It goes with --api-key.") from refused


@command.command("subscribe")
@click.argument("host")
@click.option("--end", is_flag=True, help="End the subscription instead.")
@data_dir
def subscribe(folder: Folder, host: str, *, end: bool) -> None:
    """Have HOST deliver its events to the webhook door, signed, without copying a secret."""
    adopt(folder)
    from verification.actions import subscribing
    from verification.actions.host_settings import COMMAND_LINE
    from verification.domain.subscriptions import NotSubscribed

    found = foreign_host(host)
    try:
        if end:
            subscribing.unsubscribe(host=found, by=COMMAND_LINE)
            click.echo("The host delivers here no more.")
            return
        made = subscribing.subscribe(host=found, by=COMMAND_LINE)
    except NotSubscribed as refused:
        raise click.ClickException(str(refused)) from refused
    click.echo(f"{found.slug} delivers to {made.url} as {made.webhook_id}.")


@command.command("test")
@click.argument("host")
@click.option(
    "--wait",
    type=click.FloatRange(1, 600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for a worker to try everything.",
)
@output
@data_dir
@click.pass_context
def test(ctx: click.Context, folder: Folder, host: str, wait: float, *, as_json: bool) -> None:
    """Try the connection of HOST in every direction, and say what would mend what fails.

    Nothing of it stays, here or at the host. Exit 0 when nothing fails, 1 when something does, 3
    when no worker was done in time.
    """
    adopt(folder)
    from verification.actions.connecting import ask_for_test
    from verification.actions.host_settings import COMMAND_LINE

    found = foreign_host(host)
    ask_for_test(host=found, by=COMMAND_LINE)
    report = wait_for_test(found, wait)
    if as_json:
        show_json(shown_report(report))
    else:
        for line in report.lines:
            click.echo(f"{line.title:20}  {line.state.replace('_', ' '):14}  {line.words}")
            if line.fix:
                click.echo(f"{'':38}{line.fix}")
    ctx.exit(UNFINISHED if report.is_under_way else FAILS if report.fails else 0)


@command.command("card")
@click.argument("host")
@output
@data_dir
def card(folder: Folder, host: str, *, as_json: bool) -> None:
    """Show what HOST advertises next to what its events show."""
    adopt(folder)
    shown = card_of(foreign_host(host))
    if as_json:
        show_json(shown)
        return
    for name, value in shown.items():
        if not isinstance(value, list):
            click.echo(f"{name:18} {'-' if value in (None, '') else value}")
    click.echo()
    show_table(shown["card"], ["topic", "claim", "shown", "fix"])
    for finding in shown["findings"]:
        click.echo(f"{'finding':18} {finding['severity']}: {finding['kind']} x {finding['count']}")


@command.command("rotate")
@click.argument("host")
@click.option(
    "--overlap",
    "hours",
    type=click.IntRange(0, 168),
    default=24,
    show_default=True,
    help="Hours for which the old secret stays good; 0 ends it now.",
)
@output
@data_dir
def rotate(folder: Folder, host: str, hours: int, *, as_json: bool) -> None:
    """Put a new webhook secret in force and print it. It is shown this once."""
    adopt(folder)
    from verification.actions.host_settings import COMMAND_LINE, rotate_secret

    found = foreign_host(host)
    secret = rotate_secret(host=found, by=COMMAND_LINE, overlap=timedelta(hours=hours))
    if as_json:
        show_json({"id": found.slug, "webhookSecret": secret, "overlapHours": hours})
        return
    click.echo(f"webhook secret  {secret}")
    kept = f"stays good for {hours} h more" if hours else "is refused from now on"
    click.echo(f"The secret before it {kept}.", err=True)


@command.command("list")
@output
@data_dir
def show(folder: Folder, *, as_json: bool) -> None:
    """List the hosts."""
    adopt(folder)
    from runs.models import Host

    rows = [
        {
            "id": host.slug,
            "name": host.name,
            "workspace": host.workspace.slug,
            "baseUrl": host.base_url,
            "createdAt": moment(host.created_at),
        }
        for host in Host.objects.select_related("workspace").order_by("slug")
    ]
    if as_json:
        show_json(rows)
    else:
        show_table(rows, ["id", "name", "workspace", "baseUrl", "createdAt"])


def _tenant(name: str | None) -> str | None:
    if name and not is_tenant(name):
        raise click.BadParameter("1 to 128 of the characters A-Za-z0-9._~-")
    return name


def _address(url: str) -> str:
    """Refuse what could never be connected to; where it leads is judged at every call."""
    read = read_url(url) if url else None
    if isinstance(read, Refused):
        raise click.BadParameter(read.words)
    return url.rstrip("/")


def _document(file: IO[bytes]) -> dict[str, object]:
    try:
        found = json.load(file)
    except ValueError as error:
        raise click.BadParameter("not JSON", param_hint="--capabilities") from error
    if not isinstance(found, dict):
        raise click.BadParameter("not a JSON object", param_hint="--capabilities")
    return found
