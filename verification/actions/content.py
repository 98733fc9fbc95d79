"""Puts text and bodies into the restricted zone."""

import hashlib
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from verification.models import Content


def digest_of(body: bytes) -> str:
    """Return by which digest a body is known."""
    return hashlib.sha256(body).hexdigest()


def keep(*, workspace: int, kind: str, body: bytes) -> Content:
    """Store content until retention removes it."""
    return Content.objects.create(
        workspace_id=workspace,
        kind=kind,
        body=body,
        sha256=digest_of(body),
        expires_at=timezone.now() + timedelta(days=settings.CONTENT_DAYS),
    )
