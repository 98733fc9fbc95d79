"""Who holds an escalation: claim, extend, release, reassign, and what closes it without a decision.

Each checks the rules of `verification.domain.lifecycle` under the lock, and writes the row, the
run's line and the audit entry together. Deciding is `resolving`'s.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from verification.actions import notifying
from verification.actions.judge import judge
from verification.actions.moves import lock, move, open_again, put_on_record, settle, tell_log
from verification.actions.resolving import resolve
from verification.actions.undoing import undo
from verification.domain import lifecycle
from verification.domain.lifecycle import Move, State
from verification.domain.refusals import AlreadySettled, StaleView
from verification.models import Escalation
from verification.situations import person_of, rules_of, situation_of, view_of

__all__ = [
    "claim", "close", "extend", "lapse", "reassign", "release", "resolve", "undo", "view_of",
]  # fmt: skip

CLOSED_BY_ADMIN = "closed_by_admin"


@transaction.atomic
def claim(
    *, escalation: int, by: User, now: datetime | None = None, expected_version: int | None = None
) -> Escalation:
    """Take an escalation for a while.

    Raises:
        AlreadyClaimed: somebody else holds it; says who and until when.
        VerificationError: any other reason of `lifecycle.check_may_claim`.
    """
    now = now or timezone.now()
    run, found = lock(escalation)
    check_version(found, expected_version)
    person = person_of(by, run.workspace_id, found.queue)
    lifecycle.check_may_claim(situation_of(found), person, now)
    _take(found, by, now, Move.CLAIM)
    tell_log(run, found, "claimed", now, by=by, until=_until(found))
    notifying.stop(escalation=found, because="claimed")
    judge(run=run, now=now)
    put_on_record(found, "claimed", by)
    return found


@transaction.atomic
def extend(
    *, escalation: int, by: User, now: datetime | None = None, expected_version: int | None = None
) -> Escalation:
    """Renew a claim, as the open page's heartbeat does."""
    now = now or timezone.now()
    run, found = lock(escalation)
    check_version(found, expected_version)
    person = person_of(by, run.workspace_id, found.queue)
    lifecycle.check_may_extend(situation_of(found), person, now)
    found.claim_until = now + rules_of(found.queue).lease
    found.save(update_fields=["claim_until"])
    return found


@transaction.atomic
def release(
    *, escalation: int, by: User, now: datetime | None = None, expected_version: int | None = None
) -> Escalation:
    """Give a claim back, so that somebody else may take it."""
    now = now or timezone.now()
    run, found = lock(escalation)
    check_version(found, expected_version)
    person = person_of(by, run.workspace_id, found.queue)
    lifecycle.check_may_release(situation_of(found), person, now)
    open_again(found, Move.RELEASE)
    tell_log(run, found, "released", now, by=by)
    judge(run=run, now=now)
    put_on_record(found, "released", by)
    return found


@transaction.atomic
def reassign(
    *, escalation: int, by: User, to: User, now: datetime | None = None,
    expected_version: int | None = None,
) -> Escalation:  # fmt: skip
    """Hand an escalation to somebody who may claim it, whoever holds it now."""
    now = now or timezone.now()
    run, found = lock(escalation)
    check_version(found, expected_version)
    giver = person_of(by, run.workspace_id, found.queue)
    taker = person_of(to, run.workspace_id, found.queue)
    lifecycle.check_may_reassign(situation_of(found), giver, taker, now)
    _take(found, to, now, Move.REASSIGN)
    tell_log(run, found, "claimed", now, by=to, until=_until(found))
    notifying.stop(escalation=found, because="claimed")
    judge(run=run, now=now)
    put_on_record(found, "reassigned", by, to=to.pk)
    return found


@transaction.atomic
def close(
    *, escalation: int, by: User, now: datetime | None = None, expected_version: int | None = None
) -> Escalation:
    """Close an escalation as moot: nobody has to decide it. An admin's move; it opens no gate."""
    now = now or timezone.now()
    run, found = lock(escalation)
    check_version(found, expected_version)
    lifecycle.check_role(person_of(by, run.workspace_id, found.queue), Move.CLOSE)
    if State(found.state) in lifecycle.SETTLED:
        raise AlreadySettled(found.closed_because)
    settle(found, Move.CLOSE, CLOSED_BY_ADMIN, now)
    tell_log(run, found, "closed", now, by=by, because=CLOSED_BY_ADMIN)
    notifying.stop(escalation=found, because="moot")
    judge(run=run, now=now)
    put_on_record(found, "closed", by)
    return found


@transaction.atomic
def lapse(*, escalation: int, now: datetime | None = None) -> bool:
    """Open an escalation whose claim ran out; false if it did not, after all."""
    now = now or timezone.now()
    run, found = lock(escalation)
    situation = situation_of(found)
    if situation.state is not State.CLAIMED or lifecycle.is_claimed(situation, now):
        return False
    open_again(found, Move.LAPSE)
    tell_log(run, found, "lapsed", now)
    judge(run=run, now=now)
    return True


def check_version(found: Escalation, expected: int | None) -> None:
    """Pass when the caller knows the escalation as it is, or does not say.

    Raises:
        StaleView: it changed since.
    """
    if expected is not None and expected != found.version:
        raise StaleView(("escalation",), since=found.run.last_position)


def _take(found: Escalation, who: User, now: datetime, step: Move) -> None:
    found.claimed_by, found.claimed_at = who, now
    found.claim_until = now + rules_of(found.queue).lease
    found.first_claimed_at = found.first_claimed_at or now
    move(found, step, ["claimed_by", "claimed_at", "claim_until", "first_claimed_at"])


def _until(found: Escalation) -> str:
    return found.claim_until.isoformat() if found.claim_until else ""
