"""What stands in a person's way, as the API says it: status, code and reason, never a value.

Source of the codes: OpenWOP v1 error registry; reasons are the Console's own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runs.refusal import Refusal
from verification.actions.askers import MayNotAsk
from verification.actions.job_people import NothingToApprove
from verification.actions.queues import NotAdmin
from verification.actions.redrive import NotRedrivable
from verification.actions.replays import KeyUsedForAnother
from verification.domain.choices import TextRequired
from verification.domain.decisions import UnreadableDecision
from verification.domain.errors import VerificationError
from verification.domain.jobs.refusals import JobRefused
from verification.domain.refusals import (
    AlreadyClaimed,
    AlreadyExpired,
    AlreadyResolved,
    AlreadyReviewed,
    AlreadySettled,
    ClaimLapsed,
    ConflictOfInterest,
    NoSuchMove,
    NotAllowed,
    NotClaimed,
    NotEligible,
    StaleView,
    UndoTooLate,
)
from verification.domain.resume import NotOffered
from verification.domain.resume_schema import ResumeMismatch

_INVALID, _CLOSED = "validation_error", "interrupt_already_resolved"
_BY_KIND: dict[type[VerificationError], tuple[int, str, str]] = {
    NotAllowed: (403, "forbidden", "role"),
    NotAdmin: (403, "forbidden", "role"),
    NotEligible: (403, "forbidden", "not_eligible"),
    ConflictOfInterest: (403, "forbidden", "self_approval"),
    AlreadyClaimed: (409, "version_conflict", "claimed_by_another"),
    NotClaimed: (409, "version_conflict", "not_claimed"),
    ClaimLapsed: (409, "version_conflict", "claim_lapsed"),
    AlreadyReviewed: (409, "version_conflict", "already_reviewed"),
    StaleView: (409, "version_conflict", "stale"),
    AlreadyExpired: (410, "interrupt_expired", "expired"),
    AlreadySettled: (409, _CLOSED, "settled"),
    UndoTooLate: (409, _CLOSED, "undo_too_late"),
    NoSuchMove: (409, _CLOSED, "no_such_move"),
    NotRedrivable: (409, "version_conflict", "not_redrivable"),
    NotOffered: (400, _INVALID, "action_not_allowed"),
    TextRequired: (400, _INVALID, "text_required"),
    ResumeMismatch: (400, _INVALID, "resume_schema"),
    UnreadableDecision: (400, _INVALID, "unreadable"),
    MayNotAsk: (403, "forbidden", "scope"),
    NothingToApprove: (409, "conflict", "no_plan_waits"),
    JobRefused: (400, _INVALID, "not_possible"),
}


@contextmanager
def translated() -> Iterator[None]:
    """Raise as the API says it what stands in the way of a move that is made once."""
    try:
        yield
    except VerificationError as refused:
        raise refusal_of(refused) from refused
    except KeyUsedForAnother as used:
        raise Refusal(409, "idempotency_key_mismatch", str(used)) from used


def refusal_of(refused: VerificationError) -> Refusal:
    """Return how the API says it."""
    for kind in type(refused).__mro__:
        if kind in _BY_KIND:
            status, error, reason = _BY_KIND[kind]
            return Refusal(status, error, str(refused), {"reason": reason, **_details(refused)})
    return Refusal(400, _INVALID, str(refused), {"reason": "not_possible"})


def _details(refused: VerificationError) -> dict[str, Any]:
    match refused:
        case AlreadyClaimed(by=by, until=until):
            return {"by": by, "until": until}
        case StaleView(changed=changed, since=since):
            return {"changed": list(changed), "since": since}
        case UnreadableDecision() | JobRefused():
            return {"pointer": refused.pointer, "reason": refused.reason}
        case TextRequired(which=which):
            return {"pointer": f"/{which}"}
        case NotOffered(offered=offered):
            return {"pointer": "/action", "offered": [each.value for each in offered]}
        case AlreadyResolved(because=because, by=by):
            return {"because": because, "by": by}
        case AlreadySettled(because=because):
            return {"because": because}
        case _:
            return {}
