"""What a queue does with what nobody decided in time: keep waiting, ask a lead, or fail closed.

A timer is the row itself, looked at again under the lock when its time has come. No policy lets
anything through; what is sent to a host says no, and says that nobody said it.
"""

from datetime import datetime

from django.db import transaction

from verification.actions import notifying
from verification.actions.judge import judge
from verification.actions.moves import TIMEOUT, lock, put_on_record, settle, tell_log
from verification.actions.outbox import post
from verification.domain.decisions import Action, Decision
from verification.domain.interrupt_request import InterruptRequest
from verification.domain.lifecycle import Move
from verification.domain.notifying import Note
from verification.domain.resume import Decided, Resume, offered_by, resume_for
from verification.domain.resume_schema import ResumeMismatch
from verification.domain.timing import OnTimeout, step_when_due
from verification.models import Escalation
from verification.situations import interrupt_of, situation_of

_SAYS_NO = (Action.REJECT, Action.DECLINED)


def pass_due(now: datetime) -> None:
    """Take the step of every escalation whose time is over."""
    over = Escalation.objects.waiting().filter(due_at__lte=now)
    over = over.exclude(queue=None).exclude(queue__on_timeout=OnTimeout.KEEP_WAITING.value)
    for pk in over.order_by("due_at").values_list("pk", flat=True)[:200]:
        pass_one(escalation=pk, now=now)


@transaction.atomic
def pass_one(*, escalation: int, now: datetime) -> Move | None:
    """Take the step that one escalation is due for, if it still is; return which."""
    run, found = lock(escalation)
    policy = OnTimeout(found.queue.on_timeout) if found.queue else OnTimeout.KEEP_WAITING
    step = step_when_due(situation_of(found), found.due_at, now, policy)
    if step is Move.REASSIGN and found.handed_to_lead_at is None:
        found.handed_to_lead_at = now
        found.version += 1
        found.save(update_fields=["handed_to_lead_at", "version"])
        tell_log(run, found, "handed_to_lead", now, by=None, actor=TIMEOUT)
        notifying.tell(escalation=found, note=Note.HANDED_TO_LEAD, now=now)
        put_on_record(found, "handed_to_lead", TIMEOUT)
        return step
    if step is not Move.EXPIRE:
        return None
    settle(found, Move.EXPIRE, "timeout", now)
    tell_log(run, found, "closed", now, because="timeout", actor=TIMEOUT)
    no = _no(interrupt_of(found), now)
    if no is not None:
        post(escalation=found, run=run, value=no, source=None, now=now, at=now)
    notifying.stop(escalation=found, because="expired")
    notifying.tell(escalation=found, note=Note.EXPIRED, now=now)
    judge(run=run, now=now)
    put_on_record(found, "expired", TIMEOUT, sent=no is not None)
    return step


def _no(interrupt: InterruptRequest | None, now: datetime) -> Resume | None:
    """Return the answer that says no, where the host's pause takes one."""
    if interrupt is None:
        return None
    for action in _SAYS_NO:
        if action in offered_by(interrupt):
            try:
                value = resume_for(Decided(Decision(action), now, TIMEOUT), interrupt)
            except ResumeMismatch:
                return None
            return value if isinstance(value, Resume) else None
    return None
