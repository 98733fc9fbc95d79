"""How long things are kept, what was erased lately, and the page that erases a run."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from openwop_console.pages.audit import rows_of
from openwop_console.pages.run import address_of, visible
from openwop_console.pages.settings_frame import administers, person_of, tabs, workspace_of
from runs.models import Run
from verification.actions.audit import actor_of
from verification.actions.erasing import StillNeeded, erase_run
from verification.queries.audit import document_of
from verification.queries.retention import erased_lately, kinds, size_of

_TAB = "settings-retention"


@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """Show what is kept, for how long, and what went."""
    workspace = workspace_of(request)
    shown = {
        "tabs": tabs(request, _TAB),
        "workspace": workspace,
        "kinds": kinds(workspace, timezone.now()),
        "rows": rows_of([document_of(each) for each in erased_lately(workspace)]),
    }
    return render(request, "settings/retention.html", shown)


@require_http_methods(["GET", "POST"])
def erase(request: HttpRequest, host: str, run: str) -> HttpResponse:
    """Show what a run is, and erase it for whoever writes its id."""
    found = visible(request, host, run)
    if not administers(request, found.workspace_id):
        raise PermissionDenied
    if request.method == "GET":
        return _asked(request, found)
    if request.POST.get("run", "").strip() != found.run_id:
        return _asked(request, found, "That is not the run's id, so nothing was erased.")
    try:
        receipt = erase_run(run=found.pk, actor=actor_of(person_of(request)))
    except StillNeeded as needed:
        return _asked(request, found, str(needed))
    counted = ", ".join(f"{count:,} {name}" for name, count in receipt.counts.items())
    messages.success(request, f"The run {found.run_id} is erased: {counted}.")
    return redirect(f"{reverse(_TAB)}?workspace={found.workspace.slug}")


def _asked(request: HttpRequest, run: Run, problem: str = "") -> HttpResponse:
    shown: dict[str, Any] = {
        "run": run,
        "run_url": address_of(run),
        "size": size_of(run),
        "problem": problem,
    }
    return render(request, "runs/erase.html", shown, status=422 if problem else 200)
