"""Brings decisions to their hosts, each as the same bytes with the same key, until the host has it.

An attempt has three parts: a transaction that takes the delivery under a lease and a rising fence,
the call itself with no transaction open, and a transaction that records how it ended, if the fence
is still ours. A worker killed anywhere leaves a lease that runs out; the sweep then rings again.
Decisions about one run leave in their order, and a host that fails is left alone for a while.
"""

import logging
import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs.actions.due import is_readable, pull_soon
from runs.actions.log import NewLine, console_line
from runs.actions.runs import locked, note
from runs.domain.addresses import networks
from runs.models import Run
from runs.pinned import Line
from runs.sealing import unseal
from verification import bells
from verification.actions import notifying
from verification.actions.effects import suspension_of, watch_for_effects
from verification.domain.answer import Answer, Reached, may_have_applied, may_try_token
from verification.domain.breaker import Breaker, after_answer, may_send, probing
from verification.domain.delivery import (
    SENDING_LEASE,
    UNSETTLED,
    Door,
    Next,
    State,
    Trying,
    after,
    after_read_back,
)
from verification.domain.frozen import FrozenBody
from verification.domain.notifying import Note
from verification.domain.outgoing import signed_headers
from verification.domain.readback import ReadBack, compare
from verification.domain.sending_order import Queued, sendable
from verification.domain.surfaces import token_in
from verification.host import HostClient, client_of, post_webhook
from verification.models import Attempt, Delivery, Escalation, HostRest, ReviewWebhook

__all__ = ["attempt", "watch_for_effects"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A delivery under our lease, with what the call needs."""

    pk: int
    fence: int
    number: int
    run_id: str
    node_id: str
    body: FrozenBody
    idempotency_key: str
    client: HostClient
    door: Door
    webhook: ReviewWebhook | None


def attempt(*, delivery: int) -> None:
    """Try once to bring a decision to its host, if that is due and nobody else is at it."""
    taken = _take(delivery, timezone.now())
    if taken is None:
        return
    _record(taken, _call(taken, timezone.now()), timezone.now())


def _call(taken: _Taken, now: datetime) -> Answer:
    if taken.door is Door.INTERRUPT:
        return taken.client.resolve_interrupt(
            taken.run_id, taken.node_id, taken.body.content, taken.idempotency_key
        )
    if taken.webhook is None:
        return Answer(Reached.FORBIDDEN, why="The host has no webhook any more.")
    secret = unseal(taken.webhook.sealed_secret)
    headers = signed_headers(
        taken.body.content, secrets=[secret], delivery_id=taken.idempotency_key, at=now
    )
    line = Line(networks(settings.ALLOW_PRIVATE))
    return post_webhook(taken.webhook.url, taken.body.content, headers, line)


@transaction.atomic
def _take(pk: int, now: datetime) -> _Taken | None:
    found = (
        Delivery.objects.select_for_update(of=("self",))
        .select_related("run", "host", "content")
        .filter(pk=pk, state__in=UNSETTLED, next_attempt_at__lte=now)
        .first()
    )
    if found is None or not _has_its_turn(found, now) or _host_rests(found, now):
        return None
    found.state, found.lease_until = State.SENDING, now + SENDING_LEASE
    found.fence += 1
    found.attempts += 1
    found.save(update_fields=["state", "lease_until", "fence", "attempts"])
    Attempt.objects.create(delivery=found, number=found.attempts, at=now, outcome="no_answer")
    return _Taken(
        pk=found.pk,
        fence=found.fence,
        number=found.attempts,
        run_id=found.run.run_id,
        node_id=found.node_id,
        body=FrozenBody(bytes(found.content.body), found.sha256),
        idempotency_key=found.idempotency_key,
        client=client_of(found.host),
        door=Door(found.door),
        webhook=ReviewWebhook.objects.filter(host=found.host_id).first(),
    )


def _has_its_turn(found: Delivery, now: datetime) -> bool:
    """Say whether nothing that was decided before about the same run is still on its way."""
    rows = Delivery.objects.filter(run=found.run_id, state__in=UNSETTLED)
    queued = [
        Queued(
            id=row.pk,
            run=row.run_id,
            decided_at=row.created_at,
            state=State(row.state),
            next_attempt_at=row.next_attempt_at,
            lease_until=row.lease_until,
        )
        for row in rows
    ]
    return any(one.id == found.pk for one in sendable(queued, now))


def _host_rests(found: Delivery, now: datetime) -> bool:
    """Say whether the host is left alone now; if so the delivery waits until that is over."""
    rest = HostRest.objects.select_for_update().filter(host=found.host_id).first()
    if rest is None:
        return False
    breaker = Breaker(rest.failures, rest.rests_until)
    if may_send(breaker, now):
        HostRest.objects.filter(pk=rest.pk).update(rests_until=probing(breaker, now).rests_until)
        return False
    found.state, found.next_attempt_at = State.WAITING, rest.rests_until
    found.lease_until, found.words = None, "The host is left alone for a while after failures."
    found.save(update_fields=["state", "next_attempt_at", "lease_until", "words"])
    return True


def _note_answer(host: int, answer: Answer, now: datetime) -> None:
    rest, _ = HostRest.objects.select_for_update().get_or_create(host_id=host)
    then = after_answer(Breaker(rest.failures, rest.rests_until), answer, now)
    rest.failures, rest.rests_until = then.failures, then.rests_until
    rest.save(update_fields=["failures", "rests_until"])


def _record(taken: _Taken, answer: Answer, now: datetime) -> None:
    found = Delivery.objects.select_related("run").get(pk=taken.pk)
    jitter = random.random()  # noqa: S311
    trying = Trying(taken.number, found.started_at or found.created_at, now, jitter)
    step, answer = _next(taken, answer, trying)
    with transaction.atomic():
        run = locked(found.run_id)
        found = Delivery.objects.select_for_update().get(pk=taken.pk)
        if found.fence != taken.fence:
            logger.warning("delivery %s: an outdated attempt is not recorded", taken.pk)
            return
        Attempt.objects.filter(delivery=found, number=taken.number).update(
            status=answer.status, outcome=answer.outcome, ms=answer.elapsed_ms
        )
        _apply(found, run, step, answer, now)
        _note_answer(found.host_id, answer, now)


def _next(taken: _Taken, answer: Answer, trying: Trying) -> tuple[Next, Answer]:
    """Say what follows, reading the host's own log where its answer is not enough."""
    step = after(answer, trying, taken.door)
    if taken.door is not Door.INTERRUPT:
        return step, answer
    if not step.needs_read_back and not may_try_token(answer):
        return step, answer
    found = _read_back(taken)
    if found is ReadBack.OPEN and may_try_token(answer):
        by_token = _by_token(taken)
        if by_token is not None:
            return after(by_token, trying, taken.door), by_token
    if not step.needs_read_back:
        return step, answer
    tries = Attempt.objects.filter(delivery=taken.pk, number__lt=taken.number)
    applied = may_have_applied(tries.values_list("status", "outcome"))
    return after_read_back(found, answer, trying, may_have_applied=applied), answer


def _read_back(taken: _Taken) -> ReadBack:
    """Ask the host's own log what closed the interrupt."""
    suspension = suspension_of(Escalation.objects.get(deliveries=taken.pk))
    lines = taken.client.poll_events(taken.run_id, after=suspension.sequence - 1)
    return compare(lines, suspension, taken.body) if lines is not None else ReadBack.UNREAD


def _by_token(taken: _Taken) -> Answer | None:
    """Send the same bytes to the token surface, where the host's snapshot names a token."""
    pause = Escalation.objects.get(deliveries=taken.pk).interrupt or {}
    documents: list[Any] = [
        taken.client.read_run(taken.run_id).document,
        taken.client.list_interrupts(taken.run_id).document,
    ]
    token = token_in(documents, taken.node_id, str(pause.get("interruptId") or ""))
    if not token:
        return None
    return taken.client.resolve_by_token(token, taken.body.content, taken.idempotency_key)


def _apply(found: Delivery, run: Run, step: Next, answer: Answer, now: datetime) -> None:
    found.state, found.words = step.state, step.words[:300]
    found.last_status = answer.status
    found.lease_until, found.next_attempt_at = None, step.next_attempt_at
    if answer.status is not None and 200 <= answer.status < 300:
        found.delivered_at = found.delivered_at or now
    if step.state is State.ACCEPTED:
        found.delivered_at = found.delivered_at or now
        found.accepted_at = now
    found.save(
        update_fields=[
            "state", "words", "last_status", "lease_until", "next_attempt_at", "delivered_at",
            "accepted_at",
        ]
    )  # fmt: skip
    note(run=run, lines=[_line(found, now)], now=now)
    if step.state is State.ACCEPTED and is_readable(found.host, now):
        pull_soon(host=found.host, run_id=run.run_id, now=now)  # the effect shows in its log
    if step.page_someone:
        _page_somebody(found, now)
    _ring_for_next(found, step, now)
    watch_for_effects(run=run, now=now)


def _ring_for_next(found: Delivery, step: Next, now: datetime) -> None:
    if step.next_attempt_at is not None and step.next_attempt_at <= now:
        bells.ring(bells.DELIVER, found.pk)
    if step.state not in UNSETTLED:
        rows = Delivery.objects.filter(run=found.run_id, state__in=UNSETTLED)
        following = rows.order_by("created_at", "pk").first()
        if following is not None:
            bells.ring(bells.DELIVER, following.pk)


def _page_somebody(found: Delivery, now: datetime) -> None:
    notifying.tell(escalation=found.escalation, note=Note.NOT_DELIVERED, now=now, delivery=found)


def _line(delivery: Delivery, now: datetime) -> NewLine:
    state = "retrying" if delivery.state == State.WAITING else delivery.state
    return console_line(
        event_id=f"console:delivery:{delivery.pk}:{delivery.attempts}:{state}",
        type=f"console.delivery.{state}",
        at=now,
        payload={
            "delivery": delivery.pk,
            "attempt": delivery.attempts,
            "status": delivery.last_status,
        },
    )
