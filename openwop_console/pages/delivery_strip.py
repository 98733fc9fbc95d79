"""Where a decision is on its way: one line of lights for each delivery."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from openwop_console.pages.run import address_of
from verification.domain.delivery import GIVEN_UP, UNSETTLED
from verification.domain.delivery import State as DeliveryState
from verification.domain.effect import EffectKind
from verification.domain.lights import Lamp, Light, Lights, Progress, is_late, lights
from verification.models import Delivery, Escalation, Resolution


def delivery_of(found: Escalation, resolution: Resolution) -> dict[str, Any]:
    """Return how a decision got on; without a delivery the host reads the gate."""
    delivery = Delivery.objects.filter(resolution=resolution).first()
    if delivery is not None:
        return progress_of(found, delivery, resolution.at)
    shown = lights(Progress(decided_at=resolution.at), timezone.now())
    text = "The host reads the gate; nothing is sent to it."
    return {"state": "none", "text": text, "lights": _lamps(shown, "")}


def progress_of(found: Escalation, delivery: Delivery, decided_at: datetime) -> dict[str, Any]:
    """Return one delivery with its four lights, and whether a person can have it sent again."""
    now = timezone.now()
    progress = Progress(
        decided_at=decided_at,
        state=DeliveryState(delivery.state),
        words=delivery.words,
        next_attempt_at=delivery.next_attempt_at,
        delivered_at=delivery.delivered_at,
        accepted_at=delivery.accepted_at,
        effect=EffectKind(delivery.effect_kind) if delivery.effect_kind else None,
        effect_at=delivery.effect_at,
    )
    proof = f"{address_of(found.run)}#line-{delivery.effect_position}"
    return {
        "id": delivery.pk,
        "state": _state_of(delivery, progress, now),
        "text": delivery.words,
        "next_at": delivery.next_attempt_at,
        "attempts": delivery.attempts,
        "can_redrive": can_redrive(delivery),
        "lights": _lamps(lights(progress, now), proof),
    }


def can_redrive(delivery: Delivery) -> bool:
    """Say whether a delivery was given up, so that a person may send it again."""
    return DeliveryState(delivery.state) in GIVEN_UP


def _state_of(delivery: Delivery, progress: Progress, now: datetime) -> str:
    """Return the badge word of where a delivery stands."""
    is_taken = delivery.state == DeliveryState.ACCEPTED
    if is_taken and progress.effect not in (None, EffectKind.OVERTAKEN):
        return "took_effect"
    if is_late(progress, now):
        return "no_effect"
    if delivery.state in UNSETTLED:
        return "retrying" if delivery.attempts else "pending"
    return delivery.state


_LAMP = {
    Light.ON: "done",
    Light.UNDER_WAY: "current",
    Light.OFF: "waiting",
    Light.TROUBLE: "failed",
    Light.NOT_NEEDED: "skipped",
}


def _lamps(shown: Lights, proof: str) -> list[dict[str, Any]]:
    named = (
        ("Decided", shown.decided),
        ("Delivered", shown.delivered),
        ("Accepted", shown.accepted),
        ("Took effect", shown.took_effect),
    )
    return [_lamp(word, lamp, proof if word == "Took effect" else "") for word, lamp in named]


def _lamp(word: str, lamp: Lamp, proof: str) -> dict[str, Any]:
    is_on = lamp.light is Light.ON
    return {
        "word": word,
        "state": _LAMP[lamp.light],
        "at": lamp.at if is_on else None,
        "detail": "the line that proves it" if is_on and proof else "" if is_on else lamp.words,
        "url": proof if is_on else "",
    }
