"""Hosts and their keys: add, connect, rotate, revoke."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from runs.actions.due import look_at_host
from runs.actions.webhook_secrets import new_secret
from runs.domain.advertised import is_same
from runs.models import CapabilitySnapshot, Host, HostKey, Workspace
from runs.sealing import seal

ENVIRONMENT = "live"
SCOPES = ("events:write", "runs:read", "gates:read", "consensus:write")


@dataclass(frozen=True, slots=True)
class AddedHost:
    """What the host's own configuration needs. The key and the secret are shown this once."""

    id: str
    key: str
    webhook_secret: str


class HostExists(ValueError):
    """The workspace has a host of that id."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        super().__init__(slug)

    def __str__(self) -> str:
        return f"There is a host {self.slug} already; choose another name, or connect that one."


@transaction.atomic
def add_host(
    *,
    name: str,
    workspace: str,
    capabilities: Mapping[str, Any] | None = None,
    base_url: str = "",
    api_key: str = "",
    protocol_major: int = 1,
    tenant: str = "",
) -> AddedHost:
    """Add a host, and its workspace if that is new.

    Args:
        name: what people call it; its id is made from it.
        workspace: slug of the tenant.
        capabilities: its `/.well-known/openwop` document, if known.
        base_url: where it answers, if it does.
        api_key: what we present to it.
        protocol_major: which protocol it speaks, 1 or 2; what it advertises decides later.
        tenant: OpenWOP tenant of its tenant-bound run ids; empty: any.

    Raises:
        HostExists: the workspace has one that its id would be made for.
    """
    owner, _ = Workspace.objects.get_or_create(
        slug=slugify(workspace)[:64] or "default", defaults={"name": workspace}
    )
    secret = new_secret()
    host = Host.objects.create(
        workspace=owner,
        slug=_free_slug(name, owner),
        name=name,
        base_url=base_url.rstrip("/"),
        protocol_major=protocol_major,
        tenant=tenant,
        sealed_api_key=seal(api_key),
        sealed_webhook_secret=seal(secret),
    )
    if capabilities is not None:
        advertise(host=host, document=capabilities)
    return AddedHost(id=host.slug, key=create_key(host=host), webhook_secret=secret)


def _free_slug(name: str, workspace: Workspace) -> str:
    """Return an id for a name; another workspace's host of that name is nobody else's to know."""
    wanted = slugify(name)[:56] or "host"
    wanted = f"{wanted}-host" if wanted == "new" else wanted  # an address of the pages
    if Host.objects.filter(workspace=workspace, slug=wanted).exists():
        raise HostExists(wanted)
    taken = set(Host.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    candidates = (wanted if n == 1 else f"{wanted}-{n}" for n in range(1, len(taken) + 2))
    return next(each for each in candidates if each not in taken)


def create_key(
    *, host: Host, scopes: Sequence[str] = SCOPES, expires_at: datetime | None = None
) -> str:
    """Return a new key of the host, `owc_<env>_<id>_<secret>`; only its hash is kept.

    Raises:
        OwnHost: it is the Console's.
    """
    host.check_is_foreign()
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32).replace("_", "-")
    HostKey.objects.create(
        host=host,
        key_id=key_id,
        digest=hashlib.sha256(secret.encode()).hexdigest(),
        scopes=list(scopes),
        expires_at=expires_at,
    )
    return f"owc_{ENVIRONMENT}_{key_id}_{secret}"


def revoke_key(*, key_id: str) -> None:
    """Stop a key at once. Raises HostKey.DoesNotExist."""
    key = HostKey.objects.get(key_id=key_id)
    key.revoked_at = key.revoked_at or timezone.now()
    key.save(update_fields=["revoked_at"])


def connect_host(
    *,
    host_id: str,
    base_url: str,
    api_key: str,
    capabilities: Mapping[str, Any] | None = None,
    tenant: str | None = None,
) -> None:
    """Say where a host answers, what we present to it, and whose its runs are (None: as before).

    Raises:
        Host.DoesNotExist: there is none.
        OwnHost: it is the Console's.
    """
    host = Host.objects.get(slug=host_id)
    host.check_is_foreign()
    host.base_url, host.sealed_api_key = base_url.rstrip("/"), seal(api_key)
    host.tenant = host.tenant if tenant is None else tenant
    host.save(update_fields=["base_url", "sealed_api_key", "tenant"])
    look_at_host(host=host, now=timezone.now())
    if capabilities is not None:
        advertise(host=host, document=capabilities)


@transaction.atomic
def advertise(*, host: Host, document: Mapping[str, Any]) -> bool:
    """Keep what a host advertises, from now on; true if it differs from what held before.

    What changes with every answer, such as a time, makes no difference.
    """
    now = timezone.now()
    current = host.capabilities.select_for_update().filter(valid_to=None).first()
    if current is not None:
        if is_same(current.document, document):
            return False
        current.valid_to = now
        current.save(update_fields=["valid_to"])
    CapabilitySnapshot.objects.create(host=host, document=dict(document), valid_from=now)
    return True
