"""Adds to the audit chain, in the transaction of what it records."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from verification.domain.chain import GENESIS, hash_of
from verification.models import AuditEntry
from verification.rows_of_audit import body_of


def actor_of(user: User) -> str:
    """Return how a person is named in the audit log."""
    return f"person:{user.pk}"


def record(
    *,
    workspace: int,
    actor: str,
    action: str,
    subject: str,
    detail: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> AuditEntry:
    """Append one entry; call it last in a transaction, for it holds the chain until the commit.

    Args:
        workspace: whose chain.
        actor: `person:7`, `key:ab12`, `system:sweep`.
        action: `escalation.claimed`, `key.revoked` …
        subject: what it was done to, by id.
        detail: ids, numbers and short words; never content.
        now: our clock; tests give it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK, workspace])
    last = AuditEntry.objects.filter(workspace=workspace).order_by("-seq").first()
    seq, prev = (last.seq + 1, last.hash) if last else (1, GENESIS)
    entry = AuditEntry(
        workspace_id=workspace,
        seq=seq,
        at=now or timezone.now(),
        actor=actor,
        action=action,
        subject=subject,
        detail=dict(detail or {}),
        prev_hash=prev,
    )
    entry.hash = hash_of(seq, prev, body_of(entry))
    entry.save(force_insert=True)
    return entry


_LOCK = 0x0A0D
"""Class of the advisory lock; the second key is the workspace."""
