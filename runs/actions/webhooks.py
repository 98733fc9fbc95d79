"""The webhook door: a host's signed delivery in, its event taken or its run marked to be pulled.

A delivery goes the way of every event. What it leaves beside its event is a row of evidence with
the hash of its body.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from django.db import connection, transaction
from django.utils import timezone

from runs.actions.canaries import hear, is_tried
from runs.actions.due import is_readable, pull_soon
from runs.actions.ingest import count_refusals, refusal_of_body, take
from runs.actions.unread import hold_for_unread_verdicts
from runs.actions.webhook_secrets import secrets_of
from runs.domain.answers import message_of
from runs.domain.batch import Batch as Events
from runs.domain.canary import REFUSED, is_canary
from runs.domain.refusals import VALIDATION_ERROR, BodyRefused
from runs.domain.tenants import TENANT_MISMATCH, is_foreign
from runs.domain.webhook_bodies import Bell, Challenge, Told, delivery_of
from runs.domain.webhooks import Reason, Unverified, Verified, verify
from runs.limits import limits
from runs.models import Event, Host
from runs.refusal import Refusal

_NOT_PROVEN = "The delivery is not proven to be this host's; sign it with the secret in force."


@dataclass(frozen=True, slots=True)
class Answer:
    """What a delivery is answered with."""

    status: int
    body: Mapping[str, Any]


def receive(
    *,
    host: Host | None,
    headers: Mapping[str, str],
    raw: bytes,
    admit: Callable[[Host], None] = lambda host: None,
    now: datetime | None = None,
) -> Answer:
    """Take what a host delivers, if it is proven to be the host's.

    Args:
        host: whose address it came to; None when there is no such host, which looks the same from
            outside as a signature that does not match.
        headers: by lower-case name.
        raw: the body as it arrived, within the limit.
        admit: asked once the proof holds, so that nobody else can use up what the host may send;
            raises Refusal where that is too much.
        now: our clock; tests give it.

    Raises:
        Refusal: 401 without proof; otherwise as for events.
    """
    now = now or timezone.now()
    try:
        verified = verify(headers, raw, secrets=secrets_of(host, now), now=now)
    except Unverified as unverified:
        raise _unproven(host, unverified.reason, now) from None
    if host is None:
        raise _unproven(host, Reason.MISMATCH, now)
    admit(host)
    try:
        delivery = delivery_of(raw, limits())
    except BodyRefused as refused:
        _note(host, verified, raw, _About("", None, refused.reason), now)
        raise refusal_of_body(host, refused, now) from None
    match delivery:
        case Challenge():
            return Answer(200, {"challenge": delivery.word})
        case Bell():
            return _rung(host, verified, raw, delivery, now)
        case Told():
            return _taken(host, verified, raw, delivery, now)


def _unproven(host: Host | None, reason: Reason, now: datetime) -> Refusal:
    """Return the one answer to whatever is not proven; the reason alone tells the cases apart."""
    if host is not None:
        count_refusals(host, [reason], now)
    return Refusal(401, "unauthenticated", _NOT_PROVEN, {"reason": reason.value})


@dataclass(frozen=True, slots=True)
class _About:
    """What evidence says of a delivery beside its hash."""

    run_id: str
    sequence: int | None
    outcome: str


def _taken(host: Host, verified: Verified, raw: bytes, told: Told, now: datetime) -> Answer:
    """Take the event; evidence and event commit together."""
    failure: Refusal | None = None
    with transaction.atomic():
        try:
            receipt = take(host=host, events=Events([(0, told.item)], is_single=True), now=now)
            outcome = "accepted" if receipt.accepted else "duplicate"
        except Refusal as refusal:
            failure, outcome = refusal, str(refusal.details.get("reason", refusal.error))
        if not is_canary(told.run_id):
            _note(host, verified, raw, _About(told.run_id, told.sequence, outcome), now)
    if failure is not None:
        raise failure
    return Answer(200, receipt.body())


def _rung(host: Host, verified: Verified, raw: bytes, bell: Bell, now: datetime) -> Answer:
    """Mark the run to be pulled, unless the event is held already."""
    if is_foreign(bell.run_id, host.tenant):
        _refuse_foreign(host, verified, raw, bell, now)
    if is_canary(bell.run_id):
        return _tried(host, bell, now)
    is_held = bell.sequence is not None and Event.objects.filter(
        run__host=host, run__run_id=bell.run_id, sequence=bell.sequence
    ).exists()  # fmt: skip
    with transaction.atomic():
        outcome = "duplicate" if is_held else "bell"
        _note(host, verified, raw, _About(bell.run_id, bell.sequence, outcome), now)
        if not is_held:
            _mark(host, bell, now)
    return Answer(200 if is_held else 202, {"runId": bell.run_id, "pull": not is_held})


def _tried(host: Host, bell: Bell, now: datetime) -> Answer:
    """Hear a bell that is rung for a connection test: there is no run to pull."""
    if not is_tried(host, bell.run_id, now):
        raise refusal_of_body(host, BodyRefused(VALIDATION_ERROR, REFUSED.reason, "/runId"), now)
    hear(host, bell.run_id, now)
    return Answer(202, {"runId": bell.run_id, "pull": False})


def _refuse_foreign(
    host: Host, verified: Verified, raw: bytes, bell: Bell, now: datetime
) -> NoReturn:
    reason = "tenant_mismatch"
    _note(host, verified, raw, _About(bell.run_id, bell.sequence, reason), now)
    count_refusals(host, [reason], now)
    details = {"reason": reason, "pointer": "/runId"}
    raise Refusal(403, TENANT_MISMATCH, message_of(reason), details)


def _mark(host: Host, bell: Bell, now: datetime) -> None:
    """Have the run pulled; where that cannot be now, a verdict that is not sent holds it."""
    owed = bell.sequence if bell.may_be_verdict else None
    pull_soon(host=host, run_id=bell.run_id, owed_verdict=owed, now=now)
    if owed is not None and not is_readable(host, now):
        hold_for_unread_verdicts(host=host, run_id=bell.run_id, sequences=[owed], now=now)


_NOTE = """
    INSERT INTO runs_receiveddelivery
        (host_id, body_sha256, subscription_id, run_id, sequence, spelling, outcome, at, last_at,
         times)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, 1)
    ON CONFLICT ON CONSTRAINT a_delivered_body_is_kept_once
    DO UPDATE SET times = runs_receiveddelivery.times + 1, last_at = EXCLUDED.last_at
"""


def _note(host: Host, verified: Verified, raw: bytes, about: _About, now: datetime) -> None:
    """Leave evidence of a delivery; a body that came before raises a count."""
    with connection.cursor() as cursor:
        cursor.execute(
            _NOTE,
            [
                host.pk,
                hashlib.sha256(raw).digest(),
                verified.subscription,
                about.run_id[:272],
                about.sequence,
                verified.spelling,
                about.outcome[:64],
                now,
                now,
            ],
        )
