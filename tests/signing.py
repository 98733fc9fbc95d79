"""Signs deliveries the way hosts do, in every spelling that is in use."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(32, 64))).decode()
DELIVERY_ID = "msg_2KWPBgLlAfxdpx2AI54pPJ85"


def mac(secret: str, timestamp: str, body: bytes) -> str:
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def stamp(at: datetime = NOW, shift_s: int = 0) -> str:
    return str(int(at.timestamp()) + shift_s)


def v2(body: bytes, secret: str = SECRET, ts: str = stamp(NOW)) -> dict[str, str]:
    return {
        "openwop-webhook-id": "sub_1",
        "openwop-event-type": "node.completed",
        "openwop-timestamp": ts,
        "openwop-signature": f"sha256={mac(secret, ts, body)}",
        "openwop-signature-algorithm": "v1",
    }


def v1(body: bytes, secret: str = SECRET, ts: str = stamp(NOW)) -> dict[str, str]:
    return {f"x-{name}": value for name, value in v2(body, secret, ts).items()}


def reference(body: bytes, secret: str = SECRET, ts: str = stamp(NOW)) -> dict[str, str]:
    """As the sqlite, postgres and python hosts sign."""
    return {
        "x-openwop-signature": mac(secret, ts, body),
        "x-openwop-signature-timestamp": ts,
        "x-openwop-signature-algorithm": "v1",
        "x-openwop-subscription-id": "wh-1",
    }


def app(body: bytes, secret: str = SECRET, ts: str = stamp(NOW)) -> dict[str, str]:
    """As openwop-app signs."""
    return {
        "openwop-signature": f"t={ts},v1={mac(secret, ts, body)}",
        "openwop-event-type": "run.started",
        "openwop-subscription-id": "f7ff49e6",
    }


def standard(body: bytes, secret: str = SECRET, ts: str = stamp(NOW)) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{DELIVERY_ID}.{ts}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": DELIVERY_ID,
        "webhook-timestamp": ts,
        "webhook-signature": f"v1,{signature}",
    }


def both(body: bytes, secret: str = SECRET, ts: str = stamp(NOW)) -> dict[str, str]:
    return v1(body, secret, ts) | v2(body, secret, ts)


def companion(body: bytes, secret: str = SECRET, ts: str = stamp(NOW)) -> dict[str, str]:
    return v2(body, secret, ts) | standard(body, secret, ts)


SPELLINGS = {
    "v2": v2,
    "v1": v1,
    "reference": reference,
    "app": app,
    "standard": standard,
    "both": both,
    "companion": companion,
}
"""Headers by lower-case name, for a body, a secret and a timestamp."""


def packed(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
