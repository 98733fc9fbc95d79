"""Marks the hosts that are the Console itself, and takes back every way in that one was given."""

from typing import Any

from django.db import migrations
from django.utils import timezone


def mark(apps: Any, schema_editor: Any) -> None:
    """Mark them, revoke their keys, and forget their secrets and addresses."""
    own = apps.get_model("verification", "ConsoleHost").objects.values("host")
    hosts = apps.get_model("runs", "Host").objects.filter(pk__in=own)
    hosts.update(is_own=True, base_url="", sealed_api_key=b"", sealed_webhook_secret=b"")
    keys = apps.get_model("runs", "HostKey").objects.filter(host__in=own, revoked_at=None)
    keys.update(revoked_at=timezone.now())
    apps.get_model("runs", "RetiringSecret").objects.filter(host__in=own).delete()


class Migration(migrations.Migration):
    """Change rows only."""

    dependencies = [
        ("runs", "0006_the_consoles_own_host"),
        ("verification", "0005_what_hosts_ask"),
    ]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
