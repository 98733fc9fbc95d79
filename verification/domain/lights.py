"""The four lights of a decision: decided, delivered, accepted, took effect.

Each is on only by a record that says so: the resolution's row, an answer of the host, the host's
own word that it took the decision, a line of its log. What is not known is shown as under way or as
trouble, never as done.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from verification.domain.delivery import UNSETTLED, State
from verification.domain.effect import EffectKind

EFFECT_PATIENCE = timedelta(minutes=10)
"""How long a host may take, after it accepted, until somebody is told that nothing happened."""


class Light(StrEnum):
    """How one light looks."""

    ON = "on"
    UNDER_WAY = "under_way"
    OFF = "off"
    """Not reached, and nothing is under way."""
    TROUBLE = "trouble"
    NOT_NEEDED = "not_needed"


@dataclass(frozen=True, slots=True)
class Lamp:
    """One light with when it came on and a few words."""

    light: Light
    words: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Lights:
    """The strip under a decision."""

    decided: Lamp
    delivered: Lamp
    accepted: Lamp
    took_effect: Lamp


@dataclass(frozen=True, slots=True)
class Progress:
    """What the rows say. Without a delivery row `state` is None: no host is waiting to be told."""

    decided_at: datetime
    state: State | None = None
    words: str = ""
    next_attempt_at: datetime | None = None
    delivered_at: datetime | None = None
    accepted_at: datetime | None = None
    effect: EffectKind | None = None
    effect_at: datetime | None = None


def lights(progress: Progress, now: datetime) -> Lights:
    """Return the four lights."""
    return Lights(
        decided=Lamp(Light.ON, "Decided", progress.decided_at),
        delivered=_delivered(progress),
        accepted=_accepted(progress),
        took_effect=_took_effect(progress, now),
    )


def is_late(progress: Progress, now: datetime) -> bool:
    """Say whether a host accepted the decision and has shown no effect for too long."""
    return (
        progress.effect is None
        and progress.accepted_at is not None
        and now >= progress.accepted_at + EFFECT_PATIENCE
    )


_IN_TROUBLE = frozenset({State.SUPERSEDED, State.UNDELIVERABLE, State.STOPPED, State.DEAD})


def _delivered(progress: Progress) -> Lamp:
    if progress.state is None:
        return Lamp(Light.NOT_NEEDED, "No host waits for it")
    if progress.delivered_at is not None:
        return Lamp(Light.ON, "Delivered", progress.delivered_at)
    if progress.state in UNSETTLED:
        return Lamp(Light.UNDER_WAY, progress.words or "On its way", progress.next_attempt_at)
    if progress.state in _IN_TROUBLE:
        return Lamp(Light.TROUBLE, progress.words or "Not delivered")
    return Lamp(Light.OFF, "Not delivered")


def _accepted(progress: Progress) -> Lamp:
    if progress.state is None:
        return Lamp(Light.NOT_NEEDED, "Nobody to accept it")
    if progress.accepted_at is not None:
        return Lamp(Light.ON, "Accepted", progress.accepted_at)
    if progress.state in _IN_TROUBLE and progress.delivered_at is not None:
        return Lamp(Light.TROUBLE, progress.words or "Not accepted")
    if progress.state is State.DELIVERED:
        return Lamp(Light.UNDER_WAY, "Delivered; the host has not said more")
    return Lamp(Light.OFF, "Not accepted yet")


def _took_effect(progress: Progress, now: datetime) -> Lamp:
    if progress.state is None and progress.effect is None:
        return Lamp(Light.NOT_NEEDED, "The gate says so to whoever asks")
    if progress.state in _IN_TROUBLE:
        return Lamp(Light.OFF, "Not this decision")
    if progress.state in UNSETTLED:
        return Lamp(Light.OFF, "No effect yet")
    if progress.effect is EffectKind.OVERTAKEN:
        words = "The pause ended for another reason"
        return Lamp(Light.TROUBLE, words, progress.effect_at)
    if progress.effect in {EffectKind.RESUMED, EffectKind.REPLIED, EffectKind.ENDED}:
        return Lamp(Light.ON, "Took effect", progress.effect_at)
    if is_late(progress, now):
        return Lamp(Light.TROUBLE, "Accepted, no effect seen")
    if progress.effect is EffectKind.VOTED:
        return Lamp(Light.UNDER_WAY, "Counted; the host waits for more", progress.effect_at)
    return Lamp(Light.UNDER_WAY, "Waiting for a line of the host that shows it")
