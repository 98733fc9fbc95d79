"""When a claim ends, when an escalation is due, and what its queue does then.

Every time is computed from one passed in, so that a timer is a row that is checked again when it
fires: a claim, release or resolution since then simply makes it do nothing. No policy approves.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import assert_never

from verification.domain.lifecycle import SETTLED, Move, Rules, Situation


class OnTimeout(StrEnum):
    """What a queue does with an escalation that nobody decided in time. Stored."""

    KEEP_WAITING = "keep_waiting"
    ESCALATE = "escalate"
    FAIL_CLOSED = "fail_closed"


def lease_until(now: datetime, rules: Rules) -> datetime:
    """Return when a claim that starts or is extended now will end."""
    return now + rules.lease


def warning(rules: Rules) -> timedelta:
    """Return how long before a claim's end its holder should hear of it."""
    return min(rules.warn_before, rules.lease / 2)


def heartbeat(rules: Rules) -> timedelta:
    """Return how often an open page should extend its claim."""
    return rules.lease / 2


def due_at(since: datetime, due_after: timedelta, host_waits_ms: int | None) -> datetime:
    """Return when somebody should have decided.

    Args:
        since: when the Console learnt of it, by its own clock: a host's may be wrong.
        due_after: how long the queue waits.
        host_waits_ms: how long the host's own interrupt waits, if it says so; the sooner counts.
            Nothing and less says nothing.
    """
    if host_waits_ms is None or host_waits_ms <= 0:
        return since + due_after
    ours_ms = due_after // timedelta(milliseconds=1)
    return since + timedelta(milliseconds=min(ours_ms, host_waits_ms))


def step_when_due(
    situation: Situation, due: datetime, now: datetime, on_timeout: OnTimeout
) -> Move | None:
    """Return the move that is due, or None: to expire, or to hand the matter to a lead.

    An escalation that somebody holds is left to them until their claim ends.
    """
    if now < due or situation.state in SETTLED:
        return None
    if situation.claim_until is not None and now < situation.claim_until:
        return None
    match on_timeout:
        case OnTimeout.KEEP_WAITING:
            return None
        case OnTimeout.ESCALATE:
            return Move.REASSIGN
        case OnTimeout.FAIL_CLOSED:
            return Move.EXPIRE
        case _:
            assert_never(on_timeout)
