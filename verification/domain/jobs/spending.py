"""What a call may cost at most, reckoned before it is made, so that no crash can overspend.

A model's reply is cut to what the budget leaves. Where even a short reply would not fit, the call
is not made and the job stops.
"""

from collections.abc import Iterable
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Spent:
    """What one step of a job has cost, or may have."""

    used: int
    lost: int = 0
    """Of calls whose worker was killed before it could say."""
    reserved: int = 0
    """Of a call under way."""

    @property
    def total(self) -> int:
        """What must be taken as gone."""
        return self.used + self.lost + self.reserved


def reserve(
    prompt: Prompt, *, budget: int | None, spent: Iterable[Spent], longest_reply: int
) -> Reservation | None:
    """Return what to set aside for a call, or None when the budget does not allow it."""
    asking = prompt_tokens(prompt)
    if budget is None:
        return Reservation(asking + longest_reply, longest_reply)
    left = budget - sum(each.total for each in spent) - asking
    if left < min(SHORTEST_REPLY, longest_reply):
        return None
    reply = min(longest_reply, left)
    return Reservation(asking + reply, reply)


def prompt_tokens(prompt: Prompt) -> int:
    """Reckon generously what a prompt costs: a token for every two bytes of UTF-8.

    Tokenizers need about one for four bytes of English and one for two or three of most scripts.
    """
    length = len(f"{prompt.system}{prompt.user}".encode("utf-8", "surrogatepass"))
    return -(-length // 2) + _OVERHEAD
