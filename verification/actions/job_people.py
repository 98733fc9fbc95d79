"""What a job hears from people: rulings on results that were not accepted, approval of a plan.

A ruling is the ordinary decision on the ordinary escalation of a `fail`; the job only waits for it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from runs.models import Run
from verification import bells
from verification.actions import notifying
from verification.actions.audit import record
from verification.actions.job_leases import locked
from verification.actions.job_records import settle, start_step
from verification.actions.job_runs import tell_going_on
from verification.domain.consensus.asks import AskPerson
from verification.domain.consensus.history import HistoryMismatch, Phase, Usage
from verification.domain.consensus.plan import Approval, PlanSchema
from verification.domain.consensus.schemas import SchemaMismatch
from verification.domain.consensus.steps import standing
from verification.domain.consensus.tasks import LET_THROUGH
from verification.domain.errors import VerificationError
from verification.domain.gates import LETS_THROUGH, GateState
from verification.domain.jobs.plan_changes import digest
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.states import UNFINISHED, StepState
from verification.domain.jobs.team_request import TeamRequest
from verification.domain.refusals import AlreadyResolved, StaleView
from verification.job_ledger import (
    PLAN_APPROVED,
    PLAN_REFUSED,
    ContentGone,
    Ledger,
    load,
    plan_resolution,
)
from verification.judges import Said
from verification.models import Escalation, Gate, Job, JobTask

NOT_LET_THROUGH = "uphold"
_UNDECIDED = (GateState.BLOCKED, GateState.IN_REVIEW, GateState.UNKNOWN)


class NothingToApprove(VerificationError):
    """The job does not wait for anybody to approve its plan."""

    def __init__(self) -> None:
        super().__init__("This job does not wait for a plan to be approved.")


def hear(ledger: Ledger, ask: AskPerson, task: JobTask | None, now: datetime) -> bool:
    """Record what a person has said since, if they have; else that somebody is waited for."""
    said = _ruling(ledger.job, task) if ask.phase is Phase.RULING and task is not None else None
    if said is None:
        _wait(ledger, ask, now)
        return False
    _record(ledger, ask, said, now)
    return True


def _ruling(job: Job, task: JobTask) -> str | None:
    """Return what became of the gate on a task; None while a person has still to decide."""
    assert task.run is not None  # noqa: S101  (its verdict has been told)
    target = task.run.run_id
    gate = Gate.objects.filter(run=job.run_id, target=target).first()
    if gate is None:  # The verdict could not be judged yet: nobody has been asked so far.
        return None
    if gate.state in LETS_THROUGH:
        return LET_THROUGH
    is_open = Escalation.objects.waiting().filter(run=job.run_id, target=target).exists()
    return None if is_open and gate.state in _UNDECIDED else NOT_LET_THROUGH


def _wait(ledger: Ledger, ask: AskPerson, now: datetime) -> None:
    if ledger.step_at(ask.position) is None:
        step = start_step(ledger, ask, 0, now)
        step.state = StepState.WAITING
        step.save()
        if ask.phase is Phase.APPROVAL:  # A result that is waited for is an escalation already.
            notifying.tell_of_plan(job=ledger.job, now=now)


def _record(ledger: Ledger, ask: AskPerson, said: str, now: datetime) -> None:
    job = ledger.job
    if job.paused_at is not None:
        tell_going_on(job=job, now=now)
    settle(ledger, ask, start_step(ledger, ask, 0, now), Said(said, Usage(), None), now)


@transaction.atomic
def decide_on_plan(
    *,
    job: int,
    by: str,
    is_approved: bool,
    seen: str,
    plan: Sequence[Mapping[str, Any]] | None = None,
    now: datetime | None = None,
) -> Job:
    """Let a plan run, as it came or as it was changed, or refuse it.

    Args:
        job: which.
        by: who decides, `person:7`.
        is_approved: whether it may run.
        seen: digest of the plan that was looked at.
        plan: the plan to run instead. Content.
        now: our clock.

    Raises:
        AlreadyResolved: somebody has decided on it.
        NothingToApprove: no plan waits, or what was said so far is gone: the sweep ends the job.
        StaleView: it is another one than was looked at.
        JobRefused: the changed plan cannot be run by this team.
    """
    now = now or timezone.now()
    found = locked(job)
    if (made := plan_resolution(found)) is not None:
        raise AlreadyResolved(made.word, made.by, "plan")
    if found.state not in UNFINISHED:
        raise NothingToApprove
    try:
        ledger = load(found)
        where = standing(ledger.rules, ledger.history)
    except (ContentGone, HistoryMismatch) as gone:
        raise NothingToApprove from gone
    ask = next((each for each in where.pending if each.phase is Phase.APPROVAL), None)
    if not isinstance(ask, AskPerson) or not isinstance(ledger.request, TeamRequest):
        raise NothingToApprove
    proposed = digest(where.proposed or ())
    if seen != proposed:
        raise StaleView(("plan",), since=-1)
    if plan is not None:
        _check_plan(plan, ledger.request)
    _record(ledger, ask, Approval(is_approved, plan).text, now)
    record(
        workspace=found.workspace_id,
        actor=by,
        action=PLAN_APPROVED if is_approved else PLAN_REFUSED,
        subject=f"job:{found.uid}",
        detail={
            "changed": plan is not None,
            "proposed": proposed,
            "approved": digest(plan) if plan is not None else proposed if is_approved else "",
        },
        now=now,
    )
    notifying.stop_plan(job=found)
    bells.ring(bells.RUN_JOB, found.pk)
    return found


def _check_plan(plan: Sequence[Mapping[str, Any]], request: TeamRequest) -> None:
    try:
        PlanSchema(tuple(member.name for member in request.team)).read(plan)
    except SchemaMismatch as error:
        raise JobRefused("plan", "/plan", "This is no plan that this team can run.") from error


def wake(run: Run) -> None:
    """Ring for the job that a run is, if it is one that may have waited for a decision."""
    job = Job.objects.filter(run=run, state__in=UNFINISHED).values_list("pk", flat=True).first()
    if job is not None:
        bells.ring(bells.RUN_JOB, job)
