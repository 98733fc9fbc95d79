"""Says what a job needs next, and does at once whatever takes no call.

A call is written into the ledger before it is handed out: what it may cost is set aside, and a
worker that is killed on the way leaves a trace of it.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction

from runs import live
from verification import judges
from verification.actions import job_traces
from verification.actions.content import digest_of, keep
from verification.actions.job_end import break_off, conclude
from verification.actions.job_leases import Lease, held
from verification.actions.job_records import settle, start_step
from verification.actions.job_runs import tell_answer
from verification.domain.consensus.asks import Ask, AskJudge, AskProposer
from verification.domain.consensus.failures import Failure, FailureKind, Status
from verification.domain.consensus.history import HistoryMismatch, Phase, Usage
from verification.domain.consensus.prompts import Prompt, UnusableNonce
from verification.domain.consensus.rule_judges import reply_by_rule
from verification.domain.consensus.steps import Broken, Done, next_step, observed
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.spending import Reservation, reserve
from verification.domain.jobs.states import StepState, Stop
from verification.domain.jobs.verdict_form import verdict_form
from verification.job_ledger import ContentGone, Ledger, load
from verification.judges import Endpoint, Question, Said
from verification.models import Job, JobStep

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
class Over:
    """The job has ended."""


Todo = ToAsk | ToWait | GoOn | Over


@transaction.atomic
def next_todo(*, lease: Lease, now: datetime) -> Todo:
    """Say what is to be done now; what takes no call is done on the way. Raises LeaseLost."""
    job = held(lease, now)
    if job.fruitless > MOST_FRUITLESS:
        return _break_off(job, "crashed", now)
    try:
        ledger = load(job)
        _stop_if_asked(ledger, now)
        step = next_step(ledger.rules, ledger.history)
    except (ContentGone, HistoryMismatch, UnusableNonce, JobRefused) as error:
        return _break_off(job, type(error).__name__, now)
    match step:
        case Done():
            conclude(job, step.result, observed(ledger.rules, ledger.history), now)
            return Over()
        case Broken():
            return _break_off(job, step.cause.value, now)
        case _:
            return _begin(lease, ledger, step, now)


def _break_off(job: Job, because: str, now: datetime) -> Over:
    break_off(job, because, now)
    return Over()


def _stop_if_asked(ledger: Ledger, now: datetime) -> None:
    job = ledger.job
    if job.cancel_asked_at is not None:
        _stop(ledger, Stop.CANCELLED)
    elif job.deadline_at <= now:
        _stop(ledger, Stop.DEADLINE)


def _stop(ledger: Ledger, why: Stop) -> GoOn:
    """Stop before the next call, unless the job was stopped already."""
    job = ledger.job
    if not job.stop:
        job.stop, job.stopped_before = why.value, ledger.settled
        job.save(update_fields=["stop", "stopped_before"])
    return GoOn()


def _begin(lease: Lease, ledger: Ledger, ask: Ask, now: datetime) -> Todo:
    if isinstance(ask, AskJudge):
        _tell_answer(ledger, ask, now)
    said = _said_without_call(ledger, ask)
    if said is not None:
        step = start_step(ledger, ask, lease.fence, now)
        settle(ledger, ask, step, Said(said, Usage(), None), now)
        return GoOn()
    return _prepare_call(lease, ledger, ask, now)


def _tell_answer(ledger: Ledger, ask: AskJudge, now: datetime) -> None:
    """Tell of the answer under judgement when it is another than the last one told."""
    job = ledger.job
    body = ask.answer.encode("utf-8", "surrogatepass")
    if digest_of(body) == job.answer_sha256:
        return
    content = keep(workspace=job.workspace_id, kind="job.answer", body=body)
    tell_answer(job=job, agent=ledger.rules.proposers[0].name, content=content, now=now)


def _said_without_call(ledger: Ledger, ask: Ask) -> str | None:
    """Return what stands in for a model: the answer that came with the request, or a rule."""
    given = ledger.request.answer
    if given is not None and isinstance(ask, AskProposer) and ask.phase is Phase.PROPOSER:
        return given
    if isinstance(ask, AskJudge) and ask.agent.rule is not None:
        return reply_by_rule(ask.agent.rule, ask.answer, ask.nonce)
    return None


def _prepare_call(lease: Lease, ledger: Ledger, ask: Ask, now: datetime) -> Todo:
    step = ledger.step_at(ask.position)
    if step is not None and step.next_attempt_at is not None and step.next_attempt_at > now:
        return ToWait(step.next_attempt_at)
    _count_as_lost(step)
    endpoint = judges.endpoint_named(ask.agent.model)
    if endpoint is None:
        step = start_step(ledger, ask, lease.fence, now)
        settle(ledger, ask, step, _NO_MODEL, now)
        return GoOn()
    reservation = _reserve(ledger, ask.prompt)
    if reservation is None:
        return _stop(ledger, Stop.BUDGET)
    _write_before_call(lease, ledger, ask, reservation, now)
    question = Question(
        prompt=ask.prompt,
        schema=_form(ledger, ask),
        reply_tokens=reservation.reply_tokens,
        timeout_s=settings.MODEL_TIMEOUT_S,
    )
    return ToAsk(ask, endpoint, question)


def _count_as_lost(step: JobStep | None) -> None:
    """Take what a call may have cost as gone: its worker was killed before it could say."""
    if step is not None and step.state == StepState.ASKING:
        step.lost_tokens += step.reserved_tokens
        step.reserved_tokens = 0
        step.save(update_fields=["lost_tokens", "reserved_tokens"])


def _reserve(ledger: Ledger, prompt: Prompt) -> Reservation | None:
    return reserve(
        prompt,
        budget=ledger.job.max_tokens,
        spent=ledger.spent,
        longest_reply=settings.MODEL_REPLY_TOKENS,
    )


def _form(ledger: Ledger, ask: Ask) -> dict[str, Any] | None:
    if not isinstance(ask, AskJudge) or ask.nonce is None:
        return None
    return verdict_form(ask.nonce, ledger.request.criteria)


def _write_before_call(
    lease: Lease, ledger: Ledger, ask: Ask, reservation: Reservation, now: datetime
) -> None:
    step = start_step(ledger, ask, lease.fence, now)
    step.attempts += 1
    step.reserved_tokens = reservation.tokens
    step.save()
    job_traces.keep_observed(ledger.job, observed(ledger.rules, ledger.history), now)
    transaction.on_commit(partial(live.ring, live.run_group(ledger.job.run_id)))
