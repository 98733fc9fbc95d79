"""What can be done to many escalations at once, and what shows beforehand. Never deciding."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from verification.domain.lifecycle import SETTLED, Move, State


class Many(StrEnum):
    """What can be done to many. Stored."""

    ASSIGN = "assign"
    RELEASE = "release"
    CLOSE = "close"


MOVES: Mapping[Many, Move] = MappingProxyType(
    {Many.ASSIGN: Move.REASSIGN, Many.RELEASE: Move.RELEASE, Many.CLOSE: Move.CLOSE}
)


def foreseen(state: State, many: Many) -> str:
    """Return why one would be skipped, as far as it shows beforehand; empty: it would not."""
    if state in SETTLED:
        return f"It is {state.value}."
    if many is Many.RELEASE and state is State.OPEN:
        return "Nobody holds it."
    return ""
