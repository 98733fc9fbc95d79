"""The secrets that hosts sign webhooks with: made, replaced, and good for a while after.

Two are in force while one is replaced, so that no delivery is lost between the moment the Console
learns the new one and the moment the host does.
"""

import base64
import logging
import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from runs.domain.webhooks import STANDARD_PREFIX
from runs.models import Host, RetiringSecret
from runs.refusal import Refusal
from runs.sealing import SealBroken, seal, unseal

logger = logging.getLogger(__name__)

OVERLAP = timedelta(days=1)
LONGEST_OVERLAP = timedelta(days=7)


def secrets_of(host: Host | None, now: datetime) -> list[str]:
    """Return the webhook secrets of a host that are in force, the current one first.

    Raises:
        Refusal: 503 when they were sealed under another key: ours to mend, so the host may retry.
    """
    if host is None:
        return []
    retiring = RetiringSecret.objects.filter(host=host, valid_until__gt=now).order_by("-pk")
    sealed = [host.sealed_webhook_secret, *retiring.values_list("sealed", flat=True)]
    try:
        return [unseal(each) for each in sealed]
    except SealBroken:
        logger.error("webhook secrets of host %s cannot be opened", host.pk)  # noqa: TRY400
        raise Refusal(
            503, "internal_error", "The Console cannot check signatures now.", {}, 60
        ) from None


def new_secret() -> str:
    """Return a secret that serves as text and, decoded, as a key of Standard Webhooks."""
    return STANDARD_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


@transaction.atomic
def rotate_secret(
    *,
    host: Host,
    secret: str = "",
    overlap: timedelta = OVERLAP,
    now: datetime | None = None,
) -> str:
    """Put a new webhook secret in force and return it; the old one verifies for a while more.

    Args:
        host: whose secret it is.
        secret: one that the host chose; empty to make one.
        overlap: how long the old one stays good, at most seven days; zero ends it at once, with
            every other that was going out of use.
        now: our clock; tests give it.

    Raises:
        OwnHost: it is the Console's.
    """
    host.check_is_foreign()
    now = now or timezone.now()
    locked = Host.objects.select_for_update().get(pk=host.pk)
    RetiringSecret.objects.filter(host=locked, valid_until__lte=now).delete()
    if overlap <= timedelta(0):
        RetiringSecret.objects.filter(host=locked).delete()
    elif locked.sealed_webhook_secret:
        RetiringSecret.objects.create(
            host=locked,
            sealed=bytes(locked.sealed_webhook_secret),
            valid_until=now + min(overlap, LONGEST_OVERLAP),
        )
    chosen = secret or new_secret()
    locked.sealed_webhook_secret = host.sealed_webhook_secret = seal(chosen)
    locked.save(update_fields=["sealed_webhook_secret"])
    return chosen
