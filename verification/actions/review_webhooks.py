"""Where a host without interrupts is told of decisions, and the secret that both sides know."""

import base64
import secrets

from django.contrib.auth.models import User
from django.db import transaction

from runs.domain.destinations import Refused, read_url
from runs.domain.webhooks import STANDARD_PREFIX
from runs.models import Host
from runs.sealing import seal
from verification.actions.audit import actor_of, record
from verification.actions.queues import check_admin
from verification.domain.errors import VerificationError
from verification.models import ReviewWebhook


class BadAddress(VerificationError):
    """The address is none that the Console could ever connect to."""

    def __init__(self, words: str) -> None:
        self.words = words
        super().__init__(words)


@transaction.atomic
def set_webhook(*, host: Host, url: str, by: User) -> str:
    """Tell a host of decisions at an address, and return the new secret; it is shown this once.

    The address is judged again at every attempt: here only its form is.

    Raises:
        BadAddress: it cannot be read as an address.
        NotAdmin: the person is not an administrator.
    """
    check_admin(by, host.workspace_id)
    read = read_url(url)
    if isinstance(read, Refused):
        raise BadAddress(read.words)
    secret = STANDARD_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
    ReviewWebhook.objects.update_or_create(
        host=host, defaults={"url": url, "sealed_secret": seal(secret)}
    )
    _put_on_record(host, "webhook.set", by)
    return secret


@transaction.atomic
def remove_webhook(*, host: Host, by: User) -> None:
    """Stop telling a host; what is on its way stops with a word that says so."""
    check_admin(by, host.workspace_id)
    ReviewWebhook.objects.filter(host=host).delete()
    _put_on_record(host, "webhook.removed", by)


def _put_on_record(host: Host, action: str, by: User) -> None:
    record(
        workspace=host.workspace_id, actor=actor_of(by), action=action, subject=f"host:{host.slug}"
    )
