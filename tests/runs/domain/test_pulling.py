"""What to ask a host next, and when."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.gaps import Span, extend
from runs.domain.host_answer import Answer, Reached
from runs.domain.pulling import (
    GIVES_UP_AFTER,
    LONGEST_WISH_S,
    Held,
    Look,
    Patience,
    Trouble,
    next_look,
    rest_s,
    trouble_in,
    wants_look,
)

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
WHOLE = Held(last=4, has_ended=True)
LIVE = Held(last=4)


def held(*sequences, starts_at_one=False, **more):
    span = extend(Span(), sequences)
    return Held(span.last, span.missing(starts_at_one=starts_at_one), **more)


@pytest.mark.parametrize(
    ("log", "cursor"),
    [
        (held(), None),
        (held(0), 0),
        (held(0, 1, 2), 2),
        (held(1, 2), None),
        (held(1, 2, starts_at_one=True), 2),
        (held(0, 1, 4, 5, 9), 1),
        (held(0, 2), 0),
        (held(3), None),
    ],
)
def test_a_log_is_asked_for_from_where_it_stops_being_whole(log, cursor):
    assert log.cursor() == cursor


def test_what_the_host_was_asked_for_in_vain_is_not_asked_for_again():
    log = held(0, 1, 4, 5, 9)

    assert log.cursor(not_given=5) == 5
    assert log.cursor(not_given=9) == 9
    assert log.cursor(not_given=1) == 1


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_asking_after_the_cursor_brings_everything_that_is_missing(had, lost):
    """Whatever the host has above the cursor includes all that we lack of it."""
    host = set(range(31))
    cursor = held(*(had - lost)).cursor()
    answer = {each for each in host if cursor is None or each > cursor}

    assert host <= answer | (had - lost)


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (Answer(Reached.ANSWERED, 200), None),
        (Answer(Reached.ANSWERED, 404), Trouble.RUN),
        (Answer(Reached.ANSWERED, 410), Trouble.RUN),
        (Answer(Reached.ANSWERED, 400), Trouble.RUN),
        (Answer(Reached.ANSWERED, 401), Trouble.HOST),
        (Answer(Reached.ANSWERED, 403), Trouble.HOST),
        (Answer(Reached.ANSWERED, 429), Trouble.HOST),
        (Answer(Reached.ANSWERED, 302), Trouble.HOST),
        (Answer(Reached.ANSWERED, 500), Trouble.HOST),
        (Answer(Reached.NO_ANSWER, why="timeout"), Trouble.HOST),
        (Answer(Reached.NOT_SENT, why="refused"), Trouble.HOST),
        (Answer(Reached.FORBIDDEN, why="The address is private."), Trouble.HOST),
    ],
)
def test_trouble_is_the_hosts_or_one_runs(answer, trouble):
    assert trouble_in(answer) is trouble


def test_rests_double_up_to_the_longest():
    rests = [rest_s(n, longest_s=900, jitter=0.5) for n in range(1, 12)]

    assert rests[:4] == [5, 10, 20, 40]
    assert rests[-1] == 900
    assert rest_s(10_000, longest_s=900, jitter=0.5) == 900


@given(st.integers(1, 60), st.floats(0, 1))
def test_chance_moves_a_rest_by_a_quarter_at_most(failures, jitter):
    middle = rest_s(failures, longest_s=900, jitter=0.5)

    assert 0.75 * middle <= rest_s(failures, longest_s=900, jitter=jitter) <= 1.25 * middle


def test_a_host_that_asks_for_more_patience_gets_it_within_reason():
    assert rest_s(1, longest_s=900, jitter=0.5, asked_s=120) == 120
    assert rest_s(5, longest_s=900, jitter=0.5, asked_s=1) == 80
    assert rest_s(1, longest_s=900, jitter=0.5, asked_s=1e12) == LONGEST_WISH_S


def after(look, failures=0, quiet=0):
    return next_look(look, failures=failures, quiet=quiet, now=NOW, patience=Patience(), jitter=0.5)


def wait_of(found):
    return None if found.at is None else (found.at - NOW).total_seconds()


def test_a_whole_log_is_asked_for_no_more():
    assert after(Look(WHOLE, news=3)).at is None


def test_a_bell_during_the_look_asks_again_at_once():
    assert after(Look(WHOLE, was_rung=True)).at == NOW
    gave_up = Look(LIVE, trouble=Trouble.RUN, was_rung=True)
    assert after(gave_up, failures=50).at is not None


def test_a_run_that_tells_something_is_asked_again_soon():
    assert wait_of(after(Look(LIVE, news=1), quiet=9)) == 1


def test_a_quiet_run_is_asked_less_and_less():
    waits = [wait_of(after(Look(LIVE), quiet=n)) for n in range(12)]

    assert waits[:4] == [2, 4, 8, 16]
    assert waits[-1] == 300


@pytest.mark.parametrize(
    "look",
    [
        Look(Held(last=4, missing=[(1, 2)], has_ended=True)),
        Look(LIVE, host_says_it_ended=True),
    ],
)
def test_what_should_be_over_and_is_not_whole_is_given_up_after_a_while(look):
    assert after(look, quiet=GIVES_UP_AFTER - 2).at is not None
    assert after(look, quiet=GIVES_UP_AFTER - 1).at is None


def test_a_run_that_the_host_does_not_know_is_given_up_after_a_while():
    look = Look(Held(), trouble=Trouble.RUN)

    assert after(look, failures=GIVES_UP_AFTER - 2).at is not None
    assert after(look, failures=GIVES_UP_AFTER - 1).at is None


def test_a_run_of_a_host_in_trouble_is_never_given_up():
    look = Look(LIVE, trouble=Trouble.HOST, asked_s=30)
    found = after(look, failures=1000, quiet=2)

    assert found.at == NOW + timedelta(seconds=900)
    assert (found.failures, found.quiet) == (1001, 2)


def test_success_ends_the_count_of_failures():
    assert after(Look(LIVE, news=1), failures=9).failures == 0


@pytest.mark.parametrize(
    ("is_known", "is_settled", "listed_as_over", "wanted"),
    [
        (False, False, True, True),
        (False, False, False, True),
        (True, False, False, False),
        (True, True, True, False),
        (True, True, False, True),
    ],
)
def test_a_listed_run_is_read_when_it_is_new_or_goes_on_after_all(
    is_known, is_settled, listed_as_over, wanted
):
    assert (
        wants_look(is_known=is_known, is_settled=is_settled, listed_as_over=listed_as_over)
        is wanted
    )
