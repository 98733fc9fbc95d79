"""Asking a host to deliver its events here, and what its answer means.

Source: OpenWOP webhooks.md §Registration, v1 and v2; the answers of five live hosts.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.domain.codemap import names_in
from runs.domain.host_answer import Answer, Reached
from runs.domain.webhooks import LEAST_SECRET
from verification.domain.errors import VerificationError
from verification.domain.host_errors import canonical_code, sentence

_BY_HAND = "Register by hand: give the host the address and a new webhook secret."


class NotSubscribed(VerificationError):
    """The host does not deliver here. Says why and what to do, and no secret."""

    def __init__(self, words: str, fix: str = _BY_HAND) -> None:
        self.words, self.fix = words, fix
        super().__init__(f"{words} {fix}")


@dataclass(frozen=True, slots=True)
class Subscribed:
    """What a host calls the subscription, and the secret that it signs with."""

    webhook_id: str
    secret: str
    """Empty: the one that it was offered."""

    def __repr__(self) -> str:
        return f"<Subscribed {self.webhook_id}>"


def subscription_body(*, url: str, secret: str, tenant: str, major: int) -> dict[str, Any]:
    """Return what a host is asked.

    v1 wants a `tenantId` and live hosts take none but the caller's own, so it is named only where
    it is known. Every type is listed, because a list must not be empty; hosts that do not read it
    send everything.
    """
    body: dict[str, Any] = {"url": url, "events": names_in(major), "secret": secret}
    return body | {"tenantId": tenant} if tenant and major == 1 else body


def subscribed(answer: Answer, document: Mapping[str, Any] | None, offered: str) -> Subscribed:
    """Read a host's answer.

    Args:
        answer: how the call ended.
        document: what came with a 2xx, if it is a JSON object.
        offered: the secret that it was asked to sign with.

    Raises:
        NotSubscribed: it does not deliver, or with a secret that proves nothing here.
    """
    if not answer.is_good:
        raise _refusal(answer)
    said = document or {}
    name = said.get("webhookId", said.get("subscriptionId"))
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= 272:
        raise NotSubscribed("It answered without the id of a subscription.")
    return Subscribed(name, _secret(said, offered))


def _secret(said: Mapping[str, Any], offered: str) -> str:
    """Return the secret that a host chose instead; empty where it took ours."""
    chosen = said.get("secret")
    if isinstance(chosen, str) and chosen:
        if len(chosen.encode()) < LEAST_SECRET:
            raise UnfitSecret(f"It chose a secret of less than {LEAST_SECRET} bytes.")
        return "" if chosen == offered else chosen
    fingerprint = said.get("secretFingerprint")
    if isinstance(fingerprint, str) and fingerprint != fingerprint_of(offered):
        raise UnfitSecret("It signs with another secret than it was given, and does not say which.")
    return ""


class UnfitSecret(NotSubscribed):
    """The host would deliver, signed with what is not believed here: the subscription must go."""


def fingerprint_of(secret: str) -> str:
    """Return the first 8 hex digits of a secret's SHA-256. Source: webhooks.md §Registration."""
    return hashlib.sha256(secret.encode()).hexdigest()[:8]


def _refusal(answer: Answer) -> NotSubscribed:
    code = canonical_code(answer.code)
    if answer.reached is Reached.FORBIDDEN:
        return NotSubscribed(f"Not asked: {answer.why}", "Correct the host's address.")
    if answer.reached is not Reached.ANSWERED:
        return NotSubscribed(sentence(None, "", answer.why), "Try again when it runs.")
    if answer.status in {401, 403}:
        words = f"It does not let our key subscribe ({answer.status} {code}".strip() + ")."
        return NotSubscribed(words, "Give the Console a key with the scope webhooks:manage.")
    if answer.status in {404, 405, 501}:
        return NotSubscribed("It takes no subscriptions.")
    if code in {"webhook_url_rejected", "webhook_endpoint_unverified"}:
        fix = "Give the Console a public https address (OPENWOP_CONSOLE_URL), or let the host call"
        return NotSubscribed(f"It refuses our address ({code}).", f"{fix} private ones.")
    return NotSubscribed(f"It answered {answer.status} {code}".strip() + ".")
