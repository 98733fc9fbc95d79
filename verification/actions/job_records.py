"""Records how a call ended: once, under the fence, with everything that follows from it."""

import random
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial

from django.conf import settings
from django.db import transaction

from runs import live
from verification.actions import job_traces
from verification.actions.content import keep
from verification.actions.job_leases import Lease, held
from verification.domain.consensus.asks import Ask, AskJudge, AskProposer
from verification.domain.consensus.failures import Failure
from verification.domain.consensus.steps import observed
from verification.domain.jobs import backoff
from verification.domain.jobs.states import SETTLED, StepState, Stop
from verification.domain.jobs.words import failure_document, number_of
from verification.job_ledger import Ledger, load
from verification.judges import Failed, Said
from verification.models import JobStep, JobTask


@transaction.atomic
def record(
    *, lease: Lease, ask: Ask, result: Said | Failed, was_called_off: bool, now: datetime
) -> None:
    """Record the end of a call that the ledger knows of.

    A call that failed but may succeed later is left pending, with the time of its next attempt. One
    that was called off is recorded after the stop, where it decides nothing.

    Raises:
        LeaseLost: another worker has the job; nothing was written.
    """
    job = held(lease, now)
    ledger = load(job)
    step = ledger.step_at(ask.position)
    if step is None or step.state in SETTLED:
        return
    if was_called_off and not job.stop:
        why = Stop.CANCELLED if job.cancel_asked_at is not None else Stop.DEADLINE
        job.stop, job.stopped_before = why.value, ledger.settled
        job.save(update_fields=["stop", "stopped_before"])
    if isinstance(result, Said):
        settle(ledger, ask, step, result, now)
        return
    _release(step, result.failure)
    step.failed_attempts += 1
    may_try_again = not job.stop and backoff.may_try_again(
        result.failure, step.failed_attempts, settings.MODEL_ATTEMPTS
    )
    if may_try_again:
        _postpone(step, result, now)
    else:
        settle(ledger, ask, step, result.failure, now)


def _release(step: JobStep, failure: Failure) -> None:
    """Give back what was set aside, unless the call may have been paid for all the same."""
    if backoff.may_have_cost(failure):
        count_as_lost(step)
    step.reserved_tokens, step.reserved_usd = 0, Decimal(0)


def count_as_lost(step: JobStep) -> None:
    """Take as gone what a call may have cost that nobody will ever say anything of."""
    step.lost_tokens += step.reserved_tokens
    step.lost_usd += step.reserved_usd
    step.reserved_tokens, step.reserved_usd = 0, Decimal(0)


def _postpone(step: JobStep, result: Failed, now: datetime) -> None:
    step.state = StepState.WAITING
    step.next_attempt_at = backoff.next_attempt(
        step.failed_attempts,
        now,
        asked_s=result.retry_after_s,
        chance=random.random(),  # noqa: S311
    )
    step.save()


def start_step(ledger: Ledger, ask: Ask, fence: int, now: datetime) -> JobStep:
    """Return the row of a call that is about to be made, the same one for every attempt."""
    step = ledger.step_at(ask.position)
    if step is None:
        step = JobStep(
            job=ledger.job,
            position=ask.position,
            agent=ask.agent.name,
            model=ask.agent.model,
            phase=ask.phase.value,
            round=ask.round if isinstance(ask, AskJudge | AskProposer) else None,
            task=ask.task or "",
            started_at=now,
        )
    step.state, step.fence, step.next_attempt_at = StepState.ASKING, fence, None
    return step


def settle(ledger: Ledger, ask: Ask, step: JobStep, result: Said | Failure, now: datetime) -> None:
    """Write down how a call ended for good, and what the job shows since."""
    job = ledger.job
    step.settled_as = ledger.settled  # Counted before this one is.
    step.ended_at, step.next_attempt_at = now, None
    step.reserved_tokens, step.reserved_usd = 0, Decimal(0)
    if isinstance(result, Said):
        step.state, step.cost_usd = StepState.ANSWERED, _as_kept(result.cost_usd)
        step.input_tokens = result.usage.input_tokens
        step.output_tokens = result.usage.output_tokens
        body = result.text.encode("utf-8", "surrogatepass")
        step.reply = keep(workspace=job.workspace_id, kind="job.reply", body=body)
    else:
        step.state, step.failure = StepState.FAILED, failure_document(result)
    step.save()
    others = [each for each in ledger.steps if each.position != step.position]
    now_known = replace(ledger, steps=sorted([*others, step], key=lambda each: each.position))
    shown = observed(now_known.rules, now_known.history)
    job_traces.keep_observed(job, shown, now)
    if isinstance(ask, AskJudge):
        job_traces.keep_vote(job, step, shown, now)
    job.fruitless = 0
    job.save(update_fields=["fruitless", "rounds"])
    if step.task:
        JobTask.objects.filter(job=job, number=number_of(step.task)).update(fruitless=0)
    transaction.on_commit(partial(live.ring, live.run_group(job.run_id)))


def _as_kept(usd: Decimal | None) -> Decimal | None:
    """Return a price as its column holds it: what is read back must add up to the same."""
    return None if usd is None else round(usd, 8)
