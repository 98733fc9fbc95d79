"""How hosts sign and spell webhook deliveries; every one of them signs `{timestamp}.{body}`.

Three spellings are in use: the published one, that of the reference hosts, that of openwop-app.
Source: OpenWOP webhooks.md, and deliveries recorded from the hosts.
"""

import hashlib
import hmac
from dataclasses import dataclass

import orjson

from openwop_console.demo.asgi import JsonObject


@dataclass(frozen=True, slots=True)
class Delivery:
    """A webhook request, ready to send."""

    headers: dict[str, str]
    body: bytes


class Hooks:
    """The published spelling: five `X-openwop-*` headers around `{runId, workspaceId, event}`."""

    holds_back_the_first = False
    """The second event of a run is delivered before the first."""

    def delivery(
        self, event: JsonObject, *, webhook_id: str, secret: str, timestamp: int
    ) -> Delivery:
        """The signed request for one event."""
        body = orjson.dumps(self.body(event))
        signature = sign(secret, timestamp, body)
        headers = {"content-type": "application/json"}
        headers |= self.headers(event, webhook_id, str(timestamp), signature)
        return Delivery(headers, body)

    def body(self, event: JsonObject) -> JsonObject:
        """What is sent about an event."""
        return {"runId": event["runId"], "workspaceId": "demo", "event": event}

    def headers(
        self, event: JsonObject, webhook_id: str, timestamp: str, signature: str
    ) -> dict[str, str]:
        """Who sends it, when, and the proof."""
        return {
            "X-openwop-Webhook-Id": webhook_id,
            "X-openwop-Event-Type": event["type"],
            "X-openwop-Timestamp": timestamp,
            "X-openwop-Signature": f"sha256={signature}",
            "X-openwop-Signature-Algorithm": "v1",
        }


class ReferenceHooks(Hooks):
    """The sqlite and postgres hosts: bare hex, and a body that only says something happened."""

    def body(self, event: JsonObject) -> JsonObject:
        """Neither eventId nor payload: the receiver has to fetch the event."""
        return {
            "seq": event["sequence"],
            "runId": event["runId"],
            "type": event["type"],
            "nodeId": event.get("nodeId"),
            "timestamp": event["timestamp"],
        }

    def headers(
        self,
        event: JsonObject,
        webhook_id: str,
        timestamp: str,
        signature: str,
    ) -> dict[str, str]:
        """The id is called a subscription, the time a signature timestamp."""
        return {
            "X-openwop-Signature": signature,
            "X-openwop-Signature-Timestamp": timestamp,
            "X-openwop-Signature-Algorithm": "v1",
            "X-openwop-Subscription-Id": webhook_id,
        }


class PythonHooks(ReferenceHooks):
    """The python host: as the other reference hosts, with an eventId, and out of order."""

    holds_back_the_first = True

    def body(self, event: JsonObject) -> JsonObject:
        """The event without its payload."""
        return {key: value for key, value in event.items() if key != "payload"}


class AppHooks(Hooks):
    """openwop-app: time and proof in one header, the bare event as body."""

    def body(self, event: JsonObject) -> JsonObject:
        """The event as it is."""
        return event

    def headers(
        self, event: JsonObject, webhook_id: str, timestamp: str, signature: str
    ) -> dict[str, str]:
        """`t=…,v1=…`."""
        return {
            "openwop-signature": f"t={timestamp},v1={signature}",
            "openwop-event-type": event["type"],
            "openwop-subscription-id": webhook_id,
        }


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """HMAC-SHA256 over `{timestamp}.{body}` in hex; the secret is used as text."""
    signed = f"{timestamp}.".encode() + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
