"""The door that events come in by: what is asked of a request, and in which order.

Media type, key, rate, size, encoding, JSON, envelope, payload. It knows no request or response, so
that the edge that is asked most may be thin and the other one Django's, with the same answers.
"""

import re
from dataclasses import dataclass

from django.utils import timezone
from rest_framework.exceptions import NotAuthenticated

from runs.actions.ingest import Body, Receipt, count_refusals, ingest
from runs.auth import KeyRefused, key_in
from runs.domain.answers import message_of
from runs.domain.batch import form_of
from runs.domain.refusals import BodyRefused
from runs.flow import Sender, flow
from runs.limits import LIMIT_BEHIND, limits
from runs.models import HostKey
from runs.refusal import Refusal, refused_because

_IDEMPOTENCY_KEY = re.compile(r"[A-Za-z0-9._~-]{22,128}")
"""Source: OpenWOP v2 idempotency.md. Events need none, but a wrong one is a fault of the sender."""


class NoKey(NotAuthenticated):
    """The request carries no bearer key."""

    reason = "key_missing"


@dataclass(frozen=True, slots=True)
class Headers:
    """What a request says of itself, as far as this door reads it."""

    authorization: str = ""
    content_type: str = ""
    content_encoding: str = ""
    idempotency_key: str | None = None


def admit(headers: Headers) -> HostKey:
    """Let a request in by its headers, before its body is looked at.

    Raises:
        Refusal: 415, 403, 429 or 400.
        KeyRefused: 401.
    """
    try:
        form_of(headers.content_type)
    except BodyRefused as refused:
        _count_for_owner(headers, refused.reason)
        raise refused_because(refused.reason, 415, refused.error) from None
    key = key_in(headers.authorization)
    if key is None:
        raise NoKey
    if "events:write" not in key.scopes:
        raise refused_because("scope", 403, "forbidden")
    flow().enter(sender_of(key))
    sent = headers.idempotency_key
    if sent is not None and not _IDEMPOTENCY_KEY.fullmatch(sent):
        raise refused_because("idempotency_key", 400, "idempotency_key_invalid")
    return key


def take(key: HostKey, headers: Headers, raw: bytes | None) -> Receipt:
    """Take the events of a request that was let in.

    Args:
        key: what it was let in with.
        headers: as they were when it was let in.
        raw: the body; None where it was larger than is taken.

    Raises:
        Refusal: nothing of it can be taken.
    """
    sender = sender_of(key)
    if turned_back := flow().turned_back(sender.host):
        count_refusals(key.host, ["rate_exceeded"] * turned_back, timezone.now())
    if raw is None:
        count_refusals(key.host, ["body_too_large"], timezone.now())
        raise too_large()
    body = Body(raw, headers.content_type, headers.content_encoding)
    try:
        receipt = ingest(host=key.host, body=body)
    except Refusal as refused:
        flow().count(sender, len(refused.details.get("rejected", ())) or 1)
        raise
    flow().count(sender, receipt.events)
    return receipt


def budget_headers(key: HostKey) -> dict[str, str]:
    """Return the header that says how much may still be sent at once.

    Source: draft-ietf-httpapi-ratelimit-headers.
    """
    left = flow().left(sender_of(key))
    return {"RateLimit": ", ".join(f'"{unit}";r={count}' for unit, count in left.items())}


def sender_of(key: HostKey) -> Sender:
    """Return whose budget is charged for what comes with a key."""
    return Sender(host=key.host_id, key=key.pk)


def too_large() -> Refusal:
    """Return the answer to a body above the limit."""
    details = {
        "reason": "body_too_large",
        "limit": limits().body_bytes,
        "setting": LIMIT_BEHIND["body_too_large"][1],
    }
    return Refusal(413, "payload_too_large", message_of("body_too_large"), details)


def _count_for_owner(headers: Headers, reason: str) -> None:
    """Count what is refused before its key was asked for, if it has a good one."""
    try:
        key = key_in(headers.authorization)
    except KeyRefused:
        return
    if key is not None:
        count_refusals(key.host, [reason], timezone.now())
