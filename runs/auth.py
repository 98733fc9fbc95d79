"""Bearer keys of hosts.

A key is looked up by its readable part and compared by hash in constant time. Nothing is cached: a
revoked key is refused on the next request.
"""

import hashlib
import hmac
import re
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from runs.models import Host, HostKey
from runs.refusal import Refusal
from runs.rows import columns, fetch, instance, width

_KEY = re.compile(r"owc_[a-z]+_([0-9a-f]{12})_([A-Za-z0-9-]{43})")
_USE_IS_NOTED_EVERY = timedelta(minutes=1)


class KeyRefused(AuthenticationFailed):
    """A key that is not one of ours, or not any more. Says no more than that."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__("The key is missing, unknown, expired or revoked.")


class HostKeyAuthentication(BaseAuthentication):
    """Authenticates a request as the host key that it carries."""

    def authenticate(self, request: Request) -> tuple[HostKey, None] | None:
        """Return the key; None when no bearer key is sent, so that a session may serve."""
        key = key_in(request.META.get("HTTP_AUTHORIZATION", ""))
        return None if key is None else (key, None)

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge that makes a refusal a 401."""
        return 'Bearer realm="openwop-console"'


def check_scope(caller: object, scope: str) -> None:
    """Refuse a host's key that was not given a scope; a person's rights are checked elsewhere.

    Args:
        caller: who asks, as authenticated.
        scope: what a key must be allowed to do, such as `runs:read`.

    Raises:
        Refusal: 403.
    """
    if isinstance(caller, HostKey) and scope not in caller.scopes:
        what, _, act = scope.partition(":")
        message = f"This key may not {act} {what}."
        raise Refusal(403, "forbidden", message, {"reason": "scope"})


def key_in(authorization: str) -> HostKey | None:
    """Return the key that an `Authorization` header carries; None if it carries no bearer key.

    Raises:
        KeyRefused: as `key_named` does.
    """
    scheme, _, key = authorization.partition(" ")
    return key_named(key) if scheme.lower() == "bearer" else None


def key_named(sent: str) -> HostKey:
    """Return the key in force that this text is.

    Raises:
        KeyRefused: as `in_force` does.
    """
    key_id, secret = parts_of(sent.strip(" "), _KEY)
    key = _held(key_id)
    return in_force(key, secret, is_revoked=key is not None and key.revoked_at is not None)


def parts_of(sent: str, form: re.Pattern[str]) -> tuple[str, str]:
    """Return the readable and the secret part of a key; what has not its form names nobody's."""
    parts = form.fullmatch(sent)
    return (parts[1], parts[2]) if parts else ("0" * 12, "")


class _Bearer(Protocol):
    """A row that says who may come in: a host's key, or a person's token."""

    pk: Any
    digest: Any
    expires_at: Any
    last_used_at: Any


_Row = TypeVar("_Row", bound=_Bearer)


def in_force(found: _Row | None, secret: str, *, is_revoked: bool) -> _Row:
    """Return what was found if the secret is its own and it is good now, and note its use.

    Args:
        found: by the readable part; None takes as long as a wrong secret.
        secret: the other part, as sent.
        is_revoked: somebody took it back.

    Raises:
        KeyRefused: with reason `key_unknown`, `key_revoked` or `key_expired`.
    """
    digest = hashlib.sha256(secret.encode()).hexdigest()
    if not hmac.compare_digest(digest, found.digest if found else "0" * 64) or found is None:
        raise KeyRefused("key_unknown")
    now = timezone.now()
    if is_revoked:
        raise KeyRefused("key_revoked")
    if found.expires_at is not None and found.expires_at <= now:
        raise KeyRefused("key_expired")
    if found.last_used_at is None or now - found.last_used_at > _USE_IS_NOTED_EVERY:
        rows: Any = type(found)
        rows.objects.filter(pk=found.pk).update(last_used_at=now)
    return found


def _held(key_id: str) -> HostKey | None:
    """Return a key with its host, in one query."""
    rows = fetch(
        f"SELECT {columns(HostKey, 'k')}, {columns(Host, 'h')}"  # noqa: S608  (constant text)
        " FROM runs_hostkey k JOIN runs_host h ON h.id = k.host_id WHERE k.key_id = %s",
        [key_id],
    )
    for row in rows:
        key = instance(HostKey, row[: width(HostKey)])
        key.host = instance(Host, row[width(HostKey) :])
        return key
    return None
