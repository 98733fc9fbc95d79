"""Many escalations at once: handed to somebody, released, closed as moot. Never decided.

Each is a move of its own under its own lock, answered for itself; what cannot be moved is said with
the reason and holds nothing else up.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from django.contrib.auth.models import User

from verification.actions import escalations
from verification.domain import lifecycle
from verification.domain.errors import VerificationError
from verification.domain.lifecycle import Move, State
from verification.models import Escalation
from verification.situations import person_of

MOST = 500
"""Escalations at once."""


class Many(StrEnum):
    """What can be done to many. Deciding is not among it."""

    ASSIGN = "assign"
    RELEASE = "release"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one."""

    escalation: Escalation
    refused: str = ""
    """Why nothing was done; empty: it was."""


def preview(rows: Iterable[Escalation], many: Many) -> list[Outcome]:
    """Return what would be skipped and why, as far as it shows beforehand."""
    return [Outcome(row, _foreseen(State(row.state), many)) for row in rows]


def move_many(
    *, rows: Iterable[Escalation], many: Many, by: User, to: User | None = None
) -> list[Outcome]:
    """Move each, one after the other; the list says what became of every one."""
    outcomes = []
    for row in rows:
        try:
            _move(row, many, by, to)
            outcomes.append(Outcome(row))
        except VerificationError as refused:
            outcomes.append(Outcome(row, str(refused)))
    return outcomes


def may_move_many(by: User, workspace: int, many: Many) -> bool:
    """Say whether a person's role includes doing this to many."""
    move = {Many.ASSIGN: Move.REASSIGN, Many.RELEASE: Move.RELEASE, Many.CLOSE: Move.CLOSE}[many]
    return person_of(by, workspace).role in lifecycle.MAY[move]


def _move(row: Escalation, many: Many, by: User, to: User | None) -> None:
    match many:
        case Many.ASSIGN:
            escalations.reassign(escalation=row.pk, by=by, to=to or by)
        case Many.RELEASE:
            escalations.release(escalation=row.pk, by=by)
        case Many.CLOSE:
            escalations.close(escalation=row.pk, by=by)
        case _:
            assert_never(many)


def _foreseen(state: State, many: Many) -> str:
    if state in lifecycle.SETTLED:
        return f"It is {state.value}."
    if many is Many.RELEASE and state is State.OPEN:
        return "Nobody holds it."
    return ""
