"""Webhook subscriptions: signed deliveries in the dialect's spelling, one attempt each.

That is the v1 default (webhooks.md): no retry, five seconds. Receivers are on this machine or
speak https; anything else is refused, as a host must.
"""

import asyncio
import hashlib
import logging
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from openwop_console.demo.asgi import JsonObject, Refused
from openwop_console.demo.dialects import Hooks
from openwop_console.demo.store import Ids

_TIMEOUT_S = 5.0
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Subscription:
    """One receiver."""

    webhook_id: str
    url: str
    secret: str = field(repr=False)
    types: frozenset[str]
    """Event types it wants; empty means all."""
    queue: asyncio.Queue[JsonObject] = field(default_factory=asyncio.Queue)
    held_back: JsonObject | None = None

    def wants(self, event: JsonObject) -> bool:
        """Whether this receiver is told about the event."""
        return not self.types or event["type"] in self.types


class Webhooks:
    """All subscriptions of the host."""

    def __init__(self, hooks: Hooks, ids: Ids) -> None:
        self._hooks = hooks
        self._ids = ids
        self._subscriptions: dict[str, Subscription] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def register(self, body: JsonObject) -> JsonObject:
        """Add a receiver; returns the body of the 201, the only place that shows the secret.

        Raises:
            Refused: 400 for a URL the host will not call, or a body without one.
        """
        url = str(body.get("url", ""))
        _check_url(url)
        types = body.get("events", body.get("eventTypes", []))
        if not isinstance(types, list):
            raise Refused(400, "validation_error", "events must be a list.")
        secret = str(body.get("secret") or self._ids.token())
        subscription = Subscription(f"wh-{self._ids.uuid()}", url, secret, frozenset(types))
        self.add(subscription)
        return {
            "webhookId": subscription.webhook_id,
            "subscriptionId": subscription.webhook_id,
            "url": url,
            "events": types,
            "secret": secret,
            "secretFingerprint": hashlib.sha256(secret.encode()).hexdigest()[:8],
        }

    def add(self, subscription: Subscription) -> None:
        """Start to deliver to a receiver."""
        self._subscriptions[subscription.webhook_id] = subscription
        self._tasks[subscription.webhook_id] = asyncio.ensure_future(self._deliver(subscription))

    def unregister(self, webhook_id: str) -> None:
        """Stop to deliver. Raises Refused (404) for an unknown id."""
        if self._subscriptions.pop(webhook_id, None) is None:
            raise Refused(404, "not_found", "No such webhook.")
        self._tasks.pop(webhook_id).cancel()

    def offer(self, event: JsonObject) -> None:
        """Take an event for every receiver that wants it; never blocks."""
        for subscription in self._subscriptions.values():
            if subscription.wants(event):
                self._enqueue(subscription, event)

    def _enqueue(self, subscription: Subscription, event: JsonObject) -> None:
        if self._hooks.holds_back_the_first and event["type"] == "run.started":
            subscription.held_back = event
            return
        subscription.queue.put_nowait(event)
        held, subscription.held_back = subscription.held_back, None
        if held is not None:
            subscription.queue.put_nowait(held)

    async def _deliver(self, subscription: Subscription) -> None:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as client:
            while True:
                event = await subscription.queue.get()
                delivery = self._hooks.delivery(
                    event,
                    webhook_id=subscription.webhook_id,
                    secret=subscription.secret,
                    timestamp=int(time.time()),
                )
                try:
                    await client.post(
                        subscription.url, content=delivery.body, headers=delivery.headers
                    )
                except httpx.TransportError as error:
                    log.warning("A webhook was not delivered (%s).", type(error).__name__)

    async def close(self) -> None:
        """Stop all deliveries."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or not (is_local or parts.scheme == "https"):
        raise Refused(400, "webhook_url_rejected", "Use https, or http on this machine.")
