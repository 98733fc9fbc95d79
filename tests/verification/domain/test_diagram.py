"""The page about escalations says what the rules say."""

from pathlib import Path

import pytest

from verification.domain import refusals
from verification.domain.decisions import Action
from verification.domain.delivery import SCHEDULE, TRANSITIONS, State
from verification.domain.diagram import delivery_diagram, escalation_diagram
from verification.domain.lifecycle import Move
from verification.domain.lifecycle import State as EscalationState

PAGE = (Path(__file__).parents[3] / "docs/escalation.md").read_text()


@pytest.mark.parametrize("draw", [escalation_diagram, delivery_diagram])
def test_the_pictures_are_drawn_from_the_tables(draw):
    assert f"```mermaid\n{draw()}\n```" in PAGE


def test_a_picture_has_every_arrow_of_its_table():
    drawn = delivery_diagram()
    arrows = sum(len(following) for following in TRANSITIONS.values())

    assert drawn.count("-->") == arrows + 1
    assert "claimed --> open: release, vote, lapse" in escalation_diagram()


@pytest.mark.parametrize("word", [*EscalationState, *State, *Move, *Action])
def test_every_state_move_and_action_is_explained(word):
    assert f"`{word}`" in PAGE


def test_every_refusal_is_explained():
    names = {
        name
        for name, value in vars(refusals).items()
        if isinstance(value, type)
        and value.__module__ == refusals.__name__
        and name not in {"AlreadySettled", "NoSuchMove"}
    }

    assert {name for name in names if f"`{name}`" not in PAGE} == set()


def test_the_schedule_is_the_one_that_is_explained():
    assert len(SCHEDULE) == 6
    assert "5 s, 30 s, 2 min, 10 min, 30 min, 1 h, then hourly" in PAGE
