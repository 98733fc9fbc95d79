"""An audit entry as it is hashed: read alike by whoever writes the chain and whoever checks it."""

from datetime import UTC
from typing import Any

from verification.models import AuditEntry


def body_of(entry: AuditEntry) -> dict[str, Any]:
    """Return what an entry's hash covers besides its number and its predecessor."""
    return {
        "workspace": entry.workspace_id,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": entry.actor,
        "action": entry.action,
        "subject": entry.subject,
        "detail": entry.detail,
    }
