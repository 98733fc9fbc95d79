"""`hosts`: who may send events."""

import json
from datetime import timedelta
from typing import IO

import click

from openwop_console.cli.instance import adopt, foreign_host
from openwop_console.cli.options import data_dir, output, show_json, show_table
from openwop_console.supervisor.folder import Folder


@click.group("hosts")
def command() -> None:
    """Add, connect and list hosts: the OpenWOP servers that send events."""


@command.command("add")
@click.argument("name")
@click.option("--workspace", required=True, help="Slug of the workspace; made if it is new.")
@click.option(
    "--capabilities",
    type=click.File("rb"),
    metavar="FILE",
    help="The host's /.well-known/openwop document; - reads standard input.",
)
@click.option("--base-url", default="", metavar="URL", help="Where the host answers.")
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
    from runs.actions.hosts import add_host

    added = add_host(name=name, workspace=workspace, capabilities=document, base_url=base_url)
    if as_json:
        show_json({"id": added.id, "key": added.key, "webhookSecret": added.webhook_secret})
        return
    click.echo(f"host            {added.id}")
    click.echo(f"key             {added.key}")
    click.echo(f"webhook secret  {added.webhook_secret}")
    click.echo("The key and the secret are shown this once.", err=True)


@command.command("connect")
@click.argument("host")
@click.option("--base-url", required=True, metavar="URL", help="Where the host answers.")
@click.option(
    "--api-key",
    envvar="OPENWOP_API_KEY",
    default="",
    help="What the Console presents to it. [env: OPENWOP_API_KEY]",
)
@data_dir
def connect(folder: Folder, host: str, base_url: str, api_key: str) -> None:
    """Say where a host answers, so that decisions reach it."""
    adopt(folder)
    from runs.actions.hosts import connect_host

    connect_host(host_id=foreign_host(host).slug, base_url=base_url, api_key=api_key)


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
    from runs.actions.webhook_secrets import rotate_secret

    found = foreign_host(host)
    secret = rotate_secret(host=found, overlap=timedelta(hours=hours))
    if as_json:
        show_json({"id": found.slug, "webhookSecret": secret})
    else:
        click.echo(f"webhook secret  {secret}")


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
            "createdAt": f"{host.created_at:%Y-%m-%dT%H:%M:%SZ}",
        }
        for host in Host.objects.select_related("workspace").order_by("slug")
    ]
    if as_json:
        show_json(rows)
    else:
        show_table(rows, ["id", "name", "workspace", "baseUrl", "createdAt"])


def _document(file: IO[bytes]) -> dict[str, object]:
    try:
        found = json.load(file)
    except ValueError as error:
        raise click.BadParameter("not JSON", param_hint="--capabilities") from error
    if not isinstance(found, dict):
        raise click.BadParameter("not a JSON object", param_hint="--capabilities")
    return found
