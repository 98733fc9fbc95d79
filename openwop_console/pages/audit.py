"""Who did what: the whole chain for auditors and admins, a run's part for whoever sees the run."""

import re
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from openwop_console.pages.run import address_of
from runs.models import Run, Workspace
from verification.actions.checkpoints import sign
from verification.models import AuditEntry, Checkpoint
from verification.queries.audit import (
    document_of,
    entries,
    entries_of_run,
    export,
    verify,
    workspaces_audited,
)

_ESCALATION = re.compile(r"escalation:([0-9]{1,18})")
_PERSON = re.compile(r"person:([0-9]{1,18})")


@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """Show the chain, newest first; with `?verify=1` also whether it holds."""
    workspace, seen = _workspace(request)
    query = request.GET.dict()
    found = entries(workspace, query)
    older = {**query, "cursor": found["next"]} if found["next"] else None
    shown = {
        "rows": rows_of(found["entries"]),
        "workspace": workspace,
        "workspaces": seen,
        "query": query,
        "result": verify(workspace) if "verify" in query else None,
        "checkpoint": Checkpoint.objects.filter(workspace=workspace).order_by("-seq").first(),
        "older_url": f"{reverse('audit')}?{urlencode(older)}" if older else "",
    }
    return render(request, "verification/audit.html", shown)


@require_GET
def download(request: HttpRequest) -> StreamingHttpResponse:
    """Send the whole chain with its checkpoints, the newest entry signed just now."""
    workspace, _ = _workspace(request)
    sign(workspace=workspace)
    response = StreamingHttpResponse(export(workspace), content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="audit-{workspace.slug}.jsonl"'
    response["Cache-Control"] = "no-store"
    return response


@require_GET
def of_run(request: HttpRequest, host: str, run: str) -> HttpResponse:
    """Show what people did about one run, for whoever may see it."""
    visible = Run.objects.visible_to(request.user).select_related("host")
    found = get_object_or_404(visible, host__slug=host, run_id=run)
    rows: list[AuditEntry] = entries_of_run(found)
    shown = {
        "rows": rows_of([document_of(each) for each in rows]),
        "run": {"run_id": found.run_id, "url": address_of(found)},
    }
    return render(request, "verification/audit_run.html", shown)


def _workspace(request: HttpRequest) -> tuple[Workspace, list[Workspace]]:
    seen = workspaces_audited(request.user)
    if not seen:
        raise PermissionDenied
    wanted = request.GET.get("workspace", "")
    for workspace in seen:
        if not wanted or workspace.slug == wanted:
            return workspace, seen
    raise Http404


def rows_of(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return entries with people by name and escalations as links."""
    keys = {each["actor"] for each in documents}
    people = {match[1] for key in keys if (match := _PERSON.fullmatch(key))}
    names = {
        f"person:{pk}": name
        for pk, name in User.objects.filter(pk__in=people).values_list("pk", "username")
    }
    return [
        {
            **each,
            "moment": datetime.fromisoformat(each["at"]),
            "who": names.get(each["actor"], each["actor"]),
            "url": _url(each["subject"]),
            "details": ", ".join(
                f"{key}: {value}" for key, value in sorted(each["detail"].items())
            ),
        }
        for each in documents
    ]


def _url(subject: str) -> str:
    match = _ESCALATION.fullmatch(subject)
    return reverse("escalation", args=[int(match[1])]) if match else ""
