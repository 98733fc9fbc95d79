"""The outbox: what every answer of a host means for a decision on its way.

A decision is sent as the same bytes with the same idempotency key until the host has it, says it
never will, or seven days are over. An outcome that is not known is not a failure: it is tried
again, and once an answer says the interrupt is closed, the host's own log is read back. Nothing
here is shown as delivered without the host having said so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import assert_never

from verification.domain.answer import Answer, Meaning, Reached, meaning_of
from verification.domain.host_errors import sentence
from verification.domain.readback import ReadBack


class State(StrEnum):
    """Where a delivery stands. Stored; add, never repurpose."""

    WAITING = "waiting"
    SENDING = "sending"
    DELIVERED = "delivered"
    """A webhook reached the host; what it makes of it shows in its log."""
    ACCEPTED = "accepted"
    """The host says it has the decision, or its log shows it."""
    SUPERSEDED = "superseded"
    """The interrupt was answered, and not, or not provably, with this decision."""
    UNDELIVERABLE = "undeliverable"
    STOPPED = "stopped"
    """Sending would do no good before somebody repairs something."""
    DEAD = "dead"
    """Tried for seven days."""


TRANSITIONS: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        State.WAITING: frozenset({State.SENDING}),
        State.SENDING: frozenset(set(State) - {State.SENDING}),
        State.DELIVERED: frozenset({State.ACCEPTED}),
        State.ACCEPTED: frozenset(),
        State.SUPERSEDED: frozenset(),
        State.UNDELIVERABLE: frozenset({State.WAITING}),
        State.STOPPED: frozenset({State.WAITING}),
        State.DEAD: frozenset({State.WAITING}),
    }
)
"""What can follow what; the arrows back to waiting are a person's redrive."""

UNSETTLED = frozenset({State.WAITING, State.SENDING})
GIVEN_UP = frozenset(
    state for state in State if state not in UNSETTLED and State.WAITING in TRANSITIONS[state]
)
"""States out of which only a person brings a decision on its way again."""
ARRIVED = frozenset({State.DELIVERED, State.ACCEPTED})
"""The only states in which a decision may be called delivered."""

SCHEDULE = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(minutes=30),
    timedelta(hours=1),
)
"""Pauses after the first, second … attempt; the last repeats."""
GIVE_UP_AFTER = timedelta(days=7)
LONGEST_RETRY_AFTER = timedelta(days=1)
DEADLINE = timedelta(seconds=10)
"""The whole of one attempt, from name resolution to the answer's end."""
SENDING_LEASE = timedelta(seconds=30)
"""After this a worker that was sending counts as gone; must exceed the deadline."""
PATIENT_ATTEMPTS = 4
"""How often a log that may lag behind is read before it counts as silent."""


class Door(StrEnum):
    """How a decision goes to a host. Stored."""

    INTERRUPT = "interrupt"
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True)
class Next:
    """What follows an attempt."""

    state: State
    words: str
    """One sentence for people."""
    next_attempt_at: datetime | None = None
    needs_read_back: bool = False
    """Read the run's log, `compare`, and ask `after_read_back` before anything else."""
    page_someone: bool = False


@dataclass(frozen=True, slots=True)
class Trying:
    """How long a delivery has been tried, and the moment to judge by."""

    attempts: int
    """Including the one that just ended."""
    started_at: datetime
    now: datetime
    jitter: float = 0.5
    """A random number in 0..1."""


def after(answer: Answer, trying: Trying, door: Door = Door.INTERRUPT) -> Next:
    """Say what follows an attempt.

    Source: OpenWOP interrupt.md (resolve surfaces), idempotency.md.
    """
    meaning = meaning_of(answer)
    words = _words(answer)
    match meaning:
        case Meaning.TAKEN:
            state = State.ACCEPTED if door is Door.INTERRUPT else State.DELIVERED
            return Next(state, words)
        case Meaning.TRY_AGAIN:
            return _again(words, trying, answer.retry_after_s)
        case Meaning.CLOSED | Meaning.GONE if door is Door.INTERRUPT:
            return Next(State.WAITING, words, trying.now, needs_read_back=True)
        case Meaning.STOP:
            return Next(State.STOPPED, words, page_someone=True)
        case Meaning.REFUSED | Meaning.CLOSED | Meaning.GONE:
            return Next(State.UNDELIVERABLE, words, page_someone=True)
        case _:
            assert_never(meaning)


def after_read_back(
    found: ReadBack, answer: Answer, trying: Trying, *, may_have_applied: bool
) -> Next:
    """Say what follows once the run's log was read after a 404, 409 or 410.

    Args:
        found: what the log says about the interrupt.
        answer: the one that made us read.
        trying: as for `after`.
        may_have_applied: an earlier attempt ended without a clear answer.
    """
    match found:
        case ReadBack.EQUAL:
            return Next(State.ACCEPTED, _equal_words(may_have_applied))
        case ReadBack.DIFFERENT:
            words = "The interrupt was answered by somebody else, differently."
            return Next(State.SUPERSEDED, words, page_someone=True)
        case ReadBack.OVERTAKEN:
            words = "The run was cancelled, or its time ran out, before the decision arrived."
            return Next(State.UNDELIVERABLE, words, page_someone=True)
        case ReadBack.UNREAD:
            return _again(f"{_words(answer)} Its log could not be read yet.", trying, None)
        case ReadBack.UNKNOWN:
            if may_have_applied and trying.attempts < PATIENT_ATTEMPTS:
                return _again("The interrupt is closed; the log does not say how.", trying, None)
            return Next(State.SUPERSEDED, _closed_words(may_have_applied), page_someone=True)
        case ReadBack.OPEN:
            return _still_open(answer, trying, may_have_applied=may_have_applied)
        case _:
            assert_never(found)


def delay(attempts: int, jitter: float) -> timedelta:
    """Return the pause after that many attempts, 20 % more or less.

    Args:
        attempts: made so far, at least 1.
        jitter: a random number in 0..1; 0.5 gives the plain schedule.
    """
    step = SCHEDULE[min(attempts, len(SCHEDULE)) - 1]
    return step * (0.8 + 0.4 * min(max(jitter, 0.0), 1.0))


def _words(answer: Answer) -> str:
    if answer.reached is Reached.FORBIDDEN:
        return answer.why or "The host's address is not one the Console may connect to."
    return sentence(answer.status, answer.code, answer.why)


def _again(words: str, trying: Trying, retry_after_s: float | None) -> Next:
    pause = delay(trying.attempts, trying.jitter)
    if retry_after_s is not None and retry_after_s > 0:
        longest = LONGEST_RETRY_AFTER.total_seconds()
        pause = max(pause, timedelta(seconds=min(retry_after_s, longest)))
    due = trying.now + pause
    if due > trying.started_at + GIVE_UP_AFTER:
        return Next(State.DEAD, f"Given up after seven days. {words}", page_someone=True)
    return Next(State.WAITING, words, due)


def _still_open(answer: Answer, trying: Trying, *, may_have_applied: bool) -> Next:
    is_denied = meaning_of(answer) is Meaning.GONE
    may_lag = may_have_applied or not is_denied
    if may_lag and trying.attempts < PATIENT_ATTEMPTS:
        return _again(f"{_words(answer)} Its log does not show that yet.", trying, None)
    if is_denied:
        return Next(State.UNDELIVERABLE, _words(answer), page_someone=True)
    return Next(State.SUPERSEDED, _closed_words(may_have_applied), page_someone=True)


def _equal_words(may_have_applied: bool) -> str:
    if may_have_applied:
        return "The host has this decision; only its acknowledgement was lost."
    return "The host was given the same decision before this one arrived."


def _closed_words(may_have_applied: bool) -> str:
    if may_have_applied:
        return "The interrupt is closed, and nothing shows whether it was by this decision."
    return "The interrupt was closed before this decision arrived."
