"""What a job may spend, and the moment it has spent more.

A call is always finished and always charged; only then is the sum compared, with a strict
"greater than": spending exactly the budget is allowed, and a budget of 0 ends with the first token.

Source: open-multi-agent budgets and limits; golden vectors budget-* and verify-budget-*.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from verification.domain.consensus.failures import (
    COST_BUDGET_EXCEEDED,
    TOKEN_BUDGET_EXCEEDED,
    Failure,
)
from verification.domain.consensus.history import NO_USAGE, Usage
from verification.domain.errors import VerificationError


class CostCapWithoutEstimator(VerificationError):
    """A cost cap means nothing unless something can tell what a call costs."""

    def __init__(self) -> None:
        super().__init__("A cost budget needs an estimator.")


class EstimatorInvalid(VerificationError):
    """The estimator gave something that is not a price: negative, infinite or not a number."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        super().__init__("The estimator gave no usable price.")


@dataclass(frozen=True, slots=True)
class Purchase:
    """What an estimator is asked to price."""

    agent: str
    model: str
    phase: str
    """coordinator, worker, consensus or synthesis."""
    task: str | None
    usage: Usage


Estimator = Callable[[Purchase], float]


@dataclass(frozen=True, slots=True)
class Budgets:
    """Ceilings of a run; None means no ceiling."""

    max_tokens: float | None = None
    max_cost: float | None = None
    estimate: Estimator | None = None
    """A pure function; in the estimator's own currency."""

    def __post_init__(self) -> None:
        if self.max_cost is not None and self.estimate is None:
            raise CostCapWithoutEstimator

    def capped(self, max_tokens: float | None) -> "Budgets":
        """Return the same budgets with the lower of two token ceilings."""
        given = [each for each in (self.max_tokens, max_tokens) if each is not None]
        return Budgets(min(given) if given else None, self.max_cost, self.estimate)


@dataclass(frozen=True, slots=True)
class Crossing:
    """The charge that went over a budget."""

    failure: Failure
    agent: str
    used: float
    budget: float


@dataclass(slots=True)
class Purse:
    """What a run has spent so far. Lives for one replay only."""

    budgets: Budgets
    tokens_used: Usage = NO_USAGE
    cost: float = 0.0
    crossing: Crossing | None = None
    """The first crossing; later ones do not replace it."""

    @property
    def is_overdrawn(self) -> bool:
        """True once any charge went over a budget."""
        return self.crossing is not None

    def charge(self, purchase: Purchase) -> Crossing | None:
        """Add a call to what was spent; return the crossing if this call is the first over budget.

        Tokens are compared before cost, so a call over both ceilings is a token crossing.

        Raises:
            EstimatorInvalid: the estimator gave no price; nothing is charged.
        """
        price = self._price(purchase)
        self.tokens_used += purchase.usage
        self.cost += price
        if self.crossing is not None:
            return None
        self.crossing = self._crossed(purchase.agent)
        return self.crossing

    def _price(self, purchase: Purchase) -> float:
        if self.budgets.estimate is None:
            return 0.0
        price = self.budgets.estimate(purchase)
        if not math.isfinite(price) or price < 0:
            raise EstimatorInvalid(purchase.agent)
        return price

    def _crossed(self, agent: str) -> Crossing | None:
        max_tokens, max_cost = self.budgets.max_tokens, self.budgets.max_cost
        tokens = self.tokens_used.total
        if max_tokens is not None and tokens > max_tokens:
            return Crossing(TOKEN_BUDGET_EXCEEDED, agent, tokens, max_tokens)
        if max_cost is not None and self.cost > max_cost:
            return Crossing(COST_BUDGET_EXCEEDED, agent, self.cost, max_cost)
        return None
