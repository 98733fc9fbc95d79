"""Finds the servers of a Console, so that a command works on what is running.

What the environment names wins. Otherwise the folder's `console.json` says where the servers of the
running Console answer and `secrets.json` holds its keys.
"""

import ipaddress
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from openwop_console.environment import text
from openwop_console.supervisor.folder import Folder, read_json
from openwop_console.supervisor.programs import LOOPBACK

if TYPE_CHECKING:
    from runs.models import Host, Run


class NothingRuns(click.ClickException):
    """No Console serves the folder, and no DATABASE_URL names another database."""

    def __init__(self, folder: Folder) -> None:
        super().__init__(
            f"No Console runs on {folder.path}. Start it with `make run`, name its folder with "
            f"--data-dir, or set DATABASE_URL and REDIS_URL."
        )


def adopt(folder: Folder) -> None:
    """Set up Django on the servers of a Console.

    Raises:
        NothingRuns: there is none.
    """
    point_at(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")  # the command itself says what it did
    import django

    django.setup()


def point_at(folder: Folder) -> None:
    """Put into the environment, where it is silent, what the running Console of a folder uses.

    Raises:
        NothingRuns: there is none, and no DATABASE_URL.
    """
    if text("DATABASE_URL"):
        _offer(folder, {"REDIS_URL": "redisUrl"} if folder.holder() else {})
        return
    if folder.holder() is None:
        raise NothingRuns(folder)
    _offer(folder, {"DATABASE_URL": "databaseUrl", "REDIS_URL": "redisUrl"})
    if not text("DATABASE_URL"):
        raise click.ClickException(f"The Console on {folder.path} is still starting. Try again.")


def card(folder: Folder) -> dict[str, object]:
    """Return what `console.json` says of the running Console.

    Raises:
        NothingRuns: there is none.
    """
    if folder.holder() is None:
        raise NothingRuns(folder)
    return read_json(folder.console_file)


def foreign_host(slug: str) -> "Host":
    """Return a host that is not the Console itself, by its id; `adopt` comes first.

    Raises:
        ClickException: there is none.
    """
    from runs.models import Host, OwnHost

    try:
        found = Host.objects.get(slug=slug)
        found.check_is_foreign()
    except Host.DoesNotExist as error:
        raise click.ClickException(f"There is no host {slug}; see `hosts list`.") from error
    except OwnHost as error:
        raise click.ClickException(str(error)) from error
    return found


def address_and_key(folder: Folder, url: str | None, key: str | None) -> tuple[str, str]:
    """Return a Console's address and a host's key; what is not said is the running Console's own.

    Raises:
        NothingRuns: something is not said, and there is no running Console.
    """
    if url and key:
        return url, key
    found = card(folder)
    host = found["host"]
    own = str(host["key"]) if isinstance(host, dict) else ""
    return url or str(found["url"]), key or own


def _offer(folder: Folder, from_card: dict[str, str]) -> None:
    """Fill in what the environment leaves open."""
    found = read_json(folder.console_file)
    keys = read_json(folder.secrets_file)
    offered = {name: found.get(field) for name, field in from_card.items()} | {
        "SECRET_KEY": keys.get("secretKey"),
        "OPENWOP_CONSOLE_ENCRYPTION_KEY": keys.get("encryptionKey"),
        "OPENWOP_CONSOLE_UUID": keys.get("consoleUuid"),
        "OPENWOP_CONSOLE_URL": found.get("url"),
        "OPENWOP_CONSOLE_ALLOW_PRIVATE": LOOPBACK if _is_local(str(found.get("url"))) else "",
    }
    for name, value in offered.items():
        if value and not text(name):
            os.environ[name] = str(value)
    os.environ["DATA_DIR"] = str(folder.path)


def _is_local(url: str) -> bool:
    """Say whether only this machine can reach a Console: what it may call, a command may too."""
    try:
        return ipaddress.ip_address(urlsplit(url).hostname or "").is_loopback
    except ValueError:
        return False


def named_run(run_id: str, host: str) -> "Run":
    """Return a run by its id; `adopt` comes first.

    Args:
        run_id: as its host calls it.
        host: whose, where several have one of that id; may be empty.

    Raises:
        ClickException: there is none, or more than one.
    """
    from runs.models import Run

    found = Run.objects.filter(run_id=run_id).select_related("host")
    if host:
        found = found.filter(host__slug=host)
    runs = list(found[:2])
    if not runs:
        raise click.ClickException(f"There is no run {run_id}; see `runs list`.")
    if len(runs) > 1:
        raise click.ClickException(f"Several hosts have a run {run_id}: name one with --host.")
    return runs[0]
