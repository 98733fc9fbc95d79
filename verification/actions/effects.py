"""Notes what a host's own log shows of decisions, and tells people where it shows nothing.

A 2xx says that a host took the decision, not that anything happened.
"""

from datetime import datetime

from django.db import transaction

from runs.actions.log import console_line
from runs.actions.runs import locked, note
from runs.lines import lines_after
from runs.models import Run
from verification.actions import notifying
from verification.domain.delivery import Door, State
from verification.domain.effect import Effect, EffectKind, Suspension, effects, proof
from verification.domain.lights import EFFECT_PATIENCE
from verification.domain.notifying import Note
from verification.models import Delivery, Escalation


def watch_for_effects(*, run: Run, now: datetime) -> None:
    """Note for each decision on a locked run what the host's own log shows of it.

    Hosts tell of an effect before they answer; until they have, nobody knows whose effect it is.
    """
    waiting = Delivery.objects.filter(run=run, effect_position=None, door=Door.INTERRUPT)
    for found in waiting.select_related("escalation"):
        effect = _effect_of(found, run)
        is_ours = found.state == State.ACCEPTED
        if effect is not None and (is_ours or effect.kind is EffectKind.OVERTAKEN):
            _note_effect(found, run, effect, now)


def _effect_of(found: Delivery, run: Run) -> Effect | None:
    suspension = suspension_of(found.escalation)
    lines = lines_after(run, suspension.sequence)
    if found.vote_id is not None:
        later = (e for e in effects(lines, suspension) if _sequence(e) > found.after_sequence)
        return next(later, None)
    if found.comment_id is not None:
        return proof(lines, suspension, is_reply=True, after=found.after_sequence)
    return proof(lines, suspension)


def _sequence(effect: Effect) -> int:
    return -1 if effect.line.sequence is None else effect.line.sequence


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


def tell_of_missing_effects(now: datetime) -> None:
    """Tell people of every decision that a host accepted and shows nothing of."""
    late = Delivery.objects.filter(
        accepted_at__lte=now - EFFECT_PATIENCE,
        effect_position=None,
        missed_at=None,
        door=Door.INTERRUPT,
    )
    for pk in late.values_list("pk", flat=True)[:200]:
        _tell_of_missing_effect(pk, now)


@transaction.atomic
def _tell_of_missing_effect(pk: int, now: datetime) -> None:
    run = locked(Delivery.objects.get(pk=pk).run_id)
    found = Delivery.objects.select_for_update(of=("self",)).select_related("escalation")
    delivery = found.get(pk=pk)
    if delivery.effect_position is not None or delivery.missed_at is not None:
        return
    delivery.missed_at = now
    delivery.save(update_fields=["missed_at"])
    line = console_line(
        event_id=f"console:delivery:{pk}:no_effect",
        type="console.delivery.no_effect",
        at=now,
        payload={"delivery": pk},
    )
    note(run=run, lines=[line], now=now)
    notifying.tell(escalation=delivery.escalation, note=Note.NO_EFFECT, now=now, delivery=delivery)


def suspension_of(escalation: Escalation) -> Suspension:
    """Return the pause that an escalation is tied to, as the effect rules read it."""
    pause = escalation.interrupt or {}
    return Suspension(pause["nodeId"], pause["sequence"], pause.get("interruptId") or None)
