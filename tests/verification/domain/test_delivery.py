"""The outbox: every answer has its row, and nothing is delivered that was not."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.answer import Answer, Reached
from verification.domain.delivery import (
    ARRIVED,
    DEADLINE,
    GIVE_UP_AFTER,
    PATIENT_ATTEMPTS,
    SCHEDULE,
    SENDING_LEASE,
    TRANSITIONS,
    UNSETTLED,
    Door,
    State,
    Trying,
    after,
    after_read_back,
    delay,
)
from verification.domain.readback import ReadBack

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
FIRST = Trying(1, NOW, NOW)


def answered(status, code="", **more):
    return Answer(Reached.ANSWERED, status, code, **more)


@pytest.mark.parametrize(
    ("answer", "state", "reads_back", "pages"),
    [
        (answered(200), State.ACCEPTED, False, False),
        (answered(204), State.ACCEPTED, False, False),
        (Answer(Reached.NO_ANSWER, why="timeout"), State.WAITING, False, False),
        (Answer(Reached.NO_ANSWER, why="reset"), State.WAITING, False, False),
        (Answer(Reached.NOT_SENT, why="refused"), State.WAITING, False, False),
        (answered(500), State.WAITING, False, False),
        (answered(503), State.WAITING, False, False),
        (answered(429), State.WAITING, False, False),
        (answered(302), State.WAITING, False, False),
        (answered(409, "interrupt_already_resolved"), State.WAITING, True, False),
        (answered(409, "idempotency_key_mismatch"), State.STOPPED, False, True),
        (answered(409, "idempotency_in_flight"), State.WAITING, False, False),
        (answered(410, "interrupt_expired"), State.WAITING, True, False),
        (answered(404, "interrupt_not_found"), State.WAITING, True, False),
        (answered(401), State.STOPPED, False, True),
        (answered(403), State.STOPPED, False, True),
        (answered(400, "validation_error"), State.UNDELIVERABLE, False, True),
        (answered(422, "correlation_mismatch"), State.UNDELIVERABLE, False, True),
        (Answer(Reached.FORBIDDEN, why="The address is private."), State.STOPPED, False, True),
    ],
)
def test_every_answer_leads_to_its_state(answer, state, reads_back, pages):
    step = after(answer, FIRST)

    assert (step.state, step.needs_read_back, step.page_someone) == (state, reads_back, pages)
    assert step.words


def test_a_webhook_that_arrived_is_delivered_and_not_yet_accepted():
    assert after(answered(200), FIRST, Door.WEBHOOK).state is State.DELIVERED


@pytest.mark.parametrize("status", [404, 409, 410])
def test_there_is_no_log_to_read_for_a_webhook_that_was_refused(status):
    step = after(answered(status), FIRST, Door.WEBHOOK)

    assert (step.state, step.needs_read_back) == (State.UNDELIVERABLE, False)


LOST = answered(409, "interrupt_already_resolved")
MISSING = answered(404, "interrupt_not_found")
EXPIRED = answered(410, "interrupt_expired")
OLD = Trying(PATIENT_ATTEMPTS, NOW, NOW)


@pytest.mark.parametrize(
    ("found", "answer", "trying", "may_have_applied", "state"),
    [
        (ReadBack.EQUAL, LOST, FIRST, True, State.ACCEPTED),
        (ReadBack.EQUAL, MISSING, FIRST, True, State.ACCEPTED),
        (ReadBack.EQUAL, EXPIRED, FIRST, False, State.ACCEPTED),
        (ReadBack.DIFFERENT, LOST, FIRST, True, State.SUPERSEDED),
        (ReadBack.DIFFERENT, MISSING, FIRST, False, State.SUPERSEDED),
        (ReadBack.OVERTAKEN, EXPIRED, FIRST, False, State.UNDELIVERABLE),
        (ReadBack.OVERTAKEN, LOST, FIRST, True, State.UNDELIVERABLE),
        (ReadBack.UNREAD, LOST, FIRST, True, State.WAITING),
        (ReadBack.UNREAD, MISSING, OLD, False, State.WAITING),
        (ReadBack.UNKNOWN, LOST, FIRST, False, State.SUPERSEDED),
        (ReadBack.UNKNOWN, LOST, FIRST, True, State.WAITING),
        (ReadBack.UNKNOWN, LOST, OLD, True, State.SUPERSEDED),
        (ReadBack.OPEN, LOST, FIRST, False, State.WAITING),
        (ReadBack.OPEN, LOST, OLD, False, State.SUPERSEDED),
        (ReadBack.OPEN, MISSING, FIRST, False, State.UNDELIVERABLE),
        (ReadBack.OPEN, MISSING, FIRST, True, State.WAITING),
        (ReadBack.OPEN, MISSING, OLD, True, State.UNDELIVERABLE),
        (ReadBack.OPEN, EXPIRED, FIRST, False, State.UNDELIVERABLE),
    ],
)
def test_what_the_log_says_decides_after_a_closed_door(
    found, answer, trying, may_have_applied, state
):
    step = after_read_back(found, answer, trying, may_have_applied=may_have_applied)

    assert step.state is state
    assert step.page_someone == (state not in UNSETTLED | {State.ACCEPTED})
    assert not step.needs_read_back


def test_only_an_equal_log_makes_a_closed_interrupt_accepted():
    for found in ReadBack:
        for may in (True, False):
            for trying in (FIRST, OLD):
                step = after_read_back(found, LOST, trying, may_have_applied=may)
                assert (step.state in ARRIVED) == (found is ReadBack.EQUAL)


def test_the_schedule_is_kept():
    seconds = [delay(n, 0.5).total_seconds() for n in range(1, 9)]

    assert seconds == [5, 30, 120, 600, 1800, 3600, 3600, 3600]


@given(st.integers(1, 400), st.floats(0, 1))
def test_a_pause_strays_by_a_fifth_at_most(attempts, jitter):
    plain = SCHEDULE[min(attempts, len(SCHEDULE)) - 1]

    assert plain * 0.8 <= delay(attempts, jitter) <= plain * 1.2 + timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("wished", "seconds"),
    [
        (120.0, 120),
        (1.0, 5),
        (0.0, 5),
        (-3.0, 5),
        (None, 5),
        (1e300, 86400),
        (float("inf"), 86400),
        (float("nan"), 5),
    ],
)
def test_a_hosts_wish_to_wait_is_honoured_within_reason(wished, seconds):
    step = after(answered(429, retry_after_s=wished), FIRST)

    assert step.next_attempt_at == NOW + timedelta(seconds=seconds)


def test_a_decision_is_given_up_after_seven_days_and_somebody_is_told():
    down = Answer(Reached.NOT_SENT, why="refused")
    almost = Trying(170, NOW, NOW + GIVE_UP_AFTER - timedelta(hours=1))
    over = Trying(171, NOW, NOW + GIVE_UP_AFTER - timedelta(minutes=59))

    assert after(down, almost).state is State.WAITING
    step = after(down, over)
    assert (step.state, step.next_attempt_at, step.page_someone) == (State.DEAD, None, True)


def test_a_host_that_is_down_for_a_day_gets_about_thirty_attempts():
    down, now, attempts = Answer(Reached.NOT_SENT, why="refused"), NOW, 0
    while now < NOW + timedelta(days=1):
        attempts += 1
        step = after(down, Trying(attempts, NOW, now))
        now = step.next_attempt_at

    assert 25 <= attempts <= 35


@given(
    st.sampled_from([*Reached]),
    st.one_of(st.none(), st.integers(100, 599)),
    st.sampled_from(["", "interrupt_already_resolved", "idempotency_in_flight", "nonsense"]),
    st.integers(1, 500),
    st.integers(0, 10**7),
    st.sampled_from([*Door]),
)
def test_every_step_follows_the_table(reached, status, code, attempts, age, door):
    trying = Trying(attempts, NOW, NOW + timedelta(seconds=age))
    step = after(Answer(reached, status, code), trying, door)

    assert step.state in TRANSITIONS[State.SENDING]
    assert (step.next_attempt_at is not None) == (step.state is State.WAITING)
    if step.state in ARRIVED:
        assert status is not None
        assert 200 <= status < 300
    if step.state not in UNSETTLED | ARRIVED:
        assert step.page_someone


def test_what_went_wrong_can_be_sent_again_and_what_arrived_cannot():
    for state in (State.DEAD, State.STOPPED, State.UNDELIVERABLE):
        assert TRANSITIONS[state] == {State.WAITING}
    for state in (State.ACCEPTED, State.SUPERSEDED):
        assert TRANSITIONS[state] == frozenset()
    assert set(TRANSITIONS) == set(State)


def test_a_worker_is_not_taken_for_dead_while_its_attempt_may_last():
    assert DEADLINE + timedelta(seconds=5) < SENDING_LEASE
