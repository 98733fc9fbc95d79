"""Personal tokens: secrets with which a person's own programs act as that person."""

import hashlib
import secrets
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs.models import workspaces_of
from verification.actions.audit import actor_of, record
from verification.models import PersonalToken

LONGEST_NAME = 64


@transaction.atomic
def create_token(*, user: User, name: str, expires_at: datetime | None = None) -> str:
    """Return a new token, `owp_<id>_<secret>`; it is shown this once, only its hash is kept."""
    token_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32).replace("_", "-")
    PersonalToken.objects.create(
        user=user,
        name=name[:LONGEST_NAME] or "token",
        token_id=token_id,
        digest=hashlib.sha256(secret.encode()).hexdigest(),
        expires_at=expires_at,
    )
    _put_on_record(user, "token.created", token_id)
    return f"owp_{token_id}_{secret}"


@transaction.atomic
def revoke_token(*, user: User, token_id: str) -> None:
    """Stop a person's own token at once. Raises PersonalToken.DoesNotExist."""
    token = PersonalToken.objects.get(user=user, token_id=token_id)
    token.revoked_at = token.revoked_at or timezone.now()
    token.save(update_fields=["revoked_at"])
    _put_on_record(user, "token.revoked", token_id)


def _put_on_record(user: User, action: str, token_id: str) -> None:
    for workspace in workspaces_of(user):
        record(
            workspace=workspace, actor=actor_of(user), action=action, subject=f"token:{token_id}"
        )
