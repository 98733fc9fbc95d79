"""What each answer of a host asks for."""

import pytest

from verification.domain.answer import (
    Answer,
    Meaning,
    Reached,
    may_have_applied,
    may_try_token,
    meaning_of,
)


def answered(status, code=""):
    return Answer(Reached.ANSWERED, status, code)


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        (answered(200), Meaning.TAKEN),
        (answered(202, "whatever"), Meaning.TAKEN),
        (answered(204), Meaning.TAKEN),
        (answered(100), Meaning.TRY_AGAIN),
        (answered(302), Meaning.TRY_AGAIN),
        (answered(303), Meaning.TRY_AGAIN),
        (answered(400, "validation_error"), Meaning.REFUSED),
        (answered(400, "idempotency_key_invalid"), Meaning.STOP),
        (answered(401, "unauthenticated"), Meaning.STOP),
        (answered(403, "forbidden"), Meaning.STOP),
        (answered(403, "id_tenant_mismatch"), Meaning.STOP),
        (answered(404, "interrupt_not_found"), Meaning.GONE),
        (answered(404), Meaning.GONE),
        (answered(405), Meaning.REFUSED),
        (answered(408), Meaning.TRY_AGAIN),
        (answered(409, "interrupt_already_resolved"), Meaning.CLOSED),
        (answered(409, "run_terminal"), Meaning.CLOSED),
        (answered(409), Meaning.CLOSED),
        (answered(409, "idempotency_in_flight"), Meaning.TRY_AGAIN),
        (answered(409, "idempotency_key_mismatch"), Meaning.STOP),
        (answered(409, "idempotency_key_conflict"), Meaning.STOP),
        (answered(409, "idempotency_key_replay_mismatch"), Meaning.STOP),
        (answered(410, "interrupt_expired"), Meaning.GONE),
        (answered(410, "interrupt_gone"), Meaning.GONE),
        (answered(410, "openwop-app.interrupt_gone"), Meaning.GONE),
        (answered(413), Meaning.REFUSED),
        (answered(422, "correlation_mismatch"), Meaning.REFUSED),
        (answered(422, "interrupt_cancelled"), Meaning.GONE),
        (answered(425), Meaning.TRY_AGAIN),
        (answered(429, "rate_limited"), Meaning.TRY_AGAIN),
        (answered(500, "internal_error"), Meaning.TRY_AGAIN),
        (answered(500, "idempotency_key_mismatch"), Meaning.TRY_AGAIN),
        (answered(501), Meaning.TRY_AGAIN),
        (answered(503), Meaning.TRY_AGAIN),
        (answered(599), Meaning.TRY_AGAIN),
        (Answer(Reached.NO_ANSWER, why="timeout"), Meaning.TRY_AGAIN),
        (Answer(Reached.NO_ANSWER, why="reset"), Meaning.TRY_AGAIN),
        (Answer(Reached.NO_ANSWER, why="garbled"), Meaning.TRY_AGAIN),
        (Answer(Reached.NOT_SENT, why="refused"), Meaning.TRY_AGAIN),
        (Answer(Reached.NOT_SENT, why="name"), Meaning.TRY_AGAIN),
        (Answer(Reached.NOT_SENT, why="tls"), Meaning.TRY_AGAIN),
        (Answer(Reached.FORBIDDEN, why="private"), Meaning.STOP),
    ],
)
def test_every_answer_has_one_meaning(answer, meaning):
    assert meaning_of(answer) is meaning


@pytest.mark.parametrize("status", range(100, 600))
def test_nothing_but_a_2xx_counts_as_taken(status):
    assert (meaning_of(answered(status)) is Meaning.TAKEN) == (200 <= status < 300)


@pytest.mark.parametrize(
    ("answer", "may"),
    [
        (Answer(Reached.NO_ANSWER, why="timeout"), True),
        (Answer(Reached.NO_ANSWER, why="garbled"), True),
        (Answer(Reached.NOT_SENT, why="refused"), False),
        (Answer(Reached.FORBIDDEN, why="private"), False),
        (answered(500), True),
        (answered(303), True),
        (answered(408), True),
        (answered(200), True),
        (answered(404), False),
        (answered(409, "interrupt_already_resolved"), False),
        (answered(429), False),
    ],
)
def test_an_attempt_may_have_applied_unless_its_answer_excludes_it(answer, may):
    assert may_have_applied([(answer.status, answer.outcome)]) is may


def test_one_unclear_attempt_among_many_is_enough():
    tries = [(404, "answered"), (None, "no_answer timeout"), (None, "not_sent refused")]

    assert may_have_applied(tries)
    assert not may_have_applied(tries[::2])
    assert not may_have_applied([])


def test_an_outcome_fits_its_column():
    assert answered(409, "x" * 200).outcome == ("answered " + "x" * 200)[:64]
    assert answered(204).outcome == "answered"
    assert Answer(Reached.NO_ANSWER, why="timeout").outcome == "no_answer timeout"


@pytest.mark.parametrize(
    ("answer", "may"),
    [
        (answered(404, "not_found"), True),
        (answered(405), True),
        (answered(501, "capability_not_provided"), True),
        (answered(404, "interrupt_not_found"), False),
        (answered(401), False),
        (answered(200), False),
    ],
)
def test_the_token_surface_is_tried_only_where_the_other_is_missing(answer, may):
    assert may_try_token(answer) is may
