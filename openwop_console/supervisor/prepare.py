"""What has to be true of the database before the Console serves: its tables, a person, a host.

A child of its own, so that the supervisor never loads Django. Running it again changes nothing,
and it repairs what a kill in the middle of a first start left undone.
"""

import os
import sys
from pathlib import Path

import django

from openwop_console.supervisor.folder import Folder

ADMIN = "admin"
FIRST_HOST = "local"
FIRST_WORKSPACE = "default"


def main(folder: Folder) -> None:
    """Migrate, then make the admin and the first host unless they are there."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")
    django.setup()
    migrate()
    ensure_people_and_host(folder)


def migrate() -> None:
    """Apply the migrations that are pending; asking first is faster than applying none."""
    from django.core.management import call_command

    from openwop_console.supervisor.pending import pending_migrations

    if pending_migrations():
        call_command("migrate", interactive=False, stdout=sys.stdout)


def ensure_people_and_host(folder: Folder) -> None:
    """Make the admin and the first host, whose key is remembered before they can be seen.

    A folder that knows no host of this database is new to it: its admin password is set, and it
    gets a host whose key it knows.
    """
    from django.db import transaction

    from runs.actions.hosts import add_host
    from runs.actions.people import ensure_admin

    with transaction.atomic():
        if _knows_a_host(folder):
            return
        ensure_admin(username=ADMIN, password=str(folder.secrets()["adminPassword"]))
        host = add_host(name=FIRST_HOST, workspace=FIRST_WORKSPACE)
        folder.remember(host={"id": host.id, "key": host.key, "webhookSecret": host.webhook_secret})


def _knows_a_host(folder: Folder) -> bool:
    from runs.models import Host

    known = folder.secrets().get("host")
    return isinstance(known, dict) and Host.objects.filter(slug=known["id"]).exists()


if __name__ == "__main__":
    main(Folder(Path(os.environ["DATA_DIR"])))
