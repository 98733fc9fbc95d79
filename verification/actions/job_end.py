"""Ends a job: its verdict, its run's last events, and its word on a host's run, all or nothing."""

from datetime import datetime

from django.conf import settings
from django.db.models import F

from verification import bells
from verification.actions import job_traces
from verification.actions.job_runs import tell_answer, tell_end
from verification.actions.job_tasks import break_off_tasks
from verification.domain.consensus.observed import Observed
from verification.domain.consensus.result import GateVerdict, Result, gate_verdict
from verification.domain.consensus.team_result import TeamResult
from verification.domain.jobs.request import SUBMITTED
from verification.domain.jobs.states import JobBasis, JobState
from verification.domain.jobs.task_outcomes import outcome_of, verdict_on_tasks
from verification.domain.jobs.told import told_basis
from verification.models import Job


def conclude(job: Job, result: Result | TeamResult, shown: Observed, now: datetime) -> None:
    """End a locked job with its result; its tasks have been brought up to date before."""
    job_traces.keep_observed(job, shown, now)
    if isinstance(result, TeamResult):
        _conclude_tasks(job, result, now)
        return
    job_traces.keep_criteria(job, result)
    basis = told_basis(result.basis, job.stop)
    job.rounds = result.rounds
    agent = (job.shape["proposers"] or [{"name": SUBMITTED}])[0]["name"]
    # Of an answer that nobody has judged any more, a revision that met the budget, is told here.
    if result.answer:
        tell_answer(of=job, agent=agent, text=result.answer, now=now)
    _end(job, JobState.DONE, JobBasis(basis), gate_verdict(basis), now)


def _conclude_tasks(job: Job, result: TeamResult, now: datetime) -> None:
    coordinator = job.shape["coordinator"]
    if coordinator is not None and result.synthesis is not None and result.synthesis.output:
        tell_answer(of=job, agent=coordinator["name"], text=result.synthesis.output, now=now)
    basis = outcome_of(result, job.stop)
    job.rounds = max((row.rounds for row in job.tasks.all()), default=0)
    _end(job, JobState.DONE, basis, verdict_on_tasks(basis), now)


def break_off(job: Job, because: str, now: datetime) -> None:
    """End a locked job that cannot come to a result: nothing passes."""
    job.broken_because = because[:32]
    job_traces.close_spans(job, now)
    break_off_tasks(job, now)
    _end(job, JobState.BROKEN, None, GateVerdict.FAIL, now)


def _lose_what_is_set_aside(job: Job) -> None:
    """Take calls whose worker was killed as paid for: nobody will ask them again."""
    job.steps.filter(reserved_tokens__gt=0).update(
        lost_tokens=F("lost_tokens") + F("reserved_tokens"),
        lost_usd=F("lost_usd") + F("reserved_usd"),
        reserved_tokens=0,
        reserved_usd=0,
    )


def _end(
    job: Job, state: JobState, basis: JobBasis | None, verdict: GateVerdict | None, now: datetime
) -> None:
    job.state, job.verdict = state.value, "" if verdict is None else verdict.value
    job.basis = "" if basis is None else basis.value
    job.ended_at, job.lease_until, job.paused_at = now, None, None
    job.tasks.update(lease_until=None)
    _lose_what_is_set_aside(job)
    if settings.OTLP_TRACES:
        job.export_at = now
        bells.ring(bells.EXPORT, job.pk)
    job.save()
    tell_end(job=job, now=now)
