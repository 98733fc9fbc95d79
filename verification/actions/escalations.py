"""What people do with escalations: claim, extend, release, resolve.

Every action locks the run first and the escalation second, as the judging side does, checks the
rules of `verification.domain.lifecycle`, and writes the row, the run's line and the audit entry
together.
"""

import hashlib
import uuid
from dataclasses import replace
from datetime import datetime, timedelta

import orjson
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs.actions.log import console_line
from runs.actions.runs import locked, note
from runs.models import Event, Membership, Role, Run
from verification import bells
from verification.actions.audit import actor_of, record
from verification.actions.content import keep
from verification.actions.judge import judge
from verification.domain import lifecycle, resume
from verification.domain.choices import Choice, check_chosen, choices
from verification.domain.decisions import Decision
from verification.domain.delivery import State as DeliveryState
from verification.domain.freshness import View
from verification.domain.frozen import FrozenBody, resume_body
from verification.domain.interrupt_request import InterruptRequest, read_interrupt
from verification.domain.lifecycle import Move, Person, Situation, State
from verification.domain.resume import Decided
from verification.models import Delivery, Escalation, Gate, Resolution, Verdict


def rules() -> lifecycle.Rules:
    """Return the queue's settings as rules."""
    return lifecycle.Rules(
        lease=timedelta(seconds=settings.CLAIM_TTL_S), undo=timedelta(seconds=settings.UNDO_S)
    )


def person_of(user: User, workspace: int) -> Person:
    """Return the user as the rules see them: with their role in the workspace."""
    if user.is_superuser:
        return Person(user.get_username(), Role.ADMIN.value)
    membership = Membership.objects.filter(user=user, workspace=workspace).first()
    return Person(user.get_username(), membership.role if membership else Role.VIEWER.value)


def situation_of(escalation: Escalation) -> Situation:
    """Return the escalation as the rules see it."""
    holder = escalation.claimed_by
    return Situation(
        state=State(escalation.state),
        claimed_by=holder.get_username() if holder else None,
        claim_until=escalation.claim_until,
        closed_because=escalation.closed_because,
    )


def view_of(escalation: Escalation) -> View:
    """Return what a decision is about, as it is now: the gate, its verdicts, the interrupt."""
    gate = Gate.objects.filter(run=escalation.run_id, target=escalation.target).first()
    standing = Verdict.objects.filter(
        run=escalation.run_id, target=escalation.target, standing=True
    ).values_list("event_id", flat=True)
    # A gate in review is a blocked one that somebody holds: claiming must not make the view stale.
    subject = [
        gate.subject_event_id if gate else "",
        escalation.reasons,
        (escalation.interrupt or {}).get("interruptId"),
    ]
    return View(
        version=0,
        position=escalation.run.last_position,
        digest=hashlib.sha256(repr(subject).encode()).hexdigest(),
        verdicts=frozenset(standing),
    )


@transaction.atomic
def claim(*, escalation: int, by: User, now: datetime | None = None) -> Escalation:
    """Take an escalation for a while.

    Raises:
        AlreadyClaimed: somebody else holds it; says who and until when.
        VerificationError: any other reason of `lifecycle.check_may_claim`.
    """
    now = now or timezone.now()
    run, found = _lock(escalation)
    person = person_of(by, run.workspace_id)
    lifecycle.check_may_claim(situation_of(found), person, now)
    found.claimed_by, found.claimed_at = by, now
    found.claim_until = now + rules().lease
    _move(found, Move.CLAIM, ["claimed_by", "claimed_at", "claim_until"])
    _tell(run, found, "claimed", now, by=by, until=found.claim_until.isoformat())
    judge(run=run, now=now)
    _audit(found, "claimed", by)
    return found


@transaction.atomic
def extend(*, escalation: int, by: User, now: datetime | None = None) -> Escalation:
    """Renew a claim, as the open page's heartbeat does."""
    now = now or timezone.now()
    run, found = _lock(escalation)
    lifecycle.check_may_extend(situation_of(found), person_of(by, run.workspace_id), now)
    found.claim_until = now + rules().lease
    found.save(update_fields=["claim_until"])
    return found


@transaction.atomic
def release(*, escalation: int, by: User, now: datetime | None = None) -> Escalation:
    """Give a claim back, so that somebody else may take it."""
    now = now or timezone.now()
    run, found = _lock(escalation)
    lifecycle.check_may_release(situation_of(found), person_of(by, run.workspace_id), now)
    _open_again(found, Move.RELEASE)
    _tell(run, found, "released", now, by=by)
    judge(run=run, now=now)
    _audit(found, "released", by)
    return found


@transaction.atomic
def lapse(*, escalation: int, now: datetime | None = None) -> bool:
    """Open an escalation whose claim ran out; false if it did not, after all."""
    now = now or timezone.now()
    run, found = _lock(escalation)
    situation = situation_of(found)
    if situation.state is not State.CLAIMED or lifecycle.is_claimed(situation, now):
        return False
    _open_again(found, Move.LAPSE)
    _tell(run, found, "lapsed", now)
    judge(run=run, now=now)
    return True


@transaction.atomic
def resolve(
    *, escalation: int, by: User, decision: Decision, seen: View, now: datetime | None = None
) -> Resolution:
    """Record what a person decided and put it on its way to the host.

    Args:
        escalation: which.
        by: who; their claim must be in force.
        decision: read and checked for form.
        seen: what was on screen, as `view_of` gave it.
        now: our clock; tests give it.

    Raises:
        StaleView: the matter changed since it was seen.
        NotOffered, VerificationError: the action is not possible here, or not for this person.
    """
    now = now or timezone.now()
    run, found = _lock(escalation)
    person = person_of(by, run.workspace_id)
    # Lines that do not touch the matter may have come since: they make nothing stale.
    current = replace(view_of(found), position=seen.position)
    lifecycle.check_may_resolve(
        situation_of(found), person, decision.action, seen, current, now, rules()
    )
    interrupt = interrupt_of(found)
    check_chosen(choices_of(found, interrupt), decision)
    outcome = resume.resume_for(Decided(decision, now, opaque_id(by)), interrupt)
    resolution = _record(found, decision, seen, by, now)
    _tell(run, found, "resolved", now, by=by, action=decision.action.value)
    if isinstance(outcome, resume.Resume):
        _post(run, found, resolution, resume_body(outcome.value), now)
    judge(run=run, now=now)
    _audit(found, "resolved", by, action=decision.action.value, seen=seen.digest)
    return resolution


def choices_of(escalation: Escalation, interrupt: InterruptRequest | None) -> tuple[Choice, ...]:
    """Return what a person can decide about an escalation, the most cautious first."""
    gate = Gate.objects.filter(run=escalation.run_id, target=escalation.target).first()
    offered = choices(escalation.reasons, gate.state if gate else None, interrupt)
    return tuple(choice for choice in offered if not choice.leaves_open)


def opaque_id(user: User) -> str:
    """Return the id by which hosts know who decided: the same each time, and no personal data."""
    return str(uuid.uuid5(uuid.UUID(settings.CONSOLE_UUID), f"person:{user.pk}"))


def interrupt_of(escalation: Escalation) -> InterruptRequest | None:
    """Return the host's pause that an escalation is tied to, read from the lines about it."""
    pause = escalation.interrupt
    if pause is None:
        return None
    lines = Event.objects.filter(run=escalation.run_id, sequence__in=pause["sequences"])
    payloads = [each for each in lines.values_list("payload", flat=True) if isinstance(each, dict)]
    return read_interrupt({"kind": pause["kind"]}, *payloads, node_id=pause["nodeId"])


def _record(
    found: Escalation, decision: Decision, seen: View, by: User, now: datetime
) -> Resolution:
    content = None
    if decision.feedback or decision.answers or decision.edited is not None:
        said = {
            "feedback": decision.feedback,
            "answers": decision.answers,
            "edited": decision.edited,
        }
        content = keep(workspace=found.workspace_id, kind="decision", body=orjson.dumps(said))
    resolution = Resolution.objects.create(
        escalation=found,
        action=decision.action,
        by=by,
        at=now,
        reason=decision.reason,
        content=content,
        seen_position=seen.position,
        seen_digest=seen.digest,
    )
    found.claim_until, found.closed_at = None, now
    found.closed_because = decision.action.value
    _move(found, Move.RESOLVE, ["claim_until", "closed_at", "closed_because"])
    return resolution


def _post(
    run: Run, found: Escalation, resolution: Resolution, body: FrozenBody, now: datetime
) -> None:
    """Write the decision into the outbox, as bytes that will not change again."""
    content = keep(workspace=run.workspace_id, kind="resume", body=body.content)
    delivery = Delivery.objects.create(
        resolution=resolution,
        run=run,
        host=run.host,
        node_id=found.interrupt["nodeId"],
        idempotency_key=str(uuid.uuid4()),
        content=content,
        sha256=body.sha256,
        created_at=now,
        state=DeliveryState.WAITING,
        next_attempt_at=now + rules().undo,
    )
    bells.ring(bells.DELIVER, delivery.pk)


def _lock(pk: int) -> tuple[Run, Escalation]:
    run = locked(Escalation.objects.get(pk=pk).run_id)
    found = Escalation.objects.select_for_update(of=("self",)).select_related("claimed_by")
    return run, found.get(pk=pk)


def _move(found: Escalation, move: Move, fields: list[str]) -> None:
    found.state = lifecycle.next_state(State(found.state), move)
    found.version += 1
    found.save(update_fields=["state", "version", *fields])


def _open_again(found: Escalation, move: Move) -> None:
    found.claimed_by = found.claimed_at = found.claim_until = None
    _move(found, move, ["claimed_by", "claimed_at", "claim_until"])


def _tell(
    run: Run, found: Escalation, what: str, now: datetime, by: User | None = None, **more: str
) -> None:
    payload = {"escalation": found.pk, "target": found.target, **more}
    if by is not None:
        payload["by"] = by.get_username()
    line = console_line(
        event_id=f"console:escalation:{found.pk}:{found.version}:{what}",
        type=f"console.escalation.{what}",
        at=now,
        payload=payload,
    )
    note(run=run, lines=[line], now=now)


def _audit(found: Escalation, what: str, by: User, **detail: str) -> None:
    record(
        workspace=found.workspace_id,
        actor=actor_of(by),
        action=f"escalation.{what}",
        subject=f"escalation:{found.pk}",
        detail={"version": found.version, **detail},
    )
