"""Puts text and bodies into the restricted zone."""

import hashlib
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from verification.models import Content


def keep(*, workspace: int, kind: str, body: bytes) -> Content:
    """Store content until retention removes it."""
    return Content.objects.create(
        workspace_id=workspace,
        kind=kind,
        body=body,
        sha256=hashlib.sha256(body).hexdigest(),
        expires_at=timezone.now() + timedelta(days=settings.CONTENT_DAYS),
    )
