"""A budget is crossed by spending more than it, and by the first charge that does so."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.consensus.budgets import (
    Budgets,
    CostCapWithoutEstimator,
    EstimatorInvalid,
    Purchase,
    Purse,
)
from verification.domain.consensus.failures import COST_BUDGET_EXCEEDED, TOKEN_BUDGET_EXCEEDED
from verification.domain.consensus.history import Usage


def purchase(tokens, agent="ja"):
    return Purchase(agent, "fake-model", "consensus", None, Usage(tokens, 0))


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(0, 150))
def test_a_budget_is_crossed_exactly_when_more_than_it_was_spent(charges, budget):
    purse = Purse(Budgets(max_tokens=budget))

    crossings = [purse.charge(purchase(tokens)) for tokens in charges]

    assert purse.is_overdrawn == (sum(charges) > budget)
    assert sum(crossing is not None for crossing in crossings) == purse.is_overdrawn
    assert purse.tokens_used.total == sum(charges)


def test_a_crossing_says_who_and_how_much():
    purse = Purse(Budgets(max_tokens=7))
    purse.charge(purchase(7))

    crossing = purse.charge(purchase(1, agent="jb"))

    assert (crossing.agent, crossing.used, crossing.budget) == ("jb", 8, 7)


def test_tokens_are_looked_at_before_cost():
    budgets = Budgets(max_tokens=1, max_cost=1, estimate=lambda each: each.usage.total)

    assert Purse(budgets).charge(purchase(2)).failure is TOKEN_BUDGET_EXCEEDED


def test_cost_is_counted_as_the_estimator_says():
    purse = Purse(Budgets(max_cost=1, estimate=lambda each: each.usage.total / 2))

    assert purse.charge(purchase(2)) is None
    assert purse.charge(purchase(1)).failure is COST_BUDGET_EXCEEDED


@pytest.mark.parametrize("price", [math.nan, math.inf, -0.01])
def test_what_is_no_price_is_refused_and_nothing_is_charged(price):
    purse = Purse(Budgets(estimate=lambda each: price))

    with pytest.raises(EstimatorInvalid):
        purse.charge(purchase(2))
    assert purse.tokens_used == Usage()


def test_a_cost_cap_needs_an_estimator():
    with pytest.raises(CostCapWithoutEstimator):
        Budgets(max_cost=5)


@pytest.mark.parametrize(
    ("own", "other", "lower"),
    [(None, None, None), (5, None, 5), (None, 5, 5), (7, 5, 5), (5, 7, 5)],
)
def test_the_lower_of_two_ceilings_holds(own, other, lower):
    assert Budgets(max_tokens=own).capped(other).max_tokens == lower
