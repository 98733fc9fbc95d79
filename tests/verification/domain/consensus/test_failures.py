"""Failures are classified by what they are, never by what they say."""

import pytest

from verification.domain.consensus import failures
from verification.domain.consensus.failures import FailureKind, Status


@pytest.mark.parametrize(
    ("http_status", "is_retryable"),
    [(None, True), (400, False), (401, False), (408, True), (409, True), (429, True), (503, True)],
)
def test_an_answer_that_blames_the_caller_is_not_worth_another_try(http_status, is_retryable):
    assert failures.raised(http_status=http_status).is_retryable is is_retryable


def test_an_abort_is_a_cancellation_and_not_an_error():
    failure = failures.raised("AbortError")

    assert (failure.status, failure.kind) == (Status.CANCELLED, FailureKind.CANCELLATION)


def test_what_fails_after_a_cancellation_was_cancelled_unless_it_had_timed_out():
    late = failures.seen_after_abort(failures.raised(http_status=503))

    assert (late.status, late.http_status) == (Status.CANCELLED, 503)
    assert failures.seen_after_abort(failures.CALL_TIMEOUT) is failures.CALL_TIMEOUT
