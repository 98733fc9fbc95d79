"""The list of jobs."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from openwop_console.pages.run import address_of
from runs.models import Viewer
from verification.actions.askers import may_ask
from verification.domain.jobs.states import Operation
from verification.models import Job
from verification.queries.jobs import (
    PAGE,
    Tasks,
    dissent_in,
    phases_of,
    tasks_in,
    tokens_of,
    waiting_plans,
)

_TABS = {
    "": "All",
    "running": "Unfinished",
    "waiting": "Waits for a person",
    "done": "Ended",
    "broken": "Broken",
}


@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """Show the jobs, newest first."""
    shown = content(request.user, request.GET.dict())
    return render(request, "verification/jobs.html", {**shown, "live_url": "/ws/jobs/"})


def content(viewer: Viewer, query: Mapping[str, str]) -> dict[str, Any]:
    """Gather what the list shows for a query string."""
    tab = query.get("tab", "") if query.get("tab", "") in _TABS else ""
    seen = Job.objects.visible_to(viewer)
    jobs = _of_tab(seen, tab).select_related("run__host", "about_run__host")
    before = query.get("before", "")
    if before.isascii() and before.isdigit() and len(before) < 19:
        jobs = jobs.filter(pk__lt=int(before))
    found = list(jobs.order_by("-pk")[: PAGE + 1])
    rows = found[:PAGE]
    tokens, dissent, tasks = tokens_of(rows), dissent_in(rows), tasks_in(rows)
    phases = phases_of(rows)
    waiting = waiting_plans(viewer).filter(pk__in=[job.pk for job in rows])
    plans = {job.pk for job in waiting.select_related("workspace") if _may_decide(viewer, job)}
    address = reverse("jobs")
    return {
        "rows": [
            _row(
                job,
                phase=phases[job.pk],
                tokens=tokens.get(job.pk, 0),
                dissent=dissent.get(job.pk, 0),
                tasks=tasks.get(job.pk),
                plan_waits=job.pk in plans,
            )
            for job in rows
        ],
        "tabs": [
            {"label": label, "url": f"{address}?tab={name}" if name else address,
             "active": name == tab, "count": None}
            for name, label in _TABS.items()
        ],
        "page": {
            "text": f"{len(rows)} jobs" if len(rows) != 1 else "1 job",
            "newer_url": f"{address}?tab={tab}" if before else "",
            "older_url": f"{address}?tab={tab}&before={rows[-1].pk}" if len(found) > PAGE else "",
        },
        "is_first": not seen.exists(),
        "new_url": reverse("job-new"),
    }  # fmt: skip


def _may_decide(viewer: Viewer, job: Job) -> bool:
    return isinstance(viewer, User) and may_ask(viewer, job.workspace)


def _of_tab(jobs: Any, tab: str) -> Any:
    if tab == "running":
        return jobs.filter(state__in=["queued", "running"])
    if tab == "waiting":
        return jobs.filter(state__in=["queued", "running"], paused_at__isnull=False)
    return jobs.filter(state=tab) if tab else jobs


def _row(
    job: Job, *, phase: str, tokens: int, dissent: int, tasks: Tasks | None, plan_waits: bool
) -> dict[str, Any]:
    return {
        "uid": job.uid,
        "short": str(job.uid)[:8],
        "operation": job.operation,
        "is_consensus": job.operation == Operation.CONSENSUS,
        "tasks": tasks,
        "url": reverse("job", args=[job.uid]),
        "plan_url": reverse("job-plan", args=[job.uid]) if plan_waits else "",
        "state": job.state if job.has_ended else phase,
        "verdict": job.verdict,
        "basis": job.basis,
        "subject": job.about_target or "",
        "subject_url": address_of(job.about_run) if job.about_run else "",
        "host": job.about_run.host.slug if job.about_run else job.run.host.slug,
        "judges": len(job.shape["judges"]),
        "quorum": job.shape.get("quorum"),
        "rounds": job.rounds,
        "max_rounds": job.shape.get("maxRounds"),
        "dissent": dissent,
        "tokens": tokens,
        "created_at": job.created_at,
    }
