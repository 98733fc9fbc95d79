"""What people decide: alone, as one of several, by a turn that settles nothing; and taken back.

A decision is bound to what was on screen and is made once. Where a queue wants several reviews
each is a vote that nobody else sees; where the host's own quorum does, each vote is sent to it.
"""

from dataclasses import dataclass, replace
from datetime import datetime

import orjson
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs.models import Run
from verification.actions import notifying
from verification.actions.content import keep
from verification.actions.job_people import wake
from verification.actions.judge import judge
from verification.actions.moves import lock, open_again, put_on_record, settle, tell_log
from verification.actions.outbox import post, tell_by_webhook
from verification.domain import lifecycle, resume
from verification.domain.choices import check_chosen
from verification.domain.decisions import LEAVES_OPEN, LETS_THROUGH, Action, Decision
from verification.domain.freshness import View
from verification.domain.frozen import frozen
from verification.domain.interrupt_request import InterruptRequest
from verification.domain.lifecycle import Move, Person, Rules
from verification.domain.notifying import Note
from verification.domain.outgoing import Resolved
from verification.domain.refusals import StaleView
from verification.domain.resume import Decided, Resume
from verification.domain.reviews import Agreed, MoreNeeded, Review, tally
from verification.models import Comment, Draft, Escalation, Resolution, Vote
from verification.situations import (
    approvals_wanted,
    choices_of,
    conflicted,
    interrupt_of,
    matter_of,
    opaque_id,
    person_of,
    rules_of,
    situation_of,
    view_of,
)

Said = Resolution | Vote | Comment
"""What became of it: decided; one say of several; a turn, after which somebody still decides."""


@dataclass(frozen=True, slots=True)
class _Case:
    """Everything about one submission, read under the lock."""

    run: Run
    escalation: Escalation
    by: User
    person: Person
    decision: Decision
    seen: View
    interrupt: InterruptRequest | None
    now: datetime

    @property
    def rules(self) -> Rules:
        return rules_of(self.escalation.queue)


@transaction.atomic
def resolve(
    *, escalation: int, by: User, decision: Decision, seen: View | None,
    now: datetime | None = None, expected_version: int | None = None, expected_matter: str = "",
    expected_position: int | None = None,
) -> Said:  # fmt: skip
    """Record what a person decided and put it on its way to the host.

    Args:
        escalation: which.
        by: who; their claim must be in force.
        decision: read and checked for form.
        seen: what was on screen, as `view_of` gave it; None: what the version says.
        now: our clock; tests give it.
        expected_version: the escalation's, as the person saw it.
        expected_matter: its digest, likewise.
        expected_position: the run's last line that they had seen, likewise.

    Raises:
        StaleView: the matter changed since it was seen.
        NotOffered, VerificationError: the action is not possible here, or not for this person.
    """
    now = now or timezone.now()
    run, found = lock(escalation)
    current = view_of(found)
    saw = _as_seen(found, current, seen, expected_version, expected_matter)
    if expected_position is not None:
        saw = replace(saw, position=min(saw.position, expected_position))
    person = person_of(by, run.workspace_id, found.queue)
    case = _Case(run, found, by, person, decision, saw, interrupt_of(found), now)
    _check(case, current)
    if decision.action in LEAVES_OPEN:
        return _take_turn(case)
    if approvals_wanted(case.interrupt) > found.votes.count() + 1:
        return _vote_at_host(case)
    return _speak(case)


def _as_seen(
    found: Escalation, current: View, seen: View | None, version: int | None, matter: str
) -> View:
    """Return what the person saw; never more of the run than there is."""
    stale = version is not None and version != found.version
    if stale or (matter and matter != matter_of(found)):
        raise StaleView(("escalation",) if stale else ("subject",), since=_seen_at(seen))
    seen = seen or current
    return replace(seen, position=min(seen.position, current.position))


def _seen_at(seen: View | None) -> int:
    return -1 if seen is None else seen.position


def _check(case: _Case, current: View) -> None:
    """Pass when the person may say this now."""
    situation = situation_of(case.escalation)
    if case.decision.action in LETS_THROUGH:
        situation = replace(situation, conflicted=conflicted(case.escalation))
    # Lines that do not touch the matter may have come since: they make nothing stale.
    now_shown = replace(current, position=case.seen.position)
    lifecycle.check_may_vote(
        situation, case.person, case.decision.action, case.seen, now_shown, case.now, case.rules
    )
    check_chosen(choices_of(case.escalation, case.interrupt), case.decision)


def _speak(case: _Case) -> Said:
    """Count a person's say; it decides when all who are needed agree, or when a lead speaks."""
    outcome = resume.resume_for(_decided(case), case.interrupt)  # refuses what cannot be sent
    found = case.escalation
    vote = _vote(case)
    reviews = [
        Review(each.by.get_username(), Action(each.action), each.at, each.is_leads)
        for each in found.votes.select_related("by")
    ]
    required = lifecycle.reviews_required(case.decision.action, case.rules)
    match tally(reviews, 1 if vote.is_leads else required):
        case Agreed() if vote.is_leads or _mean_the_same(found):
            return _settle(case, outcome)
        case MoreNeeded(missing):
            return _wait_for_others(case, vote, missing)
        case _:
            return _hand_to_lead(case, vote)


def _mean_the_same(found: Escalation) -> bool:
    said = found.votes.filter(is_leads=False).values_list("substance", flat=True)
    return len(set(said)) <= 1


def _vote(case: _Case) -> Vote:
    said = case.decision
    substance = frozen({"answers": dict(said.answers), "edited": said.edited}).sha256
    return Vote.objects.create(
        escalation=case.escalation,
        by=case.by,
        at=case.now,
        action=said.action,
        substance=substance,
        reason=said.reason,
        is_leads=case.escalation.handed_to_lead_at is not None,
    )


def _wait_for_others(case: _Case, vote: Vote, missing: int) -> Vote:
    """Open it for the next; what was said shows to nobody yet, in no log either."""
    found = case.escalation
    open_again(found, Move.VOTE)
    tell_log(case.run, found, "voted", case.now, by=case.by, missing=missing)
    judge(run=case.run, now=case.now)
    notifying.tell(escalation=found, note=Note.OPENED, now=case.now)
    _forget_draft(case)
    put_on_record(found, "voted", case.by, missing=missing)
    return vote


def _hand_to_lead(case: _Case, vote: Vote) -> Vote:
    found = case.escalation
    found.handed_to_lead_at = case.now
    found.save(update_fields=["handed_to_lead_at"])
    open_again(found, Move.VOTE)
    tell_log(case.run, found, "voted", case.now, by=case.by, missing=0)
    judge(run=case.run, now=case.now)
    notifying.tell(escalation=found, note=Note.HANDED_TO_LEAD, now=case.now)
    _forget_draft(case)
    put_on_record(found, "handed_to_lead", case.by)
    return vote


def _vote_at_host(case: _Case) -> Vote:
    """Send one of several votes that the host counts itself; the next person is asked."""
    outcome = resume.resume_for(_decided(case), case.interrupt)
    found, vote = case.escalation, _vote(case)
    if isinstance(outcome, Resume):
        post(
            escalation=found, run=case.run, value=outcome, source=vote, now=case.now,
            at=case.now + case.rules.undo,
        )  # fmt: skip
    missing = approvals_wanted(case.interrupt) - found.votes.count()
    return _wait_for_others(case, vote, missing)


def _settle(case: _Case, outcome: resume.Resume | resume.NothingToDeliver) -> Resolution:
    found, action = case.escalation, case.decision.action
    resolution = _record(case)
    tell_log(case.run, found, "resolved", case.now, by=case.by, action=action.value)
    leaves_at = case.now + case.rules.undo
    if isinstance(outcome, Resume):
        post(
            escalation=found, run=case.run, value=outcome, source=resolution, now=case.now,
            at=leaves_at,
        )  # fmt: skip
    judge(run=case.run, now=case.now)
    if not isinstance(outcome, Resume):
        tell_by_webhook(
            escalation=found, run=case.run, resolution=resolution, told=_told(case), now=case.now,
            at=leaves_at,
        )  # fmt: skip
    wake(case.run)
    notifying.stop(escalation=found, because="resolved")
    _forget_draft(case)
    put_on_record(found, "resolved", case.by, action=action.value, seen=case.seen.digest)
    return resolution


def _told(case: _Case) -> Resolved:
    decision = case.decision
    says = {Action.OVERRIDE: "pass", Action.SEND_BACK: "revise", Action.UPHOLD: "fail"}
    return Resolved(
        escalation=str(case.escalation.pk),
        run_id=case.run.run_id,
        action=decision.action,
        decided_at=case.now,
        decided_by=opaque_id(case.by),
        target=case.escalation.target,
        node_id=(case.escalation.interrupt or {}).get("nodeId", ""),
        decision=says.get(decision.action, ""),
        feedback=decision.feedback,
    )


def _record(case: _Case) -> Resolution:
    found, decision, now = case.escalation, case.decision, case.now
    content = None
    if decision.feedback or decision.answers or decision.edited is not None:
        said = {
            "feedback": decision.feedback,
            "answers": dict(decision.answers),
            "edited": decision.edited,
        }
        content = keep(workspace=found.workspace_id, kind="decision", body=orjson.dumps(said))
    resolution = Resolution.objects.create(
        escalation=found,
        action=decision.action,
        by=case.by,
        at=now,
        reason=decision.reason,
        content=content,
        seen_position=case.seen.position,
        seen_digest=case.seen.digest,
        seconds_to_claim=_seconds(found.opened_at, found.first_claimed_at),
        seconds_to_decide=_seconds(found.claimed_at, now),
    )
    settle(found, Move.RESOLVE, decision.action.value, now)
    return resolution


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return (end - start).total_seconds() if start and end else None


def _take_turn(case: _Case) -> Comment:
    """Say something after which somebody still has to decide: a turn to the host, or to others."""
    found, action = case.escalation, case.decision.action
    outcome = resume.resume_for(_decided(case), case.interrupt)
    text = case.decision.feedback or case.decision.reason
    content = keep(workspace=found.workspace_id, kind="comment", body=text.encode())
    comment = Comment.objects.create(
        escalation=found, by=case.by, at=case.now, kind=action.value, content=content
    )
    if isinstance(outcome, Resume):
        post(
            escalation=found, run=case.run, value=outcome, source=comment, now=case.now,
            at=case.now + case.rules.undo,
        )  # fmt: skip
        tell_log(case.run, found, "turn", case.now, by=case.by, action=action.value, n=comment.pk)
    else:
        open_again(found, Move.RELEASE)
        tell_log(case.run, found, "released", case.now, by=case.by)
        judge(run=case.run, now=case.now)
        notifying.tell(escalation=found, note=Note.OPENED, now=case.now)
    _forget_draft(case)
    put_on_record(
        found, "turn" if isinstance(outcome, Resume) else "released", case.by, action=action.value
    )
    return comment


def _decided(case: _Case) -> Decided:
    return Decided(case.decision, case.now, opaque_id(case.by))


def _forget_draft(case: _Case) -> None:
    Draft.objects.filter(escalation=case.escalation, by=case.by).delete()
