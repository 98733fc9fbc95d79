"""The plan of a team that waits for a person: read it, change it, let it run or refuse it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from openwop_console.pages.job_graph import graph
from openwop_console.pages.job_plan_form import VERIFY, Row, fields_of, plan_of, rows_of, typed_rows
from openwop_console.pages.job_plan_view import lines_shown, members
from runs.domain.strict_json import JsonRefused, parse
from runs.limits import limits
from verification.actions.askers import MayNotAsk, canceller_of
from verification.actions.job_people import NothingToApprove, decide_on_plan
from verification.domain.consensus.queue import normalised
from verification.domain.errors import VerificationError
from verification.domain.jobs.plan_changes import digest
from verification.domain.jobs.plan_faults import Fault, faults_in
from verification.domain.refusals import AlreadyResolved, StaleView
from verification.jobs_api import find_job
from verification.models import Job
from verification.queries.job_tasks import PlanView, team_view
from verification.queries.team_documents import plan_document

Plan = Sequence[Mapping[str, Any]]
_DECISIONS = {"approve": True, "reject": False}
_STALE = "The plan that waits is not the one that you looked at."


@dataclass(frozen=True, slots=True)
class Typed:
    """What a person has typed."""

    rows: Sequence[Row]
    plan: Any
    """As it would be sent; not yet looked at. Content."""
    text: str
    """As JSON, as it was typed or as it follows from the form."""
    is_json: bool = False
    faults: Sequence[Fault] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """What the page says of what was typed."""

    refused: str = ""
    is_checked: bool = False
    status: int = 200
    stands: PlanView | None = None
    """How the plan stands now, where a decision about it came too late."""


@require_http_methods(["GET", "POST"])
def view(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Show the plan, or decide on it and go to the job."""
    job = find_job(request.user, uid)
    try:
        by = canceller_of(request.user, job)
    except MayNotAsk as refused:
        messages.error(request, str(refused))
        return redirect("job", uid)
    plan = _plan(job)
    proposed = _waiting(plan)
    if request.method == "POST":
        return _decide(request, job, proposed, by)
    if proposed is None:
        messages.info(request, _late(plan))
        return redirect("job", uid)
    return _page(request, job, proposed, _as_typed(proposed), Told())


def _plan(job: Job) -> PlanView | None:
    team = team_view(job)
    return None if team is None else team.plan


def _waiting(plan: PlanView | None) -> Plan | None:
    """Return the plan that waits, if it does."""
    return None if plan is None or not plan.awaits_approval else plan.proposed


def late(job: Job) -> str:
    """Return why a job's plan waits for nobody any more, in a sentence; empty while it waits."""
    plan = _plan(job)
    return _late(plan) if _waiting(plan) is None else ""


def _late(plan: PlanView | None) -> str:
    made = None if plan is None else plan.resolution
    return str(NothingToApprove() if made is None else AlreadyResolved(made.word, made.by, "plan"))


def _decide(request: HttpRequest, job: Job, proposed: Plan | None, by: str) -> HttpResponse:
    move, typed = request.POST.get("move", "check"), _typed(request, members(job))
    if move == "add":
        more = Row(len(typed.rows) + 1, {})
        return _page(request, job, proposed, typed, Told(), more)
    if move not in _DECISIONS or (typed.faults and _DECISIONS[move]):
        status = 400 if typed.faults else 200
        return _page(request, job, proposed, typed, Told(is_checked=True, status=status))
    try:
        decide_on_plan(
            job=job.pk,
            by=by,
            is_approved=_DECISIONS[move],
            plan=_changed(proposed, typed.plan) if _DECISIONS[move] else None,
            seen=request.POST.get("seen", ""),
        )
    except (AlreadyResolved, NothingToApprove, StaleView) as refused:
        words = _STALE if isinstance(refused, StaleView) else str(refused)
        told = Told(words, status=409, stands=_plan(find_job(request.user, job.uid)))
        return _page(request, job, _waiting(told.stands), typed, told)
    except VerificationError as refused:
        return _page(request, job, proposed, typed, Told(str(refused), status=400))
    said = "The plan is approved; its tasks start." if _DECISIONS[move] else "The plan is rejected."
    messages.success(request, said)
    return redirect("job", job.uid)


def _changed(proposed: Plan | None, plan: Plan) -> Plan | None:
    """Return the plan to run, None where it is the one that was proposed."""
    is_same = proposed is not None and plan_of(rows_of(proposed)) == plan_of(rows_of(plan))
    return None if is_same else plan


def _as_typed(plan: Plan) -> Typed:
    return Typed(rows_of(plan), plan, _text(plan))


def _text(plan: object) -> str:
    return json.dumps(plan, indent=2, ensure_ascii=False)


def _typed(request: HttpRequest, team: Sequence[str]) -> Typed:
    if request.POST.get("how") == "json":
        return _typed_json(request.POST.get("json", ""), team)
    rows = typed_rows(request.POST.dict())
    plan = plan_of(rows)
    return Typed(rows, plan, _text(plan), faults=faults_in(plan, team))


def _typed_json(text: str, team: Sequence[str]) -> Typed:
    try:
        plan: Any = parse(text.encode("utf-8", "surrogatepass"), max_depth=limits().depth)
    except JsonRefused:
        fault = Fault(None, "", "This is not JSON that can be read in one way only.")
        return Typed((), None, text, is_json=True, faults=[fault])
    faults = faults_in(plan, team)
    rows = rows_of(plan) if not faults else ()
    return Typed(rows, plan, text, is_json=True, faults=faults)


def _page(
    request: HttpRequest,
    job: Job,
    proposed: Plan | None,
    typed: Typed,
    told: Told,
    more: Row | None = None,
) -> HttpResponse:
    is_fit = not typed.faults and more is None
    tasks = _drawn(typed.plan) if is_fit else []
    found = lines_shown(proposed or (), typed.plan) if is_fit and told.is_checked else []
    fields = fields_of(members(job))
    context = {
        "job": job,
        "is_waiting": proposed is not None,
        "seen": request.POST.get("seen") or digest(proposed or ()),
        "rows": [_row(row, typed, fields) for row in (*typed.rows, *([more] if more else []))],
        "judges": [each["name"] for each in job.shape["judges"]],
        "json": typed.text,
        "is_json": typed.is_json,
        "errors": [_error(fault, is_json=typed.is_json) for fault in typed.faults],
        "refused": told.refused,
        "resolution": told.stands and told.stands.resolution,
        "differences": _differences(typed.plan, told.stands) if is_fit else [],
        "is_checked": told.is_checked and is_fit,
        "changes": [line for line in found if line["change"] != "same"],
        "tasks": tasks,
        "graph": graph(tasks),
        "url": reverse("job", args=[job.uid]),
        "live_url": f"/ws/jobs/{job.uid}/plan/" if proposed is not None else "",
    }
    return render(request, "verification/job_plan.html", context, status=told.status)


def _differences(typed: Plan, stands: PlanView | None) -> list[dict[str, Any]]:
    """Return how the plan that waits or is run differs from the one that was typed, by task."""
    if stands is None:
        return []
    now = _waiting(stands) or plan_document(stands)["resolved"]
    found = lines_shown(typed, now) if now else []
    return [line for line in found if line["change"] not in ("same", "filled")]


def _row(row: Row, typed: Typed, fields: Mapping[str, Any]) -> dict[str, Any]:
    wrong = {fault.field for fault in typed.faults if fault.task == row.number - 1}
    groups = {
        name: [
            {**each, "value": row.typed.get(each["name"], ""), "is_wrong": each["name"] in wrong}
            for each in group
        ]
        for name, group in fields.items()
    }
    return {
        "number": row.number,
        "title": row.typed.get("title", ""),
        "is_verified": bool(row.typed.get(VERIFY)),
        "is_verify_wrong": VERIFY in wrong,
        "says_more": any(each["value"] or each["is_wrong"] for each in groups["more"]),
        **groups,
    }


def _error(fault: Fault, *, is_json: bool) -> dict[str, str]:
    where = "" if fault.task is None else f"Task {fault.task + 1}"
    field = "json" if is_json or fault.task is None else f"task-{fault.task + 1}-{fault.field}"
    return {
        "field": field.rstrip("-"),
        "label": f"{where}, {fault.field}" if fault.field else where,
        "sentence": fault.sentence,
    }


@dataclass(frozen=True, slots=True)
class _Task:
    """A task of a plan that nobody has begun, as it is drawn."""

    number: int
    title: str
    depends_on: tuple[int, ...]

    @property
    def state(self) -> str:
        """Return whether it could be begun at once."""
        return "blocked" if self.depends_on else "pending"


def _drawn(plan: Plan) -> list[_Task]:
    numbers = {normalised(task["title"]): n for n, task in enumerate(plan, 1)}
    depends = {
        n: tuple(sorted({numbers[normalised(title)] for title in task.get("dependsOn", ())}))
        for n, task in enumerate(plan, 1)
    }
    return [_Task(n, task["title"].strip(), depends[n]) for n, task in enumerate(plan, 1)]
