"""Turns rows about one escalation into the values that the rules of reviewing are about.

Nothing is decided here and nothing is written; whoever calls it for a decision holds the lock.
"""

import hashlib
import uuid
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.conf import settings
from django.contrib.auth.models import User

from runs.models import Event, Membership, Role
from verification.domain import lifecycle
from verification.domain.choices import Choice, choices
from verification.domain.decisions import Action
from verification.domain.freshness import View
from verification.domain.interests import matching, people_named
from verification.domain.interrupt_request import InterruptKind, InterruptRequest, read_interrupt
from verification.domain.lifecycle import Person, Situation, State
from verification.domain.timing import due_at
from verification.models import Escalation, Gate, Queue, Verdict

DECIDERS = (Role.REVIEWER.value, Role.ADMIN.value)
"""Who decides about escalations."""
MAY_ASK = (Role.OPERATOR.value, Role.REVIEWER.value, Role.ADMIN.value)
"""Who starts jobs, decides on their plans and cancels them."""


def rules_of(queue: Queue | None) -> lifecycle.Rules:
    """Return a queue's settings as rules; what it leaves open is the Console's setting."""
    return lifecycle.Rules(
        lease=timedelta(seconds=(queue and queue.lease_s) or settings.CLAIM_TTL_S),
        undo=timedelta(seconds=settings.UNDO_S),
        required_reviews=queue.required_reviews if queue else 1,
        second_person_for=frozenset(Action(each) for each in queue.second_person_for)
        if queue
        else frozenset(),
        bars_conflicts=queue.bars_conflicts if queue else True,
    )


def due_at_of(escalation: Escalation, since: datetime, asks: InterruptRequest | None) -> datetime:
    """Return when somebody should have decided: the queue's time, or the host's if it is sooner."""
    queue = escalation.queue
    due_after = timedelta(seconds=(queue and queue.due_s) or settings.REVIEW_DUE_S)
    return due_at(since, due_after, asks.timeout_ms if asks else None)


def person_of(user: User, workspace: int, queue: Queue | None = None) -> Person:
    """Return the user as the rules see them: with their role, and whether they lead the queue."""
    role = role_of(user, workspace)
    is_lead = role == Role.ADMIN.value
    if not is_lead and queue is not None and role == Role.REVIEWER.value:
        is_lead = queue.leads.filter(pk=user.pk).exists()
    return Person(user.get_username(), role, is_lead)


def role_of(user: User, workspace: int) -> str:
    """Return the user's role in a workspace; without one they are a viewer of nothing."""
    if user.is_superuser:
        return Role.ADMIN.value
    membership = Membership.objects.filter(user=user, workspace=workspace).first()
    return membership.role if membership else Role.VIEWER.value


def situation_of(escalation: Escalation) -> Situation:
    """Return the escalation as the rules see it."""
    holder = escalation.claimed_by
    spoken = escalation.votes.filter(is_leads=False).values_list("by__username", flat=True)
    is_for_leads = escalation.handed_to_lead_at is not None
    return Situation(
        state=State(escalation.state),
        claimed_by=holder.get_username() if holder else None,
        claim_until=escalation.claim_until,
        closed_because=escalation.closed_because,
        eligible=leads_of(escalation) if is_for_leads else approvers_of(escalation),
        reviewed_by=frozenset(spoken),
    )


def leads_of(escalation: Escalation) -> frozenset[str]:
    """Return who leads the escalation's queue: those it names, and the workspace's admins."""
    named = escalation.queue.leads.values_list("username", flat=True) if escalation.queue else ()
    admins = Membership.objects.filter(workspace=escalation.workspace_id, role=Role.ADMIN.value)
    rulers = User.objects.filter(is_superuser=True).values_list("username", flat=True)
    return frozenset(named) | frozenset(admins.values_list("user__username", flat=True)) | {*rulers}


def approvers_of(escalation: Escalation) -> frozenset[str] | None:
    """Return the only people who may decide, where the host names some whom the Console knows.

    Hosts name approvers in their own words; a list in which nobody of ours is found is the host's
    to enforce.
    """
    interrupt = interrupt_of(escalation)
    if interrupt is None or not interrupt.approvers:
        return None
    names = frozenset(each.lower() for each in interrupt.approvers)
    return _members_named(escalation.workspace_id, names) or None


def conflicted(escalation: Escalation) -> frozenset[str]:
    """Return who started the run or owns its actor, as far as the host says so."""
    gate = Gate.objects.filter(run=escalation.run_id, target=escalation.target).first()
    ours = Event.objects.filter(run=escalation.run_id)
    payloads = list(ours.filter(type="run.started").values_list("payload", flat=True)[:1])
    if gate is not None and gate.subject_position is not None:
        payloads += ours.filter(position=gate.subject_position).values_list("payload", flat=True)
    names = people_named(*payloads)
    return _members_named(escalation.workspace_id, names) if names else frozenset()


def view_of(escalation: Escalation) -> View:
    """Return what a decision is about, as it is now: the gate, its verdicts, the interrupt."""
    gate = Gate.objects.filter(run=escalation.run_id, target=escalation.target).first()
    standing = Verdict.objects.filter(
        run=escalation.run_id, target=escalation.target, standing=True
    ).values_list("event_id", flat=True)
    return View(
        version=0,
        position=escalation.run.last_position,
        digest=view_digest(escalation, gate.subject_event_id if gate else ""),
        verdicts=frozenset(standing),
    )


def view_digest(escalation: Escalation, subject: str) -> str:
    """Return a digest over the gate's subject, by its event id, the reasons and the interrupt.

    A gate in review is a blocked one that somebody holds: claiming must not make the view stale.
    """
    pause = (escalation.interrupt or {}).get("interruptId")
    return hashlib.sha256(repr([subject, escalation.reasons, pause]).encode()).hexdigest()


def matter_of(escalation: Escalation) -> str:
    """Return one digest over all that a decision is about."""
    view = view_of(escalation)
    return matter_digest(view.digest, view.verdicts)


def matter_digest(view: str, standing: Collection[str]) -> str:
    """Return it from the digest of the view and the ids of the standing verdicts."""
    return hashlib.sha256(f"{view}:{sorted(standing)}".encode()).hexdigest()


def choices_of(escalation: Escalation, interrupt: InterruptRequest | None) -> tuple[Choice, ...]:
    """Return what a person can decide about an escalation, the most cautious first."""
    gate = Gate.objects.filter(run=escalation.run_id, target=escalation.target).first()
    return choices(escalation.reasons, gate.state if gate else None, interrupt)


def interrupt_of(escalation: Escalation) -> InterruptRequest | None:
    """Return the host's pause that an escalation is tied to, read from the lines about it."""
    pause = escalation.interrupt
    if pause is None:
        return None
    lines = Event.objects.filter(run=escalation.run_id, sequence__in=pause["sequences"])
    payloads = [each for each in lines.values_list("payload", flat=True) if isinstance(each, dict)]
    said = asked_of(escalation)
    return read_interrupt({"kind": pause["kind"]}, *payloads, *said, node_id=pause["nodeId"])


def asked_of(escalation: Escalation) -> list[dict[str, Any]]:
    """Return what the host said when it was asked about its pause; nothing, if it was not."""
    body = bytes(escalation.asked.body) if escalation.asked is not None else b""
    document = orjson.loads(body) if body else None
    return [document] if isinstance(document, dict) else []


def tells_enough(interrupt: InterruptRequest | None) -> bool:
    """Say whether a pause is described well enough to answer it without asking the host."""
    if interrupt is None:
        return True
    return bool(
        interrupt.actions or interrupt.questions or interrupt.correlation
        or interrupt.resume_schema is not None or interrupt.decision is not None
    )  # fmt: skip


def approvals_wanted(interrupt: InterruptRequest | None) -> int:
    """Return how many people the host's own quorum asks for; 1 where it asks for none."""
    is_approval = interrupt is not None and interrupt.kind is InterruptKind.APPROVAL
    return interrupt.required_approvals if interrupt is not None and is_approval else 1


def opaque_id(user: User) -> str:
    """Return the id by which hosts know who decided: the same each time, and no personal data."""
    return opaque_name(f"person:{user.pk}")


def opaque_name(actor: str) -> str:
    """Return the name under which whoever acts is told outside: of a person, an opaque id.

    Args:
        actor: as audit entries name it: `person:7`, `key:ab12`, `system:demo`.
    """
    if not actor.startswith("person:"):
        return actor
    return str(uuid.uuid5(uuid.UUID(settings.CONSOLE_UUID), actor))


def _members_named(workspace: int, names: frozenset[str]) -> frozenset[str]:
    members = User.objects.filter(memberships__workspace=workspace)
    known = ((u.username, (u.username, u.email, opaque_id(u))) for u in members)
    return matching(names, known)
