"""The four lights: on by a record only."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.delivery import State
from verification.domain.effect import EffectKind
from verification.domain.lights import EFFECT_PATIENCE, Light, Progress, is_late, lights

T0 = datetime(2026, 11, 30, 9, tzinfo=UTC)
T1, T2, T3 = (T0 + timedelta(seconds=n) for n in (1, 2, 3))
ON, WAY, OFF, BAD, NONE = (
    Light.ON,
    Light.UNDER_WAY,
    Light.OFF,
    Light.TROUBLE,
    Light.NOT_NEEDED,
)


def row(state=None, *, delivered=None, accepted=None, effect=None, **more):
    at = T3 if effect else None
    return Progress(
        T0, state, delivered_at=delivered, accepted_at=accepted, effect=effect, effect_at=at, **more
    )


@pytest.mark.parametrize(
    ("progress", "shown"),
    [
        (row(State.WAITING), (ON, WAY, OFF, OFF)),
        (row(State.SENDING), (ON, WAY, OFF, OFF)),
        (row(State.ACCEPTED, delivered=T1, accepted=T2), (ON, ON, ON, WAY)),
        (
            row(State.ACCEPTED, delivered=T1, accepted=T2, effect=EffectKind.RESUMED),
            (ON, ON, ON, ON),
        ),
        (
            row(State.ACCEPTED, delivered=T1, accepted=T2, effect=EffectKind.ENDED),
            (ON, ON, ON, ON),
        ),
        (
            row(State.ACCEPTED, delivered=T1, accepted=T2, effect=EffectKind.VOTED),
            (ON, ON, ON, WAY),
        ),
        (
            row(State.ACCEPTED, delivered=T1, accepted=T2, effect=EffectKind.OVERTAKEN),
            (ON, ON, ON, BAD),
        ),
        (row(State.DELIVERED, delivered=T1), (ON, ON, WAY, WAY)),
        (row(State.SUPERSEDED, effect=EffectKind.RESUMED), (ON, BAD, OFF, OFF)),
        (row(State.UNDELIVERABLE), (ON, BAD, OFF, OFF)),
        (row(State.STOPPED), (ON, BAD, OFF, OFF)),
        (row(State.DEAD), (ON, BAD, OFF, OFF)),
        (row(State.WAITING, effect=EffectKind.RESUMED), (ON, WAY, OFF, OFF)),
        (row(None), (ON, NONE, NONE, NONE)),
        (row(None, effect=EffectKind.RESUMED), (ON, NONE, NONE, ON)),
    ],
)
def test_each_state_has_its_lights(progress, shown):
    strip = lights(progress, T3)

    lamps = (strip.decided, strip.delivered, strip.accepted, strip.took_effect)
    assert tuple(lamp.light for lamp in lamps) == shown
    assert all(lamp.words for lamp in lamps)


def test_a_lamp_that_is_on_says_since_when():
    progress = row(State.ACCEPTED, delivered=T1, accepted=T2, effect=EffectKind.RESUMED)
    strip = lights(progress, T3)

    assert (strip.delivered.at, strip.accepted.at, strip.took_effect.at) == (T1, T2, T3)


def test_somebody_is_told_when_a_host_accepts_and_nothing_happens():
    progress = row(State.ACCEPTED, delivered=T1, accepted=T2)
    late = T2 + EFFECT_PATIENCE

    assert not is_late(progress, late - timedelta(seconds=1))
    assert is_late(progress, late)
    strip = lights(progress, late)
    assert (strip.took_effect.light, strip.took_effect.words) == (BAD, "Accepted, no effect seen")


def test_a_failed_attempt_is_told_in_its_own_words_with_the_next_try():
    strip = lights(row(State.WAITING, words="Nothing listens.", next_attempt_at=T2), T1)

    assert (strip.delivered.words, strip.delivered.at) == ("Nothing listens.", T2)


@given(
    st.one_of(st.none(), st.sampled_from([*State])),
    st.one_of(st.none(), st.sampled_from([*EffectKind])),
)
def test_nothing_is_shown_as_delivered_or_accepted_without_a_record(state, effect):
    strip = lights(row(state, effect=effect), T3)

    assert strip.delivered.light is not ON
    assert strip.accepted.light is not ON
    if strip.took_effect.light is ON:
        assert state in {None, State.DELIVERED, State.ACCEPTED}
