"""Says what a job needs next, and does at once whatever takes no call.

A call is written into the ledger before it is handed out: what it may cost is set aside, and a
worker that is killed on the way leaves a trace of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction

from runs import live
from verification import bells
from verification.actions import job_people, job_traces
from verification.actions.job_end import break_off, conclude
from verification.actions.job_leases import Lease, fruitless, held, is_held, leave
from verification.actions.job_records import count_as_lost, settle, start_step
from verification.actions.job_runs import tell_answer, tell_pause
from verification.actions.job_tasks import keep_tasks
from verification.calls import Endpoint
from verification.domain.consensus.asks import Ask, AskJudge, AskPerson, AskWorker
from verification.domain.consensus.failures import Failure, FailureKind, Status
from verification.domain.consensus.history import HistoryMismatch, Usage
from verification.domain.consensus.prompts import Prompt, UnusableNonce
from verification.domain.consensus.rules import ConsensusRules
from verification.domain.consensus.steps import Broken, Standing, standing
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.scripted import pause_before, said_without_call, title_of
from verification.domain.jobs.spending import Reservation, reserve
from verification.domain.jobs.states import StepState, Stop
from verification.domain.jobs.verdict_form import verdict_form
from verification.domain.jobs.words import number_of
from verification.endpoints import cost_of, endpoint_named
from verification.job_ledger import ContentGone, Ledger, load
from verification.judges import Question, Said
from verification.models import Job, JobStep, JobTask

MOST_FRUITLESS = 10
"""Leases without anything recorded after which a job is given up: something kills its workers."""
_NO_MODEL = Failure(Status.ERROR, FailureKind.PROVIDER, False, "MODEL_UNKNOWN", "UnknownModel")


@dataclass(frozen=True, slots=True)
class ToAsk:
    """A call to make, already in the ledger."""

    ask: Ask
    endpoint: Endpoint
    question: Question


@dataclass(frozen=True, slots=True)
class ToWait:
    """Nothing is to be done before a moment."""

    until: datetime


@dataclass(frozen=True, slots=True)
class GoOn:
    """Something was recorded that took no call; ask again what is next."""


@dataclass(frozen=True, slots=True)
class Left:
    """Nothing can be done here for now: others were rung, or will ring. The lease was let go."""


@dataclass(frozen=True, slots=True)
class Over:
    """The job has ended."""


Todo = ToAsk | ToWait | GoOn | Left | Over


@dataclass(frozen=True, slots=True)
class _Look:
    """A locked job as a worker finds it."""

    lease: Lease
    ledger: Ledger
    standing: Standing
    tasks: Mapping[int, JobTask]
    now: datetime

    @property
    def job(self) -> Job:
        return self.ledger.job

    @property
    def others_at_work(self) -> bool:
        """Say whether other workers are at tasks of this job."""
        others = [row for row in self.tasks.values() if row.number != self.lease.task]
        return any(is_held(row, self.now) for row in others)


@transaction.atomic
def next_todo(*, lease: Lease, now: datetime) -> Todo:
    """Say what is to be done now; what takes no call is done on the way. Raises LeaseLost."""
    job = held(lease, now)
    if fruitless(lease, job) > MOST_FRUITLESS:
        return _break_off(job, "crashed", now)
    try:
        ledger = load(job)
        _stop_if_asked(ledger, now)
        where = standing(ledger.rules, ledger.history)
    except (ContentGone, HistoryMismatch, UnusableNonce, JobRefused) as error:
        return _break_off(job, type(error).__name__, now)
    look = _Look(lease, ledger, where, keep_tasks(job, where.tasks, now), now)
    if where.end is None:
        return _go_on(look)
    if look.others_at_work:
        return _leave(look)  # Who is still at a call writes down what it cost, and ends the job.
    if isinstance(where.end, Broken):
        return _break_off(job, where.end.cause.value, now)
    conclude(job, where.end.result, where.observed, now)
    return Over()


def _go_on(look: _Look) -> Todo:
    """Do what belongs to this lease; ring others for what belongs to tasks that nobody is at."""
    mine = None
    for ask in look.standing.pending:
        lane = number_of(ask.task or "")
        if isinstance(ask, AskPerson):
            if job_people.hear(look.ledger, ask, look.tasks.get(lane), look.now):
                return GoOn()
        elif lane == look.lease.task:
            mine = ask
        else:
            _ring(look, lane)
    return _leave(look) if mine is None else _begin(look, mine)


def _ring(look: _Look, lane: int) -> None:
    """Ring for a task, or for the job itself; once is enough for as long as a lease lasts."""
    row = look.tasks[lane] if lane else look.job
    waited = look.now - timedelta(seconds=settings.JOB_LEASE_S)
    if is_held(row, look.now):
        return
    if isinstance(row, JobTask):
        if row.rung_at is not None and row.rung_at > waited:
            return
        row.rung_at = look.now
        row.save(update_fields=["rung_at"])
    bells.ring(bells.RUN_JOB, look.job.pk, lane)


def _leave(look: _Look) -> Left:
    pending = look.standing.pending
    only_people = bool(pending) and all(isinstance(ask, AskPerson) for ask in pending)
    if only_people and look.job.paused_at is None:
        tell_pause(job=look.job, now=look.now)
    leave(lease=look.lease, job=look.job, now=look.now)
    return Left()


def _break_off(job: Job, because: str, now: datetime) -> Over:
    break_off(job, because, now)
    return Over()


def _stop_if_asked(ledger: Ledger, now: datetime) -> None:
    job = ledger.job
    if job.cancel_asked_at is not None:
        _stop(ledger, Stop.CANCELLED)
    elif job.deadline_at <= now and job.paused_at is None:
        _stop(ledger, Stop.DEADLINE)


def _stop(ledger: Ledger, why: Stop) -> GoOn:
    """Stop before the next call, unless the job was stopped already."""
    job = ledger.job
    if not job.stop:
        job.stop, job.stopped_before = why.value, ledger.settled
        job.save(update_fields=["stop", "stopped_before"])
    return GoOn()


def _begin(look: _Look, ask: Ask) -> Todo:
    ledger, now = look.ledger, look.now
    if isinstance(ask, AskJudge):
        _tell_answer(look, ask)
    step = ledger.step_at(ask.position)
    if step is None:
        step = _postponed(look, ask)
    if step is not None and step.next_attempt_at is not None and step.next_attempt_at > now:
        return ToWait(step.next_attempt_at)
    said = said_without_call(ledger.request, ask, title_of(look.standing.tasks, ask.task))
    if said is None:
        return _prepare_call(look, ask, step)
    step = start_step(ledger, ask, look.lease.fence, now)
    result = Said(said, Usage(), None) if isinstance(said, str) else said
    settle(ledger, ask, step, result, now)
    return GoOn()


def _postponed(look: _Look, ask: Ask) -> JobStep | None:
    """Write down a call that is not to be made yet: another attempt, or a reply with a pause."""
    wait_s = ask.wait_ms / 1000 if isinstance(ask, AskWorker) else 0.0
    wait_s = max(wait_s, pause_before(look.ledger.request, ask))
    if not wait_s:
        return None
    step = start_step(look.ledger, ask, look.lease.fence, look.now)
    step.state, step.next_attempt_at = StepState.WAITING, look.now + timedelta(seconds=wait_s)
    step.save()
    return step


def _tell_answer(look: _Look, ask: AskJudge) -> None:
    """Tell of the answer under judgement when it is another than the last one told."""
    rules = look.ledger.rules
    if isinstance(rules, ConsensusRules):
        tell_answer(of=look.job, agent=rules.proposers[0].name, text=ask.answer, now=look.now)
        return
    row = look.tasks[number_of(ask.task or "")]
    tell_answer(of=row, agent=row.assignee, text=ask.answer, now=look.now)


def _prepare_call(look: _Look, ask: Ask, step: JobStep | None) -> Todo:
    ledger, now = look.ledger, look.now
    if step is not None and step.state == StepState.ASKING:  # Its worker was killed.
        count_as_lost(step)
        step.save()
    endpoint = endpoint_named(ask.agent.model)
    if endpoint is None:
        step = start_step(ledger, ask, look.lease.fence, now)
        settle(ledger, ask, step, _NO_MODEL, now)
        return GoOn()
    reservation = _reserve(ledger, ask.prompt, endpoint)
    if look.others_at_work and _is_short(reservation):
        return _leave(look)  # What others have set aside may come back; they ring.
    if reservation is None:
        return _stop(ledger, Stop.BUDGET)
    _write_before_call(look, ask, reservation)
    question = Question(
        prompt=ask.prompt,
        schema=_form(ledger, ask),
        reply_tokens=reservation.reply_tokens,
        timeout_s=settings.MODEL_TIMEOUT_S,
    )
    return ToAsk(ask, endpoint, question)


def _reserve(ledger: Ledger, prompt: Prompt, endpoint: Endpoint) -> Reservation | None:
    return reserve(
        prompt,
        budget=ledger.job.max_tokens,
        spent=ledger.spent,
        longest_reply=settings.MODEL_REPLY_TOKENS,
        dollars=ledger.job.max_cost_usd,
        price=partial(cost_of, endpoint),
    )


def _is_short(reservation: Reservation | None) -> bool:
    return reservation is None or reservation.reply_tokens < settings.MODEL_REPLY_TOKENS


def _form(ledger: Ledger, ask: Ask) -> dict[str, Any] | None:
    if not isinstance(ask, AskJudge) or ask.nonce is None:
        return None
    return verdict_form(ask.nonce, ledger.request.criteria)


def _write_before_call(look: _Look, ask: Ask, reservation: Reservation) -> None:
    step = start_step(look.ledger, ask, look.lease.fence, look.now)
    step.attempts += 1
    step.reserved_tokens, step.reserved_usd = reservation.tokens, reservation.usd
    step.save()
    job_traces.keep_observed(look.job, look.standing.observed, look.now)
    transaction.on_commit(partial(live.ring, live.run_group(look.job.run_id)))
