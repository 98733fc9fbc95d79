"""Brings decisions to their hosts, each as the same bytes with the same key, until the host has it.

An attempt has three parts: a transaction that takes the delivery under a lease and a rising fence,
the call itself with no transaction open, and a transaction that records how it ended, if the fence
is still ours. A worker killed anywhere leaves a lease that runs out; the sweep then rings again.
"""

import logging
import random
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs.actions.log import NewLine, console_line
from runs.actions.runs import locked, note
from runs.lines import lines_after
from runs.models import Run
from runs.sealing import unseal
from verification import bells
from verification.domain.answer import Answer, may_have_applied
from verification.domain.delivery import (
    SENDING_LEASE,
    UNSETTLED,
    Next,
    State,
    Trying,
    after,
    after_read_back,
)
from verification.domain.effect import Effect, EffectKind, Suspension, proof
from verification.domain.frozen import FrozenBody
from verification.domain.readback import ReadBack, compare
from verification.host import HostClient
from verification.models import Attempt, Delivery, Escalation

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


def attempt(*, delivery: int) -> None:
    """Try once to bring a decision to its host, if that is due and nobody else is at it."""
    taken = _take(delivery, timezone.now())
    if taken is None:
        return
    answer = taken.client.resolve_interrupt(
        taken.run_id, taken.node_id, taken.body.content, taken.idempotency_key
    )
    _record(taken, answer, timezone.now())


@transaction.atomic
def _take(pk: int, now: datetime) -> _Taken | None:
    found = (
        Delivery.objects.select_for_update(of=("self",))
        .select_related("run", "host", "content")
        .filter(pk=pk, state__in=UNSETTLED, next_attempt_at__lte=now)
        .first()
    )
    if found is None or (found.lease_until is not None and found.lease_until > now):
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
        client=HostClient(
            base_url=found.host.base_url,
            api_key=unseal(found.host.sealed_api_key),
            major=found.host.protocol_major,
            allow_private=settings.ALLOW_PRIVATE,
        ),
    )


def _record(taken: _Taken, answer: Answer, now: datetime) -> None:
    found = Delivery.objects.select_related("run").get(pk=taken.pk)
    trying = Trying(taken.number, found.created_at, now, random.random())  # noqa: S311
    step = after(answer, trying)
    if step.needs_read_back:
        step = _read_back(taken, answer, trying)
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


def _read_back(taken: _Taken, answer: Answer, trying: Trying) -> Next:
    """Ask the host's own log what closed the interrupt."""
    suspension = suspension_of(Escalation.objects.get(resolution__delivery=taken.pk))
    lines = taken.client.poll_events(taken.run_id, after=suspension.sequence - 1)
    found = compare(lines, suspension, taken.body) if lines is not None else ReadBack.UNREAD
    tries = Attempt.objects.filter(delivery=taken.pk, number__lt=taken.number)
    applied = may_have_applied(tries.values_list("status", "outcome"))
    return after_read_back(found, answer, trying, may_have_applied=applied)


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
    if step.next_attempt_at is not None and step.next_attempt_at <= now:
        bells.ring(bells.DELIVER, found.pk)
    watch_for_effects(run=run, now=now)


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


def watch_for_effects(*, run: Run, now: datetime) -> None:
    """Note for each decision on a locked run what the host's own log shows of it."""
    waiting = Delivery.objects.filter(run=run, effect_position=None)
    for found in waiting.select_related("resolution__escalation"):
        suspension = suspension_of(found.resolution.escalation)
        effect = proof(lines_after(run, suspension.sequence), suspension)
        if effect is not None and (found.attempts or effect.kind is EffectKind.OVERTAKEN):
            _note_effect(found, run, effect, now)


def _note_effect(found: Delivery, run: Run, effect: Effect, now: datetime) -> None:
    found.effect_position, found.effect_at = effect.line.position, now
    found.effect_kind = effect.kind.value
    found.save(update_fields=["effect_position", "effect_at", "effect_kind"])
    took = "overtaken" if effect.kind is EffectKind.OVERTAKEN else "took_effect"
    line = console_line(
        event_id=f"console:delivery:{found.pk}:effect",
        type=f"console.delivery.{took}",
        at=now,
        payload={"delivery": found.pk, "sequence": effect.line.sequence},
        caused_by=effect.line.event_id,
    )
    note(run=run, lines=[line], now=now)


def suspension_of(escalation: Escalation) -> Suspension:
    """Return the pause that an escalation is tied to, as the effect rules read it."""
    pause = escalation.interrupt or {}
    return Suspension(pause["nodeId"], pause["sequence"], pause.get("interruptId") or None)
