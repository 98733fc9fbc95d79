"""What can be agreed at all, and what stands where nothing was said."""

import math

import pytest

from tests.consensus.building import agents
from verification.domain.consensus.rules import (
    ConsensusRules,
    DuplicateJudge,
    NoJudges,
    NoProposers,
    NotFinite,
    OnDissent,
    Panel,
    majority,
)


def panel(count=3, **given):
    return Panel(judges=agents(*(f"j{number}" for number in range(count))), **given)


@pytest.mark.parametrize(("judges", "needed"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_half_of_the_judges_decide_unless_something_else_is_said(judges, needed):
    assert panel(judges).needed_accepts == needed


@pytest.mark.parametrize(("quorum", "needed"), [(0, 1), (-3, 1), (2, 2), (99, 3), (1.5, 1.5)])
def test_a_quorum_is_clamped_to_the_panel(quorum, needed):
    assert panel(3, quorum=quorum).needed_accepts == needed


@pytest.mark.parametrize(("given", "limit"), [(None, 2), (0, 1), (-1, 1), (1.5, 1.5), (7, 7)])
def test_there_is_at_least_one_round(given, limit):
    assert panel(max_rounds=given).round_limit == limit


@pytest.mark.parametrize(
    ("given", "policy"),
    [(None, OnDissent.REVISE), ("keep", OnDissent.KEEP), ("Keep", OnDissent.REJECT)],
)
def test_a_policy_that_is_not_known_rejects(given, policy):
    assert panel(on_dissent=given).dissent_policy is policy


@pytest.mark.parametrize(("mode", "has_lenses"), [(None, False), ("lens", True), ("LENS", False)])
def test_only_the_exact_word_gives_judges_angles(mode, has_lenses):
    assert panel(mode=mode).has_lenses is has_lenses


def test_nobody_to_judge_or_to_answer_is_refused():
    with pytest.raises(NoJudges):
        Panel(judges=())
    with pytest.raises(NoProposers):
        ConsensusRules(question="Why?", proposers=(), panel=panel())


def test_two_judges_of_one_name_are_refused():
    with pytest.raises(DuplicateJudge) as refused:
        Panel(judges=agents("ja", "jb", "ja"))

    assert refused.value.name == "ja"


@pytest.mark.parametrize("option", ["quorum", "max_rounds"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_refused(option, value):
    with pytest.raises(NotFinite) as refused:
        panel(**{option: value})

    assert refused.value.option == option


@pytest.mark.parametrize(("judges", "needed"), [(1, 2), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_a_gate_asks_for_more_than_half_and_never_for_one_alone(judges, needed):
    assert majority(judges) == needed
