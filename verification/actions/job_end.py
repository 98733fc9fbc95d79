"""Ends a job: its verdict, its run's last events, and its word on a host's run, all or nothing."""

from datetime import datetime

from django.conf import settings

from verification import bells
from verification.actions import job_traces
from verification.actions.content import digest_of, keep
from verification.actions.job_runs import tell_answer, tell_end
from verification.domain.consensus.observed import Observed
from verification.domain.consensus.result import Basis, GateVerdict, Result, gate_verdict
from verification.domain.consensus.team_result import TeamResult
from verification.domain.jobs.request import SUBMITTED
from verification.domain.jobs.states import JobState
from verification.domain.jobs.told import told_basis
from verification.models import Job


def conclude(job: Job, result: Result | TeamResult, shown: Observed, now: datetime) -> None:
    """End a locked job with its result."""
    assert isinstance(result, Result)  # noqa: S101  (the only operation so far)
    job_traces.keep_observed(job, shown, now)
    job_traces.keep_criteria(job, result)
    basis = told_basis(result.basis, job.stop)
    job.rounds = result.rounds
    _keep_last_answer(job, result.answer, now)
    _end(job, JobState.DONE, basis, gate_verdict(basis), now)


def break_off(job: Job, because: str, now: datetime) -> None:
    """End a locked job that cannot come to a result: nothing passes."""
    job.broken_because = because[:32]
    job_traces.close_spans(job, now)
    _end(job, JobState.BROKEN, None, GateVerdict.FAIL, now)


def _keep_last_answer(job: Job, answer: str, now: datetime) -> None:
    """Tell of an answer that nobody has judged any more: a revision that met the budget."""
    if not answer:
        return
    body = answer.encode("utf-8", "surrogatepass")
    if digest_of(body) == job.answer_sha256:
        return
    content = keep(workspace=job.workspace_id, kind="job.answer", body=body)
    agent = (job.shape["proposers"] or [{"name": SUBMITTED}])[0]["name"]
    tell_answer(job=job, agent=agent, content=content, now=now)


def _end(
    job: Job, state: JobState, basis: Basis | None, verdict: GateVerdict, now: datetime
) -> None:
    job.state, job.verdict = state.value, verdict.value
    job.basis = "" if basis is None else basis.value
    job.ended_at, job.lease_until = now, None
    if settings.OTLP_TRACES:
        job.export_at = now
        bells.ring(bells.EXPORT, job.pk)
    job.save()
    tell_end(job=job, now=now)
