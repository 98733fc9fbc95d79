"""`keys`: what hosts present to us."""

from datetime import UTC, datetime, timedelta

import click

from openwop_console.cli.instance import adopt, foreign_host
from openwop_console.cli.options import data_dir, moment, output, show_json, show_table
from openwop_console.supervisor.folder import Folder


@click.group("keys")
def command() -> None:
    """Create, list, rotate and revoke host keys.

    A key reads `owc_live_<id>_<secret>`; commands take the id.
    """


@command.command("create")
@click.argument("host")
@click.option(
    "--scope", "scopes", multiple=True, help="May be repeated. [default: all of a host's]"
)
@click.option("--days", type=click.IntRange(1), help="How long it is good for. [default: no end]")
@output
@data_dir
def create(
    folder: Folder, host: str, scopes: tuple[str, ...], days: int | None, *, as_json: bool
) -> None:
    """Create a key of HOST and print it. It is shown this once."""
    adopt(folder)
    from runs.actions.hosts import SCOPES
    from verification.actions.host_settings import COMMAND_LINE, create_key

    if unknown := set(scopes) - set(SCOPES):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}: choose from {', '.join(SCOPES)}")
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    key = create_key(
        host=foreign_host(host), by=COMMAND_LINE, scopes=scopes or SCOPES, expires_at=expires_at
    )
    _show_key(host, key, as_json=as_json)


@command.command("list")
@click.argument("host", required=False)
@output
@data_dir
def show(folder: Folder, host: str | None, *, as_json: bool) -> None:
    """List the keys, of all hosts or of HOST. Secrets are not kept, so none are shown."""
    adopt(folder)
    from runs.models import HostKey

    keys = HostKey.objects.filter(is_canary=False).select_related("host")
    found = keys if host is None else keys.filter(host=foreign_host(host))
    rows = [
        {
            "id": key.key_id,
            "host": key.host.slug,
            "scopes": key.scopes,
            "createdAt": moment(key.created_at),
            "expiresAt": moment(key.expires_at),
            "lastUsedAt": moment(key.last_used_at),
            "revokedAt": moment(key.revoked_at),
        }
        for key in found.order_by("host__slug", "created_at")
    ]
    if as_json:
        show_json(rows)
    else:
        show_table(rows, ["id", "host", "scopes", "createdAt", "lastUsedAt", "revokedAt"])


@command.command("revoke")
@click.argument("key_id")
@data_dir
def revoke(folder: Folder, key_id: str) -> None:
    """Stop the key KEY_ID at once."""
    adopt(folder)
    from runs.models import HostKey
    from verification.actions.host_settings import COMMAND_LINE, revoke_key

    try:
        revoke_key(key_id=key_id, by=COMMAND_LINE)
    except HostKey.DoesNotExist as error:
        raise click.ClickException(f"There is no key {key_id}.") from error
    click.echo(f"Key {key_id} is revoked.")


@command.command("rotate")
@click.argument("key_id")
@output
@data_dir
def rotate(folder: Folder, key_id: str, *, as_json: bool) -> None:
    """Replace the key KEY_ID by a new one of the same host and scopes.

    The old key stays good until you revoke it, so that the host can change over without a gap.
    """
    adopt(folder)
    from runs.models import HostKey
    from verification.actions.host_settings import COMMAND_LINE, create_key

    old = HostKey.objects.select_related("host").filter(key_id=key_id, revoked_at=None).first()
    if old is None:
        raise click.ClickException(f"There is no unrevoked key {key_id}.")
    key = create_key(host=old.host, by=COMMAND_LINE, scopes=old.scopes, expires_at=old.expires_at)
    _show_key(old.host.slug, key, as_json=as_json)
    click.echo(f"When the host uses it: openwop-console keys revoke {key_id}", err=True)


def _show_key(host: str, key: str, *, as_json: bool) -> None:
    if as_json:
        show_json({"host": host, "key": key})
    else:
        click.echo(key)
