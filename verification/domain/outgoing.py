"""The webhook by which a host without interrupts learns of a decision: `review.resolved`, signed.

Every delivery carries two signatures over the same bytes, so that a receiver can check it with what
it has: OpenWOP's header family (webhooks.md §Headers) and Standard Webhooks 1.0, which also signs
the id. The body is frozen like every decision; only timestamp and signatures are new per attempt.
"""

import base64
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from runs.domain.webhooks import LEAST_SECRET, STANDARD_PREFIX, key_of_standard_secret
from verification.domain.decisions import Action
from verification.domain.errors import VerificationError
from verification.domain.frozen import FrozenBody, frozen

EVENT_TYPE = "review.resolved"
_ID = re.compile(r"[A-Za-z0-9_-]{16,128}")


class WeakSecret(VerificationError):
    """A webhook secret is too short or not of its form. Never carries the secret."""

    def __str__(self) -> str:
        return f"A webhook secret needs at least {LEAST_SECRET} bytes: {STANDARD_PREFIX}<base64>."


class BadDeliveryId(VerificationError):
    """A delivery's id cannot travel in a header that is signed."""

    def __str__(self) -> str:
        return "A delivery id is 16 to 128 characters of A-Z, a-z, 0-9, _ and -."


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a host is told about a decision."""

    escalation: str
    run_id: str
    action: Action
    decided_at: datetime
    decided_by: str
    """An opaque id."""
    target: str = ""
    node_id: str = ""
    decision: str = ""
    """What the gate says now: pass, revise or fail."""
    feedback: str = ""


def review_resolved(resolved: Resolved) -> FrozenBody:
    """Return the frozen body of the webhook; keys without a value are left out."""
    about: dict[str, Any] = {
        "escalationId": resolved.escalation,
        "runId": resolved.run_id,
        "nodeId": resolved.node_id,
        "target": resolved.target,
        "action": resolved.action.value,
        "decision": resolved.decision,
        "feedback": resolved.feedback,
        "decidedAt": _spelled(resolved.decided_at),
        "decidedBy": resolved.decided_by,
    }
    return frozen(
        {
            "type": EVENT_TYPE,
            "timestamp": _spelled(resolved.decided_at),
            "data": {key: value for key, value in about.items() if value},
        }
    )


def signed_headers(
    body: bytes, *, secrets: Sequence[str], delivery_id: str, at: datetime
) -> Mapping[str, str]:
    """Return the headers that sign a body in both families.

    Args:
        body: the exact bytes that are sent.
        secrets: `whsec_<base64>`, the current one first; while one is being replaced, both sign.
        delivery_id: stable over retries.
        at: when this attempt is made.

    Raises:
        WeakSecret: a secret has fewer than 24 bytes, or there is none.
        BadDeliveryId: the id is not a header-safe token.
    """
    if not _ID.fullmatch(delivery_id):
        raise BadDeliveryId
    keys = [_key(secret) for secret in secrets]
    if not keys:
        raise WeakSecret
    timestamp = str(int(at.timestamp()))
    signature = openwop_signature(secrets[0], timestamp, body)
    return {
        "OpenWOP-Webhook-Id": delivery_id,
        "OpenWOP-Event-Type": EVENT_TYPE,
        "OpenWOP-Timestamp": timestamp,
        "OpenWOP-Signature": signature,
        "OpenWOP-Signature-Algorithm": "v1",
        "webhook-id": delivery_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(
            _standard_signature(key, delivery_id, timestamp, body) for key in keys
        ),
    }


def openwop_signature(secret: str, timestamp: str, body: bytes) -> str:
    """Sign `{timestamp}.{body}`; the key is the secret's text. Source: webhooks.md §Headers."""
    mac = hmac.new(secret.encode(), timestamp.encode() + b"." + body, "sha256")
    return f"sha256={mac.hexdigest()}"


def _standard_signature(key: bytes, delivery_id: str, timestamp: str, body: bytes) -> str:
    """Sign `{id}.{timestamp}.{body}`. Source: Standard Webhooks 1.0."""
    mac = hmac.new(key, f"{delivery_id}.{timestamp}.".encode() + body, "sha256")
    return f"v1,{base64.b64encode(mac.digest()).decode()}"


def _key(secret: str) -> bytes:
    key = key_of_standard_secret(secret)
    if key is None:
        raise WeakSecret
    return key


def _spelled(moment: datetime) -> str:
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
