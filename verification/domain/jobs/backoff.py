"""When to call again a model that could not answer, and when not to."""

from datetime import datetime, timedelta

from verification.domain.consensus.failures import Failure, FailureKind

LONGEST_WAIT = timedelta(seconds=30)


def may_try_again(failure: Failure, failed_attempts: int, most: int) -> bool:
    """Say whether another call could do better, this one having been the nth that failed."""
    return (
        failure.is_retryable
        and failure.kind in (FailureKind.PROVIDER, FailureKind.TIMEOUT)
        and failed_attempts < most
    )


def next_attempt(
    failed_attempts: int, now: datetime, *, asked_s: float | None, chance: float
) -> datetime:
    """Return when: what the provider asked for, else half a second doubled, never in step.

    Args:
        failed_attempts: calls that have failed, this one included.
        now: our clock.
        asked_s: seconds from the provider's `Retry-After`, if it sent one.
        chance: from 0 to 1; spreads calls that failed together.
    """
    doubled = 0.5 * 2.0 ** (failed_attempts - 1)
    wait = timedelta(seconds=max(asked_s or 0.0, doubled) + doubled * chance)
    return now + min(wait, LONGEST_WAIT)


def may_have_cost(failure: Failure) -> bool:
    """Say whether a call without a reply may have been paid for all the same.

    What timed out or was called off may have been answered on the other side.
    """
    return failure.kind in (FailureKind.TIMEOUT, FailureKind.CANCELLATION)
