"""Ingest: a host's bytes in, committed events out. One function for every door.

Only what makes the whole body unreadable refuses all of it; each event is otherwise taken or
refused by itself. A receipt with a 2xx means that what it counts as accepted is committed.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from runs.actions.append import Batch, Outcome, TurnedAway, append
from runs.actions.canaries import hear, is_tried
from runs.domain import canary
from runs.domain.answers import message_of
from runs.domain.batch import Batch as Events
from runs.domain.batch import events_of, form_of, unpacked
from runs.domain.envelope import EnvelopeRefused, read
from runs.domain.intake import Conflict
from runs.domain.limits import Limits
from runs.domain.log import Envelope
from runs.domain.refusals import BodyRefused, Refused
from runs.domain.tenants import fault_in_tenant, is_foreign
from runs.limits import LIMIT_BEHIND, limits
from runs.models import Host
from runs.refusal import Refusal
from runs.rows import execute

_STATUS = {
    "id_tenant_mismatch": 403,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "version_conflict": 409,
}


@dataclass(frozen=True, slots=True)
class Body:
    """What was sent, unread, with what its headers say of it."""

    raw: bytes
    content_type: str
    content_encoding: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a request."""

    accepted: int
    duplicates: int
    rejected: Sequence[dict[str, Any]] = field(default_factory=list)
    runs: Sequence[dict[str, Any]] = field(default_factory=list)
    is_single: bool = False

    @property
    def events(self) -> int:
        """Return how many events the request had, whatever became of them."""
        return self.accepted + self.duplicates + len(self.rejected)

    @property
    def status(self) -> int:
        """Return the HTTP status: 201 or 200 for one event, 200 or 207 for a batch."""
        if self.rejected:
            return 207
        return 201 if self.is_single and self.accepted else 200

    def body(self) -> dict[str, Any]:
        """Return the answer as it travels."""
        return {
            "accepted": self.accepted,
            "duplicates": self.duplicates,
            "rejected": list(self.rejected),
            "runs": list(self.runs),
        }


def ingest(*, host: Host, body: Body, now: datetime | None = None) -> Receipt:
    """Take what a host sends.

    Args:
        host: whose key it was sent with.
        body: one event, `{"events": […]}`, an array, or NDJSON; perhaps gzip.
        now: our clock; tests give it.

    Raises:
        Refusal: nothing of it can be taken: 400, 409, 413 or 415.
    """
    now = now or timezone.now()
    allowed = limits()
    try:
        form = form_of(body.content_type)
        events = events_of(unpacked(body.raw, body.content_encoding, allowed), form, allowed)
    except BodyRefused as refused:
        raise refusal_of_body(host, refused, now) from None
    return take(host=host, events=events, now=now)


def take(*, host: Host, events: Events, now: datetime) -> Receipt:
    """Take single events of a host, whichever door they came through.

    Raises:
        Refusal: none of them can be taken.
    """
    if canary.any_in(events.items):
        return _try(host, events, now)
    return _take(host, events, now)


def _try(host: Host, events: Events, now: datetime) -> Receipt:
    """Take what is sent for a connection test as far as it goes, and take all of it back."""
    run_id = canary.only_run_in(events.items)
    if not is_tried(host, run_id, now):
        return _take(host, replace(events, items=canary.refused_in(events.items)), now)
    with transaction.atomic():
        receipt = _take(host, events, now)
        transaction.set_rollback(True)  # counts and bells included
    hear(host, run_id, now)
    return receipt


def _take(host: Host, events: Events, now: datetime) -> Receipt:
    batches, rejected = _sort_by_run(host, events.items, limits(), now)
    outcome = append(host=host, batches=batches, now=now) if batches else Outcome(0, 0, (), ())
    turned = sorted(
        [*rejected, *(_conflicted(each) for each in outcome.conflicts)],
        key=lambda item: item["index"],
    )
    if turned:
        count_refusals(host, [item["details"]["reason"] for item in turned], now)
    if turned and not outcome.accepted and not outcome.duplicates:
        first = turned[0]
        details = first["details"]
        extra = {} if events.is_single else {"rejected": turned}
        raise _refusal(first["error"], details["reason"], details["pointer"], **extra)
    return Receipt(
        accepted=outcome.accepted,
        duplicates=outcome.duplicates,
        rejected=turned,
        runs=[
            {
                "runId": run.run_id,
                "lastSequence": -1 if run.last_sequence is None else run.last_sequence,
                "lastPosition": run.last_position,
            }
            for run in outcome.runs
            if batches[run.run_id].envelopes
        ],
        is_single=events.is_single,
    )


def refusal_of_body(host: Host, refused: BodyRefused, now: datetime) -> Refusal:
    """Count a body of which nothing is taken, and return what its sender is told."""
    count_refusals(host, [refused.reason], now)
    return _refusal(refused.error, refused.reason, refused.pointer)


def _sort_by_run(
    host: Host, items: Sequence[tuple[int, object | Refused]], allowed: Limits, now: datetime
) -> tuple[dict[str, Batch], list[dict[str, Any]]]:
    """Read each event and put it to its run; what is refused is listed, marked if it matters."""
    batches: dict[str, Batch] = defaultdict(Batch)
    rejected = []
    for index, item in items:
        found = _read(host, item, allowed, now)
        if isinstance(found, Envelope):
            batches[found.run_id].envelopes.append((index, found))
            continue
        rejected.append(_rejected(index, found))
        if found.holds and found.run_id and not is_foreign(found.run_id, host.tenant):
            batches[found.run_id].turned_away.append(
                TurnedAway(
                    found.event_id or "",
                    found.sequence,
                    found.reason,
                    found.pointer,
                    found.verdict,
                    found.target_digest,
                )
            )
    return dict(batches), rejected


def _read(host: Host, item: object | Refused, allowed: Limits, now: datetime) -> Envelope | Refused:
    if isinstance(item, Refused):
        return item
    try:
        envelope = read(item, now=now, limits=allowed)
    except EnvelopeRefused as error:
        return error.refused
    return fault_in_tenant(envelope, host.tenant) or envelope


def _rejected(index: int, refused: Refused) -> dict[str, Any]:
    return {
        "index": index,
        "eventId": refused.event_id,
        "error": refused.error,
        "message": message_of(refused.reason),
        "details": {"reason": refused.reason, "pointer": refused.pointer},
    }


def _conflicted(conflict: Conflict) -> dict[str, Any]:
    same_id = conflict.arrived.event_id == conflict.held.event_id
    refused = Refused(
        error="version_conflict",
        reason="event_id_conflict" if same_id else "sequence_conflict",
        pointer="/eventId" if same_id else "/sequence",
        event_id=conflict.arrived.event_id,
    )
    return _rejected(conflict.index, refused)


def _refusal(error: str, reason: str, pointer: str, **extra: Any) -> Refusal:
    details: dict[str, Any] = {"reason": reason, "pointer": pointer, **extra}
    if reason in LIMIT_BEHIND:
        name, setting = LIMIT_BEHIND[reason]
        details |= {"limit": getattr(limits(), name), "setting": setting}
    return Refusal(_STATUS.get(error, 400), error, message_of(reason), details)


_COUNT = """
    INSERT INTO runs_refusal (host_id, day, reason, count)
    SELECT %s, %s, * FROM unnest(%s::text[], %s::bigint[])
    ON CONFLICT ON CONSTRAINT refusals_are_counted_once_a_day_and_reason
    DO UPDATE SET count = runs_refusal.count + EXCLUDED.count
"""


def count_refusals(host: Host, reasons: Sequence[str], now: datetime) -> None:
    """Count refused events of a host by reason: every one is visible, none is kept."""
    counted = sorted(Counter(reasons).items())
    execute(_COUNT, [host.pk, now.date(), [r for r, _ in counted], [n for _, n in counted]])
