"""What the forms of new jobs share: their tabs, what they start with, and the start itself."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from openwop_console.pages.job_examples import EXAMPLES
from runs.models import Viewer, Workspace, workspaces_of
from verification import endpoints
from verification.actions import jobs
from verification.actions.askers import asker_of
from verification.domain.errors import VerificationError
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.requests import read_any
from verification.domain.jobs.states import Operation
from verification.job_ledger import document_of
from verification.jobs_api import find_job, run_asked_about

RULES = (
    ("rule:must-match", "must contain: a pattern"),
    ("rule:must-not-match", "must not contain: a pattern"),
    ("rule:required-citations", "cites sources: how many at least"),
    ("rule:length", "length: how many characters at least"),
    ("rule:json-schema", 'is JSON of a form: {"schema": {…}}'),
)
"""Each with what it asks for, and what is typed as its setting."""
JSON = "json"
_TABS = {
    Operation.CONSENSUS: "Consensus",
    Operation.TASKS: "Tasks",
    Operation.TEAM: "Team",
    JSON: "As JSON",
}


def frame(request: HttpRequest, kind: str, errors: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return what every form shows.

    Args:
        request: whose it is.
        kind: of job, or `json`.
        errors: `{field, label, sentence}` each.
    """
    address = reverse("job-new")
    return {
        "operation": kind,
        "tabs": [
            {"label": label, "url": f"{address}?operation={each}", "active": each == kind,
             "count": None}
            for each, label in _TABS.items()
        ],
        "models": endpoints.catalogue(),
        "rules": RULES,
        "errors": errors,
        "at_fault": {error["field"] for error in errors},
        "workspaces": _workspaces(request.user),
        "urls": {"list": reverse("jobs"), "example": f"{address}?operation={kind}&example=1"},
        "once": request.POST.get("once") or str(uuid4()),  # a form that is sent twice starts one
    }  # fmt: skip


def _workspaces(viewer: Viewer) -> list[str]:
    """Return the viewer's workspaces, where they have to say which."""
    slugs = Workspace.objects.filter(pk__in=workspaces_of(viewer)).values_list("slug", flat=True)
    return sorted(slugs) if len(slugs) > 1 else []


def beginning_of(request: HttpRequest, operation: Operation) -> Mapping[str, Any]:
    """Return what a form starts with: an earlier job's request, the example, or nothing."""
    if "example" in request.GET:
        return EXAMPLES[operation]
    try:
        return document_of(find_job(request.user, UUID(request.GET.get("from", ""))))
    except (ValueError, Http404, VerificationError):
        return {name: request.GET[name] for name in ("runId", "target") if name in request.GET}


def started(request: HttpRequest, document: Mapping[str, Any]) -> HttpResponse:
    """Start the job that a document asks for, and go to its page. Raises VerificationError."""
    asked = read_any(document)
    try:
        about = run_asked_about(request.user, asked)
    except Http404 as error:
        raise JobRefused("no_run", "/runId", "You see no run of this id.") from error
    job = jobs.start(
        request=asked,
        asker=asker_of(request.user, workspace=asked.workspace, about=about),
        about=about,
        idempotency_key=request.POST.get("once", "")[:128],
    ).job
    return redirect("job", job.uid)
