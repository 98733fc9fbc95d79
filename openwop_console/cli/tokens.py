"""`tokens`: personal tokens, with which a person's own programs act as that person."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from openwop_console.cli.instance import adopt
from openwop_console.cli.options import data_dir, moment, output, show_json, show_table
from openwop_console.supervisor.folder import Folder

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@click.group("tokens")
def command() -> None:
    """Create, list and revoke personal tokens. Whoever runs this owns the Console's servers."""


@command.command("create")
@click.argument("username")
@click.option("--name", default="cli", help="What it is for.")
@click.option("--days", type=click.IntRange(1), help="How long it is good for. [default: no end]")
@data_dir
def create(folder: Folder, username: str, name: str, days: int | None) -> None:
    """Create a token of USERNAME and print it. It is shown this once."""
    adopt(folder)
    from verification.actions.tokens import create_token

    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    click.echo(create_token(user=_user(username), name=name, expires_at=expires_at))


@command.command("list")
@click.argument("username")
@output
@data_dir
def show(folder: Folder, username: str, *, as_json: bool) -> None:
    """List the tokens of USERNAME. Secrets are not kept, so none are shown."""
    adopt(folder)
    from verification.models import PersonalToken

    rows = [
        {
            "id": each.token_id,
            "name": each.name,
            "createdAt": moment(each.created_at),
            "expiresAt": moment(each.expires_at),
            "lastUsedAt": moment(each.last_used_at),
            "revokedAt": moment(each.revoked_at),
        }
        for each in PersonalToken.objects.filter(user=_user(username)).order_by("created_at")
    ]
    if as_json:
        show_json(rows)
    else:
        show_table(rows, ["id", "name", "createdAt", "expiresAt", "lastUsedAt", "revokedAt"])


@command.command("revoke")
@click.argument("username")
@click.argument("token_id")
@data_dir
def revoke(folder: Folder, username: str, token_id: str) -> None:
    """Stop the token TOKEN_ID of USERNAME at once."""
    adopt(folder)
    from verification.actions.tokens import revoke_token
    from verification.models import PersonalToken

    try:
        revoke_token(user=_user(username), token_id=token_id)
    except PersonalToken.DoesNotExist:
        raise click.ClickException(f"{username} has no token {token_id}.") from None
    click.echo(f"Token {token_id} is revoked.")


def _user(username: str) -> "User":
    from django.contrib.auth.models import User

    found = User.objects.filter(username=username).first()
    if found is None:
        raise click.ClickException(f"There is nobody named {username}.")
    return found
