"""When to leave a host alone: after several failures in a row only one attempt at a time is made.

One host that is down must not use up the workers. The breaker delays attempts; it never gives a
decision up, and it never counts a host's refusal as a failure: a host that refuses is up.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from verification.domain.answer import Answer, Reached

OPENS_AFTER = 5
"""Failures in a row."""
FIRST_REST = timedelta(seconds=30)
LONGEST_REST = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Breaker:
    """What is remembered about one host."""

    failures: int = 0
    """In a row."""
    rests_until: datetime | None = None
    """Set while the breaker is open; afterwards one attempt may try."""


def may_send(breaker: Breaker, now: datetime) -> bool:
    """Say whether an attempt may be made; ask `probing` before making it."""
    return breaker.rests_until is None or now >= breaker.rests_until


def probing(breaker: Breaker, now: datetime) -> Breaker:
    """Return the breaker as it is while an attempt is under way: others wait for its outcome."""
    if breaker.rests_until is None:
        return breaker
    return replace(breaker, rests_until=now + FIRST_REST)


def after_answer(breaker: Breaker, answer: Answer, now: datetime) -> Breaker:
    """Return the breaker after an attempt ended."""
    if not is_failure(answer):
        return Breaker()
    failures = breaker.failures + 1
    if failures < OPENS_AFTER:
        return Breaker(failures)
    rest = min(FIRST_REST * 2 ** min(failures - OPENS_AFTER, 10), LONGEST_REST)
    return Breaker(failures, now + rest)


def is_failure(answer: Answer) -> bool:
    """Say whether the host as a whole seems to be in trouble."""
    if answer.reached is Reached.FORBIDDEN:
        return False
    return answer.status is None or answer.status >= 500 or answer.status == 429
