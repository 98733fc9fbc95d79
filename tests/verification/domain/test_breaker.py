"""A host in trouble is left alone for a while, and asked by one attempt at a time."""

from datetime import UTC, datetime, timedelta

import pytest

from verification.domain.answer import Answer, Reached
from verification.domain.breaker import (
    FIRST_REST,
    LONGEST_REST,
    OPENS_AFTER,
    Breaker,
    after_answer,
    is_failure,
    may_send,
    probing,
)

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
DOWN = Answer(Reached.NOT_SENT, why="refused")


def failed(times):
    breaker = Breaker()
    for _ in range(times):
        breaker = after_answer(breaker, DOWN, NOW)
    return breaker


def test_it_opens_after_several_failures_in_a_row():
    assert may_send(failed(OPENS_AFTER - 1), NOW)
    opened = failed(OPENS_AFTER)
    assert not may_send(opened, NOW)
    assert may_send(opened, NOW + FIRST_REST)


def test_a_good_answer_closes_it():
    assert after_answer(failed(9), Answer(Reached.ANSWERED, 200), NOW) == Breaker()


def test_it_rests_longer_each_time_up_to_a_limit():
    rests = [failed(n).rests_until - NOW for n in range(OPENS_AFTER, OPENS_AFTER + 12)]

    assert rests[:3] == [FIRST_REST, 2 * FIRST_REST, 4 * FIRST_REST]
    assert rests[-1] == LONGEST_REST


def test_one_attempt_at_a_time_may_try_a_host_that_was_down():
    later = NOW + FIRST_REST
    trying = probing(failed(OPENS_AFTER), later)

    assert not may_send(trying, later)
    assert may_send(trying, later + FIRST_REST)
    assert probing(Breaker(2), NOW) == Breaker(2)


@pytest.mark.parametrize(
    ("answer", "counts"),
    [
        (Answer(Reached.NO_ANSWER, why="timeout"), True),
        (Answer(Reached.ANSWERED, 503), True),
        (Answer(Reached.ANSWERED, 429), True),
        (Answer(Reached.ANSWERED, 409), False),
        (Answer(Reached.ANSWERED, 401), False),
        (Answer(Reached.FORBIDDEN, why="private"), False),
    ],
)
def test_a_host_that_refuses_is_up(answer, counts):
    assert is_failure(answer) is counts


def test_it_delays_by_less_than_the_longest_pause_of_the_schedule():
    assert timedelta(hours=1) > LONGEST_REST
