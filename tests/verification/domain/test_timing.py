"""When claims and escalations end."""

from datetime import UTC, datetime, timedelta

import pytest

from verification.domain.lifecycle import Move, Rules, Situation, State
from verification.domain.timing import (
    OnTimeout,
    due_at,
    heartbeat,
    lease_until,
    step_when_due,
    warning,
)

NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)
RULES = Rules(lease=timedelta(minutes=10))


def test_a_claim_is_extended_twice_in_its_life_and_warned_about_before_it_ends():
    until = lease_until(NOW, RULES)

    assert until == NOW + timedelta(minutes=10)
    assert warning(RULES) == timedelta(seconds=60)
    assert heartbeat(RULES) == timedelta(minutes=5)


def test_a_short_claim_is_warned_about_halfway():
    short = Rules(lease=timedelta(seconds=40))

    assert warning(short) == timedelta(seconds=20)


@pytest.mark.parametrize(
    ("host_waits_ms", "due"),
    [
        (None, HOUR),
        (7_200_000, HOUR),
        (1_800_000, HOUR / 2),
        (0, HOUR),
        (-5, HOUR),
        (2**53 - 1, HOUR),
    ],
)
def test_the_sooner_of_ours_and_the_hosts_time_counts(host_waits_ms, due):
    assert due_at(NOW, HOUR, host_waits_ms) == NOW + due


@pytest.mark.parametrize(
    ("policy", "move"),
    [
        (OnTimeout.KEEP_WAITING, None),
        (OnTimeout.ESCALATE, Move.REASSIGN),
        (OnTimeout.FAIL_CLOSED, Move.EXPIRE),
    ],
)
def test_each_policy_does_its_own_and_none_approves(policy, move):
    assert step_when_due(Situation(State.OPEN), NOW, NOW, policy) is move
    assert move is not Move.RESOLVE


def test_nothing_happens_before_time_or_after_somebody_decided():
    for situation in (Situation(State.RESOLVED), Situation(State.MOOT), Situation(State.EXPIRED)):
        assert step_when_due(situation, NOW, NOW + HOUR, OnTimeout.FAIL_CLOSED) is None
    assert step_when_due(Situation(State.OPEN), NOW + HOUR, NOW, OnTimeout.FAIL_CLOSED) is None


def test_whoever_holds_it_may_finish():
    claimed = Situation(State.CLAIMED, "ada", NOW + HOUR)

    assert step_when_due(claimed, NOW, NOW + HOUR / 2, OnTimeout.FAIL_CLOSED) is None
    assert step_when_due(claimed, NOW, NOW + HOUR, OnTimeout.FAIL_CLOSED) is Move.EXPIRE
