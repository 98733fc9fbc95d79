"""Refusals say in one sentence what stands in the way."""

from datetime import UTC, datetime

from verification.domain.errors import VerificationError
from verification.domain.refusals import (
    AlreadyExpired,
    AlreadyMoot,
    AlreadyResolved,
    ClaimLapsed,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_a_settled_escalation_says_how_and_why():
    assert str(AlreadyResolved()) == "The escalation was already decided."
    assert str(AlreadyMoot("run cancelled")) == "The escalation became moot: run cancelled."
    assert str(AlreadyExpired()) == "The escalation expired."


def test_a_lapsed_claim_says_when():
    assert "2026-11-30 12:00:00" in str(ClaimLapsed(NOON))


def test_all_of_them_are_caught_as_one():
    assert issubclass(AlreadyResolved, VerificationError)
