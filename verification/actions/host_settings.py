"""What people do about hosts, their keys and their secrets: each time on the record.

The rows are facts and made by `runs`; who did it is for the audit chain, without any secret.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction

from runs.actions import hosts, webhook_secrets
from runs.models import Host, HostKey
from runs.sealing import unseal
from verification.actions.audit import record
from verification.domain.errors import VerificationError

COMMAND_LINE = "system:command-line"
"""Who it was when somebody with the Console's own servers at hand used a command."""


class KeyNeeded(VerificationError):
    """The key that is held was given for another place."""

    def __init__(self) -> None:
        super().__init__("The key was given for another address. Give it again, or a new one.")


@transaction.atomic
def add_host(*, by: str, **what: Any) -> hosts.AddedHost:
    """Add a host, with its first key and secret; `what` is as `runs.actions.hosts.add_host`'s.

    Args:
        by: how the audit log names whoever does it.
        what: name, workspace, and what else is known of it.

    Raises:
        HostExists: there is one of that id.
    """
    added = hosts.add_host(**what)
    put_on_record(Host.objects.get(slug=added.id), "host.added", by)
    return added


@transaction.atomic
def connect_host(
    *, host: Host, by: str, base_url: str, api_key: str | None, tenant: str | None = None
) -> None:
    """Say where a host answers and what we present to it; what is None stays as it is.

    A key stays where it was given for: whoever leads it elsewhere must know it.

    Raises:
        OwnHost: it is the Console's.
        SealBroken: the key that is to stay cannot be opened.
        KeyNeeded: it is to stay, and the address is of another server.
    """
    known = unseal(host.sealed_api_key) if api_key is None else api_key
    is_elsewhere = bool(base_url) and _server(base_url) != _server(host.base_url)
    if api_key is None and known and is_elsewhere:
        raise KeyNeeded
    hosts.connect_host(host_id=host.slug, base_url=base_url, api_key=known, tenant=tenant)
    host.refresh_from_db()
    put_on_record(host, "host.connected", by, {"newKey": api_key is not None})


@transaction.atomic
def create_key(
    *,
    host: Host,
    by: str,
    scopes: Sequence[str] = hosts.SCOPES,
    expires_at: datetime | None = None,
) -> str:
    """Return a new key of the host. Raises OwnHost."""
    key = hosts.create_key(host=host, scopes=scopes, expires_at=expires_at)
    put_on_record(host, "key.created", by, {"key": key.split("_")[2], "scopes": list(scopes)})
    return key


@transaction.atomic
def revoke_key(*, key_id: str, by: str) -> None:
    """Stop a key at once. Raises HostKey.DoesNotExist."""
    hosts.revoke_key(key_id=key_id)
    put_on_record(HostKey.objects.get(key_id=key_id).host, "key.revoked", by, {"key": key_id})


@transaction.atomic
def rotate_secret(
    *, host: Host, by: str, overlap: timedelta = webhook_secrets.OVERLAP, secret: str = ""
) -> str:
    """Put a new webhook secret in force and return it. Raises OwnHost."""
    made = webhook_secrets.rotate_secret(host=host, secret=secret, overlap=overlap)
    hours = int(overlap.total_seconds() // 3600)
    put_on_record(host, "webhook_secret.rotated", by, {"overlapHours": hours})
    return made


def _server(base_url: str) -> tuple[str, str]:
    parts = urlsplit(base_url.lower())
    return parts.scheme, parts.netloc


def put_on_record(
    host: Host, action: str, by: str, detail: Mapping[str, Any] | None = None
) -> None:
    """Record what was done about a host."""
    record(
        workspace=host.workspace_id,
        actor=by,
        action=action,
        subject=f"host:{host.slug}",
        detail=detail,
    )
