"""Has a host deliver its events to the webhook door, so that nobody has to copy a secret."""

import uuid

import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs.actions.webhook_secrets import rotate_secret
from runs.domain.host_documents import Unreadable, document_in
from runs.host_reader import Reading
from runs.models import Host, WebhookSubscription
from runs.sealing import SealBroken, unseal
from verification.actions.connecting import delivery_path
from verification.actions.host_settings import put_on_record
from verification.domain.subscriptions import (
    NotSubscribed,
    Subscribed,
    UnfitSecret,
    subscribed,
    subscription_body,
)
from verification.host import HostClient, client_of


def subscribe(*, host: Host, by: str) -> WebhookSubscription:
    """Subscribe to everything that a host sends, in place of what was subscribed before.

    Where the host chooses the secret itself, that comes into force here, and ours stays good for
    a day.

    Args:
        host: one with an address.
        by: how the audit log names whoever does it.

    Raises:
        NotSubscribed: it does not deliver here.
        OwnHost: it is the Console's.
    """
    client, offered = _client(host), _secret_of(host)
    url = f"{settings.CONSOLE_URL}{delivery_path(host)}"
    body = subscription_body(url=url, secret=offered, tenant=host.tenant, major=host.protocol_major)
    reading = client.subscribe(orjson.dumps(body), str(uuid.uuid4()))
    try:
        made = subscribed(reading.answer, _object_in(reading), offered)
    except UnfitSecret:
        _forget(client, reading, host)
        raise
    old = WebhookSubscription.objects.filter(host=host).first()
    kept = _keep(host, made, url, by)
    if old is not None and old.webhook_id != made.webhook_id:
        client.unsubscribe(old.webhook_id, host.tenant)
    return kept


def unsubscribe(*, host: Host, by: str) -> None:
    """End a host's subscription; what it says to that is its own affair.

    Raises:
        NotSubscribed: there is none, or the host was not reached.
    """
    found = WebhookSubscription.objects.filter(host=host).first()
    if found is None:
        raise NotSubscribed("Nothing is subscribed.", "")
    answer = _client(host).unsubscribe(found.webhook_id, host.tenant)
    if not answer.is_good and answer.status not in {404, 410}:
        raise NotSubscribed("The host was not told.", "It still delivers; try again.")
    with transaction.atomic():
        found.delete()
        put_on_record(host, "host.unsubscribed", by)


@transaction.atomic
def _keep(host: Host, made: Subscribed, url: str, by: str) -> WebhookSubscription:
    if made.secret:
        rotate_secret(host=host, secret=made.secret)
    kept, _ = WebhookSubscription.objects.update_or_create(
        host=host,
        defaults={"webhook_id": made.webhook_id, "url": url, "made_at": timezone.now()},
    )
    put_on_record(host, "host.subscribed", by, {"hostsOwnSecret": bool(made.secret)})
    return kept


def _client(host: Host) -> HostClient:
    host.check_is_foreign()
    if not host.base_url:
        raise NotSubscribed("The Console does not know where this host answers.")
    try:
        return client_of(host)
    except SealBroken as broken:
        raise NotSubscribed(str(broken), "Connect the host again with its key.") from broken


def _secret_of(host: Host) -> str:
    try:
        return unseal(host.sealed_webhook_secret) or rotate_secret(host=host)
    except SealBroken as broken:
        raise NotSubscribed(str(broken), "Make a new webhook secret.") from broken


def _forget(client: HostClient, reading: Reading, host: Host) -> None:
    """Undo a subscription whose deliveries would not be believed."""
    said = _object_in(reading) or {}
    name = said.get("webhookId", said.get("subscriptionId"))
    if isinstance(name, str):
        client.unsubscribe(name, host.tenant)


def _object_in(reading: Reading) -> dict[str, object] | None:
    try:
        return document_in(reading.body)
    except Unreadable:
        return None
