"""Reads jobs for the API and the pages: lists, one job, what it has spent."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Q, Sum

from runs.domain.timestamps import written
from runs.models import Viewer
from verification.domain.consensus.history import Phase
from verification.domain.consensus.queue import ENDED
from verification.domain.consensus.result import Result
from verification.domain.consensus.steps import Done, next_step
from verification.domain.errors import VerificationError
from verification.domain.jobs.given import GIVEN
from verification.domain.jobs.request import RULE
from verification.domain.jobs.states import JobState, Operation, StepState
from verification.domain.jobs.words import number_of
from verification.job_ledger import load
from verification.models import Job, JobStep, JobTask, JudgeVote
from verification.models.job import JobQuerySet
from verification.queries.job_tasks import team_view
from verification.queries.team_documents import team_document

PAGE = 50


@dataclass(frozen=True, slots=True)
class Account:
    """What a job has cost so far."""

    used: int
    """Tokens that models reported."""
    set_aside: int
    """For a call under way."""
    lost: int
    """Of calls that may have been paid for although no reply came."""
    budget: int | None
    cost_usd: Decimal
    unpriced: int
    """Replies for which no price is known."""


def jobs_page(viewer: Viewer, query: Mapping[str, str]) -> dict[str, Any]:
    """Return `{jobs, next}`: one page of the jobs that the viewer sees, newest first."""
    jobs = Job.objects.visible_to(viewer).select_related("run__host", "about_run__host")
    if query.get("state") in list(JobState):
        jobs = jobs.filter(state=query["state"])
    cursor = query.get("cursor", "")
    if cursor.isascii() and cursor.isdigit() and len(cursor) < 19:
        jobs = jobs.filter(pk__lt=int(cursor))
    found = list(jobs.order_by("-pk")[: PAGE + 1])
    phases = phases_of(found)
    return {
        "jobs": [job_document(job, phase=phases[job.pk]) for job in found[:PAGE]],
        "next": str(found[PAGE - 1].pk) if len(found) > PAGE else None,
    }


def job_document(job: Job, *, whole: bool = False, phase: str = "") -> dict[str, Any]:
    """Return a job as the API shows it.

    Args:
        job: with its run and host.
        phase: what it is doing; empty: it is looked up.
        whole: with votes, spending and, once it has ended, the result with its words.
    """
    document: dict[str, Any] = {
        "id": str(job.uid),
        "operation": job.operation,
        "state": job.state,
        "phase": phase or phase_of(job),
        "verdict": job.verdict or None,
        "basis": job.basis or None,
        "rounds": job.rounds,
        **_agreed(job),
        "runId": str(job.uid),
        "host": job.run.host.slug,
        "about": _about(job),
        "createdAt": written(job.created_at),
        "startedAt": written(job.started_at),
        "endedAt": written(job.ended_at),
        "deadlineAt": written(job.deadline_at),
        "stop": job.stop or None,
        "brokenBecause": job.broken_because or None,
    }
    if whole:
        document["votes"] = [_vote(vote) for vote in job.votes.order_by("pk")]
        document["spending"] = _spending(account_of(job))
        document["result"] = _result(job) if job.has_ended else None
        team = team_view(job)
        if team is not None:
            document |= team_document(team)
    return document


def _agreed(job: Job) -> dict[str, Any]:
    names = (
        "proposers", "judges", "mode", "quorum", "maxRounds", "onDissent", "criteria", "team",
        "coordinator", "atOnce", "onRejected", "approvePlan", "maxCostBudget",
    )  # fmt: skip
    return {name: job.shape.get(name) for name in names} | {"maxTokenBudget": job.max_tokens}


def _about(job: Job) -> dict[str, str] | None:
    if job.about_run is None:
        return None
    return {
        "runId": job.about_run.run_id,
        "host": job.about_run.host.slug,
        "target": job.about_target,
    }


def _vote(vote: Any) -> dict[str, Any]:
    return {
        "task": number_of(vote.task) or None,
        "round": vote.round,
        "judge": vote.judge,
        "accepted": vote.accepted,
        "callFailed": vote.call_failed,
        "criteria": vote.criteria,
        "at": written(vote.at),
    }


def _spending(account: Account) -> dict[str, Any]:
    return {
        "tokens": account.used,
        "setAside": account.set_aside,
        "lost": account.lost,
        "budget": account.budget,
        "costUsd": str(account.cost_usd),
        "unpricedReplies": account.unpriced,
    }


def tokens_of(jobs: Collection[Job]) -> dict[int, int]:
    """Return the tokens that models reported, by job; a job without any is not in it."""
    used = Sum(F("input_tokens") + F("output_tokens"))
    rows = JobStep.objects.filter(job__in=jobs).order_by().values_list("job")
    return dict(rows.annotate(used=used))


def dissent_in(jobs: Collection[Job]) -> dict[int, int]:
    """Return how many votes were against, by job; a job without any is not in it."""
    rows = JudgeVote.objects.filter(job__in=jobs, accepted=False).order_by().values_list("job")
    return dict(rows.annotate(votes=Count("pk")))


@dataclass(frozen=True, slots=True)
class Tasks:
    """How many tasks a job has."""

    ended: int
    all: int


def tasks_in(jobs: Collection[Job]) -> dict[int, Tasks]:
    """Return how far the tasks are, by job; a job without any is not in it."""
    rows = JobTask.objects.filter(job__in=jobs).order_by().values_list("job")
    ended = Count("pk", filter=Q(status__in=ENDED))
    counted = rows.annotate(ended=ended, all=Count("pk"))
    return {job: Tasks(ended, every) for job, ended, every in counted}


def waiting_plans(viewer: Viewer) -> JobQuerySet:
    """Return the jobs whose plan waits for a person whom the viewer could be."""
    return Job.objects.visible_to(viewer).whose_plan_waits()


def waited_for_people(steps: Collection[JobStep]) -> timedelta:
    """Return how long decisions of people were waited for; what overlaps counts once."""
    waited, until = timedelta(0), None
    asked = [each for each in steps if each.phase in (Phase.APPROVAL, Phase.RULING)]
    for step in sorted(asked, key=lambda each: each.started_at):
        begin = step.started_at if until is None else max(step.started_at, until)
        if step.ended_at is not None and step.ended_at > begin:
            waited, until = waited + (step.ended_at - begin), step.ended_at
    return waited


def account_of(job: Job) -> Account:
    """Return what a job has cost so far."""
    steps = list(JobStep.objects.filter(job=job))
    replies = [each for each in steps if each.state == StepState.ANSWERED and is_model(each.model)]
    return Account(
        used=sum(each.input_tokens + each.output_tokens for each in steps),
        set_aside=sum(each.reserved_tokens for each in steps),
        lost=sum(each.lost_tokens for each in steps),
        budget=job.max_tokens,
        cost_usd=sum((each.cost_usd or Decimal(0) for each in replies), Decimal(0)),
        unpriced=sum(each.cost_usd is None for each in replies),
    )


def is_model(name: str) -> bool:
    """Say whether a step's model is one that is called, and not a rule or a given answer."""
    return bool(name) and name != GIVEN and not name.startswith(RULE)


def result_of(job: Job) -> Result | None:
    """Return the result that the ledger adds up to; None where there is none or words are gone."""
    try:
        ledger = load(job)
        step = next_step(ledger.rules, ledger.history)
    except VerificationError:
        return None
    return step.result if isinstance(step, Done) and isinstance(step.result, Result) else None


def _result(job: Job) -> dict[str, Any] | None:
    if job.operation != Operation.CONSENSUS:
        return None
    result = result_of(job)
    if result is None:
        return None
    document: dict[str, Any] = {
        "answer": result.answer,
        "verdict": result.verdict.value,
        "dissent": list(result.dissent),
        "rounds": result.rounds,
        "tokenUsage": {
            "input_tokens": result.usage.input_tokens,
            "output_tokens": result.usage.output_tokens,
        },
        "status": result.status.value,
        "basis": job.basis,
    }
    if result.failure is not None:
        document["errorInfo"] = {
            "kind": result.failure.kind.value,
            "code": result.failure.code,
            "retryable": result.failure.is_retryable,
            "httpStatus": result.failure.http_status,
        }
    return document


def phase_of(job: Job) -> str:
    """Return in one word what a job is doing: queued, proposing, judging, ended and so on."""
    return phases_of([job])[job.pk]


def phases_of(jobs: Collection[Job]) -> dict[int, str]:
    """Return what each of some jobs is doing, as `phase_of` does, in one question for all."""
    going = [job.pk for job in jobs if not job.has_ended]
    newest = JobStep.objects.filter(job__in=going).order_by("job", "-position").distinct("job")
    last = dict(newest.values_list("job", "phase"))
    return {job.pk: _phase(job, last.get(job.pk, "")) for job in jobs}


_PHASES = {
    "proposer": "proposing",
    "judge": "judging",
    "revision": "revising",
    "decomposition": "planning",
    "synthesis": "summing-up",
}


def _phase(job: Job, last: str) -> str:
    if job.has_ended:
        return "ended"
    if job.paused_at is not None:
        return "waiting"
    return _PHASES.get(last, "queued" if job.state == JobState.QUEUED else "working")
