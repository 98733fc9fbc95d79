"""Bearer keys of hosts.

A key is looked up by its readable part and compared by hash in constant time. Nothing is cached: a
revoked key is refused on the next request.
"""

import hashlib
import hmac
import re
from datetime import timedelta

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from runs.models import HostKey

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
        header = get_authorization_header(request)
        if not header:
            return None
        scheme, _, key = header.partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        return key_named(key), None

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge that makes a refusal a 401."""
        return 'Bearer realm="openwop-console"'


def key_named(sent: bytes) -> HostKey:
    """Return the key in force that these bytes are.

    Raises:
        KeyRefused: with reason `key_unknown`, `key_revoked` or `key_expired`.
    """
    parts = _KEY.fullmatch(sent.decode("ascii", "replace").strip())
    key_id, secret = parts.groups() if parts else ("0" * 12, "")
    key = HostKey.objects.select_related("host").filter(key_id=key_id).first()
    digest = hashlib.sha256(secret.encode()).hexdigest()
    if not hmac.compare_digest(digest, key.digest if key else "0" * 64) or key is None:
        raise KeyRefused("key_unknown")
    now = timezone.now()
    if key.revoked_at is not None:
        raise KeyRefused("key_revoked")
    if key.expires_at is not None and key.expires_at <= now:
        raise KeyRefused("key_expired")
    if key.last_used_at is None or now - key.last_used_at > _USE_IS_NOTED_EVERY:
        HostKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return key
