"""What a call may cost at most, reckoned before it is made, so that no crash can overspend.

A model's reply is cut to what the budget leaves. Where even a short reply would not fit, the call
is not made and the job stops.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from verification.domain.consensus.history import Usage
from verification.domain.consensus.prompts import Prompt

SHORTEST_REPLY = 64
"""Tokens below which asking is pointless: a verdict with a reason does not fit."""
_OVERHEAD = 64
"""For what surrounds the messages: roles, the reply's schema."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What is set aside for one call."""

    tokens: int
    """Of the prompt and the longest reply together."""
    reply_tokens: int
    """The longest reply that the model may give."""
    usd: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Spent:
    """What one step of a job has cost, or may have."""

    used: int
    lost: int = 0
    """Of calls whose worker was killed before it could say."""
    reserved: int = 0
    """Of a call under way."""
    usd: Decimal = Decimal(0)
    """All of these together, in US dollars, as far as prices are known."""

    @property
    def total(self) -> int:
        """What must be taken as gone."""
        return self.used + self.lost + self.reserved


def reserve(
    prompt: Prompt,
    *,
    budget: int | None,
    spent: Sequence[Spent],
    longest_reply: int,
    dollars: Decimal | None = None,
    price: Callable[[Usage], Decimal | None] = lambda usage: Decimal(0),
) -> Reservation | None:
    """Return what to set aside for a call, or None when a budget does not allow it.

    Args:
        prompt: of the call.
        budget: in tokens; None: none.
        spent: by all calls of the job.
        longest_reply: tokens that the setting allows.
        dollars: budget in US dollars; None: none.
        price: of a usage of this model; None where it has none, and then no dollars may be spent.
    """
    asking = prompt_tokens(prompt)
    reply = longest_reply
    if budget is not None:
        reply = min(reply, budget - sum(each.total for each in spent) - asking)
    least = min(SHORTEST_REPLY, longest_reply)
    if dollars is not None:
        left = dollars - sum((each.usd for each in spent), Decimal(0))
        reply = _affordable(asking, reply, least, left, price)
    if reply < least:
        return None
    usd = price(Usage(asking, reply)) if dollars is not None else None
    return Reservation(asking + reply, reply, usd or Decimal(0))


def _affordable(
    asking: int, reply: int, least: int, left: Decimal, price: Callable[[Usage], Decimal | None]
) -> int:
    """Return the longest reply up to a length that the dollars left pay for, halving it; or 0."""
    while reply >= least:
        usd = price(Usage(asking, reply))
        if usd is None:
            return 0
        if usd <= left:
            return reply
        reply = least if least < reply < 2 * least else reply // 2
    return 0


def prompt_tokens(prompt: Prompt) -> int:
    """Reckon generously what a prompt costs: a token for every two bytes of UTF-8.

    Tokenizers need about one for four bytes of English and one for two or three of most scripts.
    """
    length = len(f"{prompt.system}{prompt.user}".encode("utf-8", "surrogatepass"))
    return -(-length // 2) + _OVERHEAD
