"""One job: how the judges stand, what was answered, what it costs, how it ended."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from openwop_console.pages import job_team
from openwop_console.pages.job_parts import (
    failure_of,
    ledger_of,
    parts,
    readable,
    seconds,
    text_of,
)
from runs.models import Viewer
from verification.domain.consensus.history import Phase
from verification.domain.jobs.differences import differences
from verification.domain.jobs.outcome_words import outcome_sentence
from verification.domain.jobs.states import Operation
from verification.domain.jobs.told import verified
from verification.domain.jobs.versions import Version, versions
from verification.job_ledger import Ledger
from verification.jobs_api import find_job
from verification.models import Escalation, Gate, Job, JobStep, JudgeVote, MemoryEntry
from verification.queries.job_tasks import grid_of


@require_GET
def view(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Show one job."""
    job = find_job(request.user, uid)
    live = {"live_url": f"/ws/jobs/{job.uid}/"}
    if job.operation == Operation.CONSENSUS:
        return render(request, "verification/job.html", content(job, request.user) | live)
    return render(request, "verification/job_team.html", job_team.content(job, request.user) | live)


def content(job: Job, viewer: Viewer, seen_votes: int = 0) -> dict[str, Any]:
    """Gather what the page of a consensus shows.

    Args:
        job: with its run and host.
        viewer: who looks.
        seen_votes: the newest vote that is on screen already; its critiques are not sent again.
    """
    ledger = ledger_of(job)
    steps = list(JobStep.objects.filter(job=job).order_by("position"))
    votes = list(
        JudgeVote.objects.filter(job=job).select_related("critique", "step").order_by("pk")
    )
    return {
        **parts(job, viewer, steps),
        "judges": job.shape["judges"],
        "rounds": _rounds(job, steps, votes),
        "critiques": [_critique(each) for each in votes if each.pk > seen_votes],
        "seen_votes": max((each.pk for each in votes), default=0),
        "question": ledger.request.question if ledger else None,
        "versions": _versions(ledger, job) if ledger else [],
        "memory": [
            _memory(entry)
            for entry in MemoryEntry.objects.filter(job=job)
            .select_related("value")
            .order_by("number")
        ],
        "outcome": _outcome(job, votes),
        "emitted": _emitted(job),
        "request_json": readable(ledger),
    }


def _rounds(job: Job, steps: Sequence[JobStep], votes: Sequence[JudgeVote]) -> list[dict[str, Any]]:
    names = [judge["name"] for judge in job.shape["judges"]]
    rows = grid_of(names, votes, steps, basis=job.basis, has_ended=job.has_ended)
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
        "text": text_of(vote.critique),
        "criteria": vote.criteria,
        "model": step.model,
        "tokens": step.input_tokens + step.output_tokens,
        "took_s": seconds(step.started_at, step.ended_at),
        "attempts": step.attempts,
        "failure": failure_of(step),
    }


def _versions(ledger: Ledger, job: Job) -> list[dict[str, Any]]:
    """Return the answers, the newest first, each with what changed since the one before."""
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


def _memory(entry: MemoryEntry) -> dict[str, Any]:
    return {"key": f"{entry.namespace}/{entry.key}", "value": text_of(entry.value), "at": entry.at}


def _outcome(job: Job, votes: Sequence[JudgeVote]) -> dict[str, Any] | None:
    if not job.has_ended:
        return None
    last = [each for each in votes if each.round == job.rounds]
    gate = Gate.objects.filter(run=job.run_id).first()
    waiting = Escalation.objects.waiting().filter(run=job.run_id).first()
    return {
        "sentence": outcome_sentence(
            job.basis,
            stop=job.stop,
            broken=job.broken_because,
            accepts=sum(each.accepted for each in last),
            judges=len(job.shape["judges"]),
            quorum=job.shape["quorum"],
            unasked=len(job.shape["judges"]) - len(last),
        ),
        "gate": gate.state if gate else "",
        "escalation_url": reverse("escalation", args=[waiting.pk]) if waiting else "",
    }


def _emitted(job: Job) -> str:
    """Return the verdict that was, or will be, told: no word of the answer is in it."""
    target = job.about_target or job.decided_event or str(job.uid)
    payload = verified(target, job.verdict or "…", list(job.shape.get("criteria", [])))
    return json.dumps({"type": "agent.verified", "payload": payload}, indent=2, ensure_ascii=False)
