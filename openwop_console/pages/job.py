"""One job: how the judges stand, what was answered, what it costs, how it ended."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from openwop_console.pages.job_time import waterfall
from openwop_console.pages.run import address_of
from runs.models import Viewer
from verification.actions.askers import may_ask
from verification.domain.consensus.history import Phase
from verification.domain.errors import VerificationError
from verification.domain.jobs import grid
from verification.domain.jobs.differences import differences
from verification.domain.jobs.outcome_words import outcome_sentence, tasks_sentence
from verification.domain.jobs.states import SETTLED, Operation, StepState
from verification.domain.jobs.told import verified
from verification.domain.jobs.versions import Version, versions
from verification.job_ledger import Ledger, load
from verification.jobs_api import find_job
from verification.models import Content, Escalation, Gate, Job, JobStep, JudgeVote, MemoryEntry
from verification.queries.jobs import account_of, is_model, phase_of


@require_GET
def view(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Show one job."""
    job = find_job(request.user, uid)
    shown = {**content(job, request.user), "live_url": f"/ws/jobs/{job.uid}/"}
    return render(request, "verification/job.html", shown)


def find(viewer: Viewer, uid: UUID) -> Job | None:
    """Return the job, if the viewer may know of it."""
    try:
        return find_job(viewer, uid)
    except Http404:
        return None


def content(job: Job, viewer: Viewer, seen_votes: int = 0) -> dict[str, Any]:
    """Gather what the page shows.

    Args:
        job: with its run and host.
        viewer: who looks.
        seen_votes: the newest vote that is on screen already; its critiques are not sent again.
    """
    ledger = _ledger(job)
    steps = list(JobStep.objects.filter(job=job).order_by("position"))
    votes = list(
        JudgeVote.objects.filter(job=job).select_related("critique", "step").order_by("pk")
    )
    return {
        "job": _head(job, steps),
        "agreed": job.shape,
        "judges": job.shape["judges"],
        "rounds": _rounds(job, steps, votes),
        "critiques": [_critique(each) for each in votes if each.pk > seen_votes],
        "seen_votes": max((each.pk for each in votes), default=0),
        "question": ledger.request.question if ledger else None,
        "versions": _versions(ledger, job) if ledger else [],
        "spending": _spending(job),
        "calls": [_call(step) for step in steps],
        "spans": waterfall(job),
        "memory": [
            _memory(entry)
            for entry in MemoryEntry.objects.filter(job=job)
            .select_related("value")
            .order_by("number")
        ],
        "outcome": _outcome(job, votes),
        "emitted": _emitted(job),
        "request_json": _readable(ledger),
        "urls": _urls(job, viewer),
    }


def _ledger(job: Job) -> Ledger | None:
    """Return the ledger with its words; None where they have been erased."""
    try:
        return load(job)
    except VerificationError:
        return None


def _head(job: Job, steps: Sequence[JobStep]) -> dict[str, Any]:
    first = next((step.started_at for step in steps), None)
    return {
        "uid": str(job.uid),
        "state": job.state if job.has_ended else phase_of(job),
        "is_over": job.has_ended,
        "is_cancelling": job.cancel_asked_at is not None and not job.has_ended,
        "verdict": job.verdict,
        "basis": job.basis,
        "quorum": job.shape.get("quorum"),
        "judges": len(job.shape["judges"]),
        "rounds": job.rounds,
        "max_rounds": job.shape.get("maxRounds"),
        "created_at": job.created_at,
        "ended_at": job.ended_at,
        "deadline_at": None if job.has_ended else job.deadline_at,
        "waited_s": _seconds(job.created_at, first),
        "took_s": _seconds(job.created_at, job.ended_at),
        "attempts": job.fence,
        "target": job.about_target,
        "target_url": address_of(job.about_run) if job.about_run else "",
        "run_url": address_of(job.run),
        "asked_by": job.asked_by,
    }


def _seconds(start: Any, end: Any) -> str:
    return "" if start is None or end is None else f"{(end - start).total_seconds():.1f} s"


def _rounds(job: Job, steps: Sequence[JobStep], votes: Sequence[JudgeVote]) -> list[dict[str, Any]]:
    if job.operation != Operation.CONSENSUS:
        return []
    names = [judge["name"] for judge in job.shape["judges"]]
    rows = grid.grid(
        names,
        [grid.Voted(each.round, each.judge, each.accepted, each.call_failed) for each in votes],
        [
            grid.Call(
                step.round or 1,
                step.agent,
                is_settled=step.state in SETTLED,
                is_waiting=step.state == StepState.WAITING,
            )
            for step in steps
            if step.phase == Phase.JUDGE
        ],
        basis=job.basis,
        has_ended=job.has_ended,
    )
    keys = {(each.round, each.judge): each.pk for each in votes}
    return [
        {
            "number": row.number,
            "accepts": row.accepts,
            "cells": [
                {"judge": name, "cell": cell.value, "vote": keys.get((row.number, name))}
                for name, cell in zip(names, row.cells, strict=True)
            ],
        }
        for row in rows
    ]


def _critique(vote: JudgeVote) -> dict[str, Any]:
    step = vote.step
    return {
        "pk": vote.pk,
        "judge": vote.judge,
        "round": vote.round,
        "word": "accept" if vote.accepted else "error" if vote.call_failed else "dissent",
        "text": _text(vote.critique),
        "criteria": vote.criteria,
        "model": step.model,
        "tokens": step.input_tokens + step.output_tokens,
        "took_s": _seconds(step.started_at, step.ended_at),
        "attempts": step.attempts,
        "failure": _failure(step),
    }


def _failure(step: JobStep) -> str:
    """Return what went wrong with a call, in closed words."""
    if step.failure is None:
        return ""
    http = step.failure.get("http")
    return f"HTTP {http}" if http else str(step.failure.get("code") or step.failure["kind"])


def _text(content: Content | None) -> str:
    if content is None or content.erased_at is not None:
        return ""
    return bytes(content.body).decode("utf-8", "replace")


def _versions(ledger: Ledger, job: Job) -> list[dict[str, Any]]:
    """Return the answers, the newest first, each with what changed since the one before."""
    if job.operation != Operation.CONSENSUS:
        return []
    rounds = [step.round or 1 for step in ledger.steps if step.phase == Phase.REVISION]
    found = versions(ledger.history, rounds)
    before: list[Version | None] = [None, *found]
    shown = [
        {
            "number": number,
            "author": each.author,
            "after_round": each.after_round,
            "text": each.text,
            "pieces": differences(earlier.text, each.text) if earlier else (),
            "is_last": number == len(found),
        }
        for number, (each, earlier) in enumerate(zip(found, before, strict=False), 1)
    ]
    return shown[::-1]


def _spending(job: Job) -> dict[str, Any]:
    account = account_of(job)
    gone = account.used + account.lost + account.set_aside
    return {
        "tokens": account.used,
        "set_aside": account.set_aside,
        "lost": account.lost,
        "budget": account.budget,
        "share": round(gone / account.budget, 3) if account.budget else None,
        "cost": f"${account.cost_usd.normalize():f}" if account.cost_usd else "",
        "unpriced": account.unpriced,
    }


def _call(step: JobStep) -> dict[str, Any]:
    return {
        "position": step.position,
        "phase": step.phase,
        "agent": step.agent,
        "model": step.model or "given",
        "round": step.round,
        "state": step.state,
        "tokens": step.input_tokens + step.output_tokens if is_model(step.model) else None,
        "attempts": step.attempts,
        "failure": _failure(step),
        "took_s": _seconds(step.started_at, step.ended_at),
    }


def _memory(entry: MemoryEntry) -> dict[str, Any]:
    return {"key": f"{entry.namespace}/{entry.key}", "value": _text(entry.value), "at": entry.at}


def _outcome(job: Job, votes: Sequence[JudgeVote]) -> dict[str, Any] | None:
    if not job.has_ended:
        return None
    last = [each for each in votes if each.round == job.rounds]
    gate = Gate.objects.filter(run=job.run_id).first()
    waiting = Escalation.objects.waiting().filter(run=job.run_id).first()
    return {
        "sentence": _sentence(job, last),
        "gate": gate.state if gate else "",
        "escalation_url": reverse("escalation", args=[waiting.pk]) if waiting else "",
    }


def _sentence(job: Job, last: Sequence[JudgeVote]) -> str:
    if job.operation != Operation.CONSENSUS:
        return tasks_sentence(job.basis, stop=job.stop, broken=job.broken_because)
    return outcome_sentence(
        job.basis,
        stop=job.stop,
        broken=job.broken_because,
        accepts=sum(each.accepted for each in last),
        judges=len(job.shape["judges"]),
        quorum=job.shape["quorum"],
    )


def _emitted(job: Job) -> str:
    """Return the verdict that was, or will be, told: no word of the answer is in it."""
    target = job.about_target or job.decided_event or str(job.uid)
    payload = verified(target, job.verdict or "…", list(job.shape.get("criteria", [])))
    return json.dumps({"type": "agent.verified", "payload": payload}, indent=2, ensure_ascii=False)


def _readable(ledger: Ledger | None) -> str:
    if ledger is None:
        return ""
    return json.dumps(ledger.request.document, indent=2, ensure_ascii=False)


def _urls(job: Job, viewer: Viewer) -> dict[str, str]:
    may = isinstance(viewer, User) and may_ask(viewer, job.workspace)
    is_form = job.operation == Operation.CONSENSUS
    return {
        "list": reverse("jobs"),
        "cancel": reverse("job-cancel", args=[job.uid]) if may and not job.has_ended else "",
        "review": reverse("job-review", args=[job.uid]) if may and job.verdict == "pass" else "",
        "again": reverse("job-again", args=[job.uid]) if may else "",
        "edit": f"{reverse('job-new')}?from={job.uid}" if may and is_form else "",
    }
