"""What a host's answer to a decision asks for.

An outcome that is not known stays one; it is never read as a refusal.
"""

from collections.abc import Iterable
from enum import StrEnum

from runs.domain.host_answer import Answer, Reached
from verification.domain.host_errors import canonical_code

__all__ = ["Answer", "Meaning", "Reached", "may_have_applied", "may_try_token", "meaning_of"]


class Meaning(StrEnum):
    """What an answer asks for."""

    TAKEN = "taken"
    TRY_AGAIN = "try_again"
    CLOSED = "closed"
    """Answered or changed already: the log says by what."""
    GONE = "gone"
    """Not there, or no longer: perhaps because of an earlier attempt."""
    REFUSED = "refused"
    STOP = "stop"
    """Nothing will help before somebody repairs something."""


_BY_CODE = {
    "idempotency_in_flight": Meaning.TRY_AGAIN,
    "idempotency_key_mismatch": Meaning.STOP,
    "idempotency_key_invalid": Meaning.STOP,
    "interrupt_cancelled": Meaning.GONE,
    "interrupt_gone": Meaning.GONE,
}
_BY_STATUS = {
    401: Meaning.STOP,
    403: Meaning.STOP,
    404: Meaning.GONE,
    408: Meaning.TRY_AGAIN,
    409: Meaning.CLOSED,
    410: Meaning.GONE,
    425: Meaning.TRY_AGAIN,
    429: Meaning.TRY_AGAIN,
}


def meaning_of(answer: Answer) -> Meaning:
    """Return what an answer asks for, before anything is known about earlier attempts.

    Source: OpenWOP interrupt.md (resolve surfaces), errors.md, idempotency.md.
    """
    status = answer.status
    if answer.reached is Reached.FORBIDDEN:
        return Meaning.STOP
    if answer.reached is not Reached.ANSWERED or status is None:
        return Meaning.TRY_AGAIN
    if 200 <= status < 300:
        return Meaning.TAKEN
    if 400 <= status < 500:
        by_code = _BY_CODE.get(canonical_code(answer.code))
        return by_code or _BY_STATUS.get(status, Meaning.REFUSED)
    return Meaning.TRY_AGAIN


def may_have_applied(tries: Iterable[tuple[int | None, str]]) -> bool:
    """Say whether the host may have taken the decision in one of the tries.

    Args:
        tries: (status, outcome) of each, as `Answer` gives them.
    """
    return any(
        outcome.startswith(Reached.NO_ANSWER)
        if status is None
        else status == 408 or 200 <= status < 400 or status >= 500
        for status, outcome in tries
    )


def may_try_token(answer: Answer) -> bool:
    """Say whether the interrupt's token is worth trying: the host lacks the run-scoped surface."""
    return answer.status in {404, 405, 501} and canonical_code(answer.code) not in {
        "interrupt_not_found",
        "run_not_found",
    }
