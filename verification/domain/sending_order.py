"""Which deliveries may be attempted now: due ones, and for each run only the oldest unsettled one.

Decisions about one run reach its host in the order in which they were made. A delivery that is
settled, well or badly, no longer stands in the way of the next.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from verification.domain.delivery import UNSETTLED, State


@dataclass(frozen=True, slots=True)
class Queued:
    """One delivery, as far as its turn depends on it."""

    id: int
    run: int
    decided_at: datetime
    state: State
    next_attempt_at: datetime | None = None
    lease_until: datetime | None = None
    """Until when a worker that is sending counts as alive."""


def sendable(queued: Iterable[Queued], now: datetime) -> tuple[Queued, ...]:
    """Return the deliveries whose turn it is, the longest due first."""
    first: dict[int, Queued] = {}
    for one in sorted(queued, key=lambda one: (one.decided_at, one.id)):
        if one.state in UNSETTLED:
            first.setdefault(one.run, one)
    turn = [one for one in first.values() if is_due(one, now)]
    return tuple(sorted(turn, key=lambda one: (one.next_attempt_at or one.decided_at, one.id)))


def is_due(one: Queued, now: datetime) -> bool:
    """Say whether a delivery waits and its time has come, or its worker is gone."""
    if one.state is State.SENDING:
        return one.lease_until is None or now >= one.lease_until
    due = one.next_attempt_at
    return one.state is State.WAITING and due is not None and now >= due
