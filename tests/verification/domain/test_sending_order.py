"""Decisions about one run reach its host in the order in which they were made."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from verification.domain.delivery import UNSETTLED, State
from verification.domain.sending_order import Queued, sendable

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def at(minute):
    return NOW + timedelta(minutes=minute)


def waiting(number, run=1, decided=-10, due=-1):
    return Queued(number, run, at(decided), State.WAITING, at(due))


def test_the_later_decision_waits_for_the_earlier_one():
    first, second = waiting(1, decided=-10, due=5), waiting(2, decided=-9)

    assert sendable([second, first], NOW) == ()
    assert sendable([second, waiting(1, decided=-10)], NOW) == (waiting(1, decided=-10),)


def test_a_settled_decision_stands_in_nobodys_way():
    dead = Queued(1, 1, at(-10), State.DEAD)

    assert sendable([dead, waiting(2, decided=-9)], NOW) == (waiting(2, decided=-9),)


def test_runs_do_not_wait_for_each_other():
    found = sendable([waiting(1, run=1, due=-1), waiting(2, run=2, due=-5)], NOW)

    assert [one.id for one in found] == [2, 1]


def test_a_worker_that_died_while_sending_is_replaced_once_its_lease_is_over():
    alive = Queued(1, 1, at(-10), State.SENDING, lease_until=at(1))
    gone = Queued(2, 2, at(-10), State.SENDING, lease_until=at(0))

    assert sendable([alive, gone], NOW) == (gone,)


QUEUED = st.lists(
    st.builds(
        Queued,
        id=st.integers(1, 10_000),
        run=st.integers(1, 3),
        decided_at=st.integers(-60, 0).map(at),
        state=st.sampled_from([*State]),
        next_attempt_at=st.one_of(st.none(), st.integers(-60, 60).map(at)),
        lease_until=st.one_of(st.none(), st.integers(-60, 60).map(at)),
    ),
    unique_by=lambda one: one.id,
    max_size=12,
)


@given(QUEUED)
def test_at_most_one_delivery_of_a_run_has_its_turn_and_it_is_the_oldest(queued):
    found = sendable(queued, NOW)

    assert len({one.run for one in found}) == len(found)
    for one in found:
        older = [
            other
            for other in queued
            if other.run == one.run
            and other.state in UNSETTLED
            and (other.decided_at, other.id) < (one.decided_at, one.id)
        ]
        assert older == []
