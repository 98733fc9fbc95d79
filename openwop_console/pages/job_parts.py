"""What the page of every job shows, whichever kind it is."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404
from django.urls import reverse

from openwop_console.pages.job_time import waterfall
from openwop_console.pages.run import address_of
from runs.models import Viewer
from verification.actions.askers import may_ask
from verification.domain.errors import VerificationError
from verification.domain.jobs.states import Operation
from verification.job_ledger import Ledger, load
from verification.jobs_api import find_job
from verification.models import Content, Job, JobStep
from verification.queries.jobs import account_of, is_model, phase_of, waited_for_people


def find(viewer: Viewer, uid: UUID) -> Job | None:
    """Return the job, if the viewer may know of it."""
    try:
        return find_job(viewer, uid)
    except Http404:
        return None


def parts(job: Job, viewer: Viewer, steps: Sequence[JobStep]) -> dict[str, Any]:
    """Return what the page of every job shows.

    Args:
        job: with its run and host.
        viewer: who looks.
        steps: the job's calls in order.
    """
    return {
        "job": _head(job, steps),
        "agreed": job.shape,
        "spending": _spending(job),
        "calls": [_call(step) for step in steps],
        "spans": waterfall(job),
        "urls": _urls(job, viewer),
    }


def ledger_of(job: Job) -> Ledger | None:
    """Return the ledger with its words; None where they have been erased."""
    try:
        return load(job)
    except VerificationError:
        return None


def readable(ledger: Ledger | None) -> str:
    """Return what was asked for, as JSON to be read; empty where it has been erased."""
    if ledger is None:
        return ""
    return json.dumps(ledger.request.document, indent=2, ensure_ascii=False)


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
        "waited_s": seconds(job.created_at, first),
        **_took(job, steps),
        "attempts": job.fence,
        "target": job.about_target,
        "target_url": address_of(job.about_run) if job.about_run else "",
        "run_url": address_of(job.run),
        "asked_by": job.asked_by,
    }


def _took(job: Job, steps: Sequence[JobStep]) -> dict[str, Any]:
    """Return how long a job took, without the time that people took to decide, which is beside."""
    if job.ended_at is None:
        return {"took_s": "", "people": None}
    people = waited_for_people(steps)
    return {
        "took_s": seconds(job.created_at, job.ended_at - people),
        "people": people,
    }


def seconds(start: Any, end: Any) -> str:
    """Return how long something took, in words; empty while it goes on."""
    return "" if start is None or end is None else f"{(end - start).total_seconds():.1f} s"


def failure_of(step: JobStep) -> str:
    """Return what went wrong with a call, in closed words."""
    if step.failure is None:
        return ""
    http = step.failure.get("http")
    return f"HTTP {http}" if http else str(step.failure.get("code") or step.failure["kind"])


def text_of(content: Content | None) -> str:
    """Return the words of some content; empty where they have been erased."""
    if content is None or content.erased_at is not None:
        return ""
    return bytes(content.body).decode("utf-8", "replace")


def _spending(job: Job) -> dict[str, Any]:
    account = account_of(job)
    gone = account.used + account.lost + account.set_aside
    return {
        "tokens": account.used,
        "set_aside": account.set_aside,
        "lost": account.lost,
        "budget": account.budget,
        "share": round(gone / account.budget, 3) if account.budget else None,
        "cost": dollars(account.cost_usd),
        "cost_budget": dollars(job.max_cost_usd or Decimal(0)),
        "cost_share": _share(account.cost_usd, job.max_cost_usd),
        "unpriced": account.unpriced,
    }


def dollars(amount: Decimal) -> str:
    """Return an amount of US dollars in words; empty for nothing."""
    return f"${amount.normalize():f}" if amount else ""


def _share(spent: Decimal, budget: Decimal | None) -> float | None:
    return round(float(spent / budget), 3) if budget else None


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
        "failure": failure_of(step),
        "took_s": seconds(step.started_at, step.ended_at),
    }


def _urls(job: Job, viewer: Viewer) -> dict[str, str]:
    may = isinstance(viewer, User) and may_ask(viewer, job.workspace)
    is_pass, is_one = job.verdict == "pass", job.operation == Operation.CONSENSUS
    return {
        "list": reverse("jobs"),
        "cancel": reverse("job-cancel", args=[job.uid]) if may and not job.has_ended else "",
        "review": reverse("job-review", args=[job.uid]) if may and is_one and is_pass else "",
        "again": reverse("job-again", args=[job.uid]) if may else "",
        "edit": f"{reverse('job-new')}?from={job.uid}" if may else "",
    }
