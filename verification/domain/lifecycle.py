"""The life of an escalation: one table of moves, and who may make them when.

`TRANSITIONS` is the only list of what can follow what; the diagram in docs/escalation.md is drawn
from it. *Who* may move (role, eligibility, conflict of interest) and *now* (state, lease, what the
person saw) are checked apart, so that a refusal names the right one. Nothing here reads a clock:
`now` is passed in, and should be the database's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from verification.domain.decisions import LETS_THROUGH, Action
from verification.domain.freshness import View, check_fresh
from verification.domain.refusals import (
    AlreadyClaimed,
    AlreadyExpired,
    AlreadyMoot,
    AlreadyResolved,
    AlreadyReviewed,
    ClaimLapsed,
    ConflictOfInterest,
    NoSuchMove,
    NotAllowed,
    NotClaimed,
    NotEligible,
    UndoTooLate,
)


class State(StrEnum):
    """Where an escalation stands. Stored; add, never repurpose."""

    OPEN = "open"
    CLAIMED = "claimed"
    RESOLVED = "resolved"
    MOOT = "moot"
    EXPIRED = "expired"


class Move(StrEnum):
    """What can happen to an escalation. `lapse`, `close` and `expire` are the Console's own."""

    CLAIM = "claim"
    EXTEND = "extend"
    RELEASE = "release"
    REASSIGN = "reassign"
    VOTE = "vote"
    RESOLVE = "resolve"
    UNDO = "undo"
    LAPSE = "lapse"
    CLOSE = "close"
    EXPIRE = "expire"


TRANSITIONS: Mapping[tuple[State, Move], State] = MappingProxyType(
    {
        (State.OPEN, Move.CLAIM): State.CLAIMED,
        (State.OPEN, Move.REASSIGN): State.CLAIMED,
        (State.OPEN, Move.CLOSE): State.MOOT,
        (State.OPEN, Move.EXPIRE): State.EXPIRED,
        (State.CLAIMED, Move.CLAIM): State.CLAIMED,
        (State.CLAIMED, Move.EXTEND): State.CLAIMED,
        (State.CLAIMED, Move.RELEASE): State.OPEN,
        (State.CLAIMED, Move.REASSIGN): State.CLAIMED,
        (State.CLAIMED, Move.VOTE): State.OPEN,
        (State.CLAIMED, Move.RESOLVE): State.RESOLVED,
        (State.CLAIMED, Move.LAPSE): State.OPEN,
        (State.CLAIMED, Move.CLOSE): State.MOOT,
        (State.CLAIMED, Move.EXPIRE): State.EXPIRED,
        (State.RESOLVED, Move.UNDO): State.CLAIMED,
    }
)
SETTLED = frozenset({State.RESOLVED, State.MOOT, State.EXPIRED})
"""Nobody has to decide. Only a resolution can be taken back, and only before it leaves."""


class Role(StrEnum):
    """What a person may do in a workspace; the same values as the membership's role."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    REVIEWER = "reviewer"
    ADMIN = "admin"
    AUDITOR = "auditor"


_DECIDERS = frozenset({Role.REVIEWER, Role.ADMIN})
MAY: Mapping[Move, frozenset[Role]] = MappingProxyType(
    {
        Move.CLAIM: _DECIDERS,
        Move.EXTEND: _DECIDERS,
        Move.RELEASE: _DECIDERS,
        Move.REASSIGN: frozenset({Role.ADMIN}),
        Move.VOTE: _DECIDERS,
        Move.RESOLVE: _DECIDERS,
        Move.UNDO: _DECIDERS,
        Move.CLOSE: frozenset({Role.ADMIN}),
    }
)
"""Roles per move. A queue's lead may also reassign."""


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever is acting; `role` is theirs in the escalation's workspace."""

    id: str
    role: str
    is_lead: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the rules need to know about one escalation."""

    state: State
    claimed_by: str | None = None
    claim_until: datetime | None = None
    closed_because: str = ""
    conflicted: frozenset[str] = frozenset()
    """Who started the run or owns its actor."""
    eligible: frozenset[str] | None = None
    """The only people who may decide; None: no such list."""
    reviewed_by: frozenset[str] = frozenset()
    """Who has voted already, where more than one review is required."""


@dataclass(frozen=True, slots=True)
class Rules:
    """A queue's settings."""

    lease: timedelta = timedelta(minutes=10)
    warn_before: timedelta = timedelta(seconds=60)
    undo: timedelta = timedelta(seconds=5)
    required_reviews: int = 1
    second_person_for: frozenset[Action] = frozenset()
    bars_conflicts: bool = True


def next_state(state: State, move: Move) -> State:
    """Return the state that follows.

    Raises:
        NoSuchMove: the table has no such arrow.
    """
    try:
        return TRANSITIONS[state, move]
    except KeyError:
        raise NoSuchMove(state, move) from None


def check_may_claim(situation: Situation, person: Person, now: datetime) -> None:
    """Pass when the person may take the escalation now; a repeated claim by its holder passes."""
    check_role(person, Move.CLAIM)
    _check_eligible(situation, person)
    check_not_settled(situation)
    if person.id in situation.reviewed_by:
        raise AlreadyReviewed(person.id)
    _check_nobody_else_holds(situation, person, now)


def check_may_extend(situation: Situation, person: Person, now: datetime) -> None:
    """Pass when the person holds the escalation now."""
    check_role(person, Move.EXTEND)
    _check_holds(situation, person, now)


def check_may_release(situation: Situation, person: Person, now: datetime) -> None:
    """Pass when the claim is the person's, even if it just lapsed, or the person is an admin."""
    check_role(person, Move.RELEASE)
    check_not_settled(situation)
    if situation.state is State.OPEN:
        raise NotClaimed
    if person.role != Role.ADMIN:
        _check_nobody_else_holds(situation, person, now)
        if situation.claimed_by != person.id:
            raise NotClaimed


def check_may_reassign(situation: Situation, by: Person, to: Person, now: datetime) -> None:
    """Pass when an admin or lead may hand the escalation to somebody who may claim it."""
    if not by.is_lead:
        check_role(by, Move.REASSIGN)
    released = Situation(
        state=State.OPEN if situation.state is State.CLAIMED else situation.state,
        closed_because=situation.closed_because,
        eligible=situation.eligible,
        reviewed_by=situation.reviewed_by,
    )
    check_may_claim(released, to, now)


def check_may_vote(
    situation: Situation, person: Person, action: Action, seen: View, current: View,
    now: datetime, rules: Rules,
) -> None:  # fmt: skip
    """Pass when the person may say this now, whether or not it settles the matter.

    Raises:
        StaleView: the matter changed after the person saw it.
        ConflictOfInterest: the person would let through what is their own.
        VerificationError: any other refusal, as its class says.
    """
    check_role(person, Move.RESOLVE)
    _check_eligible(situation, person)
    _check_holds(situation, person, now)
    if person.id in situation.reviewed_by:
        raise AlreadyReviewed(person.id)
    check_fresh(seen, current)
    if rules.bars_conflicts and action in LETS_THROUGH and person.id in situation.conflicted:
        raise ConflictOfInterest(action)


def check_may_undo(
    situation: Situation, person: Person, *, decided_by: str, decided_at: datetime,
    has_left: bool, now: datetime, rules: Rules,
) -> None:  # fmt: skip
    """Pass when the person may take their own decision back: in time, and before it left."""
    check_role(person, Move.UNDO)
    if situation.state is not State.RESOLVED:
        raise NoSuchMove(situation.state, Move.UNDO)
    if person.id != decided_by:
        raise AlreadyResolved(situation.closed_because, decided_by)
    if has_left or now >= decided_at + rules.undo:
        raise UndoTooLate(decided_at + rules.undo)


def reviews_required(action: Action, rules: Rules) -> int:
    """Return how many people must say the same before this takes effect."""
    return max(2 if action in rules.second_person_for else 1, rules.required_reviews)


def check_role(person: Person, move: Move) -> None:
    """Pass when the person's role includes the move."""
    if person.role not in MAY.get(move, frozenset()):
        raise NotAllowed(move, person.role)


def check_not_settled(situation: Situation) -> None:
    """Pass while somebody still has to decide."""
    match situation.state:
        case State.RESOLVED:
            raise AlreadyResolved(situation.closed_because, situation.claimed_by or "")
        case State.MOOT:
            raise AlreadyMoot(situation.closed_because)
        case State.EXPIRED:
            raise AlreadyExpired(situation.closed_because)
        case State.OPEN | State.CLAIMED:
            return


def is_claimed(situation: Situation, now: datetime) -> bool:
    """Say whether somebody holds the escalation; a claim ends at the instant `claim_until`."""
    return (
        situation.state is State.CLAIMED
        and situation.claim_until is not None
        and now < situation.claim_until
    )


def _check_eligible(situation: Situation, person: Person) -> None:
    if situation.eligible is not None and person.id not in situation.eligible:
        raise NotEligible(person.id)


def _check_nobody_else_holds(situation: Situation, person: Person, now: datetime) -> None:
    if not is_claimed(situation, now) or situation.claimed_by == person.id:
        return
    if situation.claimed_by is not None and situation.claim_until is not None:
        raise AlreadyClaimed(situation.claimed_by, situation.claim_until)


def _check_holds(situation: Situation, person: Person, now: datetime) -> None:
    check_not_settled(situation)
    _check_nobody_else_holds(situation, person, now)
    if situation.claimed_by != person.id or situation.claim_until is None:
        raise NotClaimed
    if not is_claimed(situation, now):
        raise ClaimLapsed(situation.claim_until)
