"""Rounds × judges: how every judge of every round stands, told without any content.

A cell that shows a vote keeps it. What was never asked says why not, because "nobody objected" and
"nobody was asked" look alike otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Cell(StrEnum):
    """How one judge stands in one round."""

    ACCEPT = "accept"
    DISSENT = "dissent"
    ERROR = "error"
    ASKING = "asking"
    RETRYING = "retrying"
    VOID = "void"
    """It answered, but the job had been stopped by then: the answer decides nothing."""
    PENDING = "pending"
    NOT_ASKED_QUORUM = "not_asked_quorum"
    NOT_ASKED_BUDGET = "not_asked_budget"
    NOT_ASKED_STOPPED = "not_asked_stopped"


@dataclass(frozen=True, slots=True)
class Voted:
    """A recorded vote."""

    round: int
    judge: str
    accepted: bool
    call_failed: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A judge's call as the ledger has it."""

    round: int
    judge: str
    is_settled: bool
    is_waiting: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One round."""

    number: int
    cells: tuple[Cell, ...]
    """In roster order."""

    @property
    def accepts(self) -> int:
        """Return how many accepted."""
        return self.cells.count(Cell.ACCEPT)


def grid(
    judges: Sequence[str],
    votes: Sequence[Voted],
    calls: Sequence[Call],
    *,
    basis: str,
    has_ended: bool,
) -> tuple[Row, ...]:
    """Return the rounds that have begun; before any has, the first one.

    Args:
        judges: the roster, in order.
        votes: recorded votes.
        calls: the judges' calls, made or under way.
        basis: on what the verdict rests; empty while there is none.
        has_ended: nobody will be asked any more.
    """
    voted = {(each.round, each.judge): each for each in votes}
    called = {(each.round, each.judge): each for each in calls}
    begun = {round_ for round_, _ in (*voted, *called)}
    last = max(begun, default=0 if has_ended else 1)
    return tuple(
        Row(
            number,
            tuple(
                _cell((number, judge), voted, called, basis=basis, has_ended=has_ended)
                for judge in judges
            ),
        )
        for number in range(1, last + 1)
    )


def _cell(
    place: tuple[int, str],
    voted: Mapping[tuple[int, str], Voted],
    called: Mapping[tuple[int, str], Call],
    *,
    basis: str,
    has_ended: bool,
) -> Cell:
    vote, call = voted.get(place), called.get(place)
    if vote is not None:
        return _of_vote(vote)
    if call is None:
        return _unasked(basis) if has_ended else Cell.PENDING
    if call.is_settled or has_ended:
        return Cell.VOID
    return Cell.RETRYING if call.is_waiting else Cell.ASKING


def _of_vote(vote: Voted) -> Cell:
    if vote.accepted:
        return Cell.ACCEPT
    return Cell.ERROR if vote.call_failed else Cell.DISSENT


def _unasked(basis: str) -> Cell:
    if basis in ("quorum", "suspected"):
        return Cell.NOT_ASKED_QUORUM
    return Cell.NOT_ASKED_BUDGET if basis == "budget" else Cell.NOT_ASKED_STOPPED
