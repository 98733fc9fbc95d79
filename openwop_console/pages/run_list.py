"""The list of runs."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from openwop_console.frame import COMMAND
from openwop_console.pages.filtering import WITHIN, chips, list_address
from openwop_console.pages.host import find
from openwop_console.pages.sending import address, curl, hello
from runs.domain.projection import Outcome, RunStatus
from runs.models import Run, Viewer
from runs.queries.run_list import (
    SEARCHED_RESULTS,
    SEARCHED_RUNS,
    Page,
    RunFilters,
    Tile,
    run_list,
)

TILES = {
    "running": ("running", "busy"),
    "waiting": ("clock", "warn"),
    "review": ("person", "person"),
    "blocked": ("lock", "bad"),
    "violated": ("lock-broken", "alarm"),
    "gave_up": ("flag-down", "warn"),
    "goal_met": ("target", "good"),
    "failed": ("circle-cross", "bad"),
    "stalled": ("hourglass", "warn"),
}
"""Icon and tone of each tile."""


@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """Show the runs, last event first."""
    shown = content(request.user, request.GET.dict())
    return render(request, "runs/list.html", {**shown, "live_url": "/ws/runs/"})


def content(viewer: Viewer, query: Mapping[str, str]) -> dict[str, Any]:
    """Gather what the list shows for a query string."""
    filters = RunFilters.of(query)
    page = run_list(viewer, filters, now=timezone.now(), stalled_after_s=settings.STALLED_AFTER_S)
    return {
        "runs": [_row(run) for run in page.runs],
        "tiles": [_tile(tile, filters) for tile in page.tiles],
        "filters": _filters(page),
        "page": {
            "text": _count(page),
            "newer_url": list_address("runs", filters, before="") if filters.before else "",
            "older_url": list_address("runs", filters, before=page.next) if page.next else "",
        },
        "export_url": list_address("runs-export", filters, before="") if page.runs else "",
        "hidden": page.hidden,
        "hidden_url": list_address("runs", filters, before="", tasks="shown"),
        "first_event": _first_event(viewer, page),
    }


def _row(run: Run) -> dict[str, Any]:
    return {
        "pk": run.pk,
        "url": reverse("run", args=[run.host.slug, run.run_id]),
        "run_id": run.run_id,
        "workflow_id": run.workflow_id,
        "host_slug": run.host.slug,
        "status": run.status,
        "waits": run.is_paused_job,
        "outcome": run.outcome,
        "held": run.held,
        "verdicts": run.verdict_strip,
        "gate": "violated" if run.worst_finding == "violation" else run.standing,
        "open_escalations": run.open_escalations,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "last_event_at": run.last_event_at,
        "event_count": run.event_count,
    }


def _tile(tile: Tile, filters: RunFilters) -> dict[str, Any]:
    icon, tone = TILES[tile.key]
    return {
        "key": tile.key,
        "label": tile.label,
        "count": tile.count,
        "active": tile.is_active,
        "icon": icon,
        "tone": tone,
        "url": list_address("runs", filters, before="", tile="" if tile.is_active else tile.key),
    }


def _filters(page: Page) -> dict[str, Any]:
    filters = page.filters
    choices = {
        "status": ("Status", [status.value for status in RunStatus]),
        "outcome": ("Outcome", [outcome.value for outcome in Outcome]),
        "host": ("Host", page.hosts),
        "within": ("Last event", list(WITHIN)),
    }
    return {
        "q": filters.q,
        "tasks": filters.tasks,
        "selects": [
            {
                "name": name,
                "label": label,
                "value": getattr(filters, name),
                "options": [
                    (value, WITHIN.get(value, value.replace("_", " "))) for value in values
                ],
            }
            for name, (label, values) in choices.items()
        ],
        "active": chips("runs", filters),
        "clear_url": reverse("runs"),
        "searched": {"runs": SEARCHED_RUNS, "results": SEARCHED_RESULTS},
    }


def _count(page: Page) -> str:
    shown = len(page.runs)
    if not page.filters.active:
        return f"{shown} of {page.total} run{pluralize(page.total)}"
    is_all = not page.next and not (page.filters.q and page.total > SEARCHED_RUNS)
    return f"{shown} run{pluralize(shown)}{', all that match' if is_all else ''}"


def _first_event(viewer: Viewer, page: Page) -> dict[str, str] | None:
    """Return what to do while nothing has come: to the Console, or from the one host asked for."""
    host = page.filters.host if page.total else ""
    is_silent = page.filters.active == {"host": host} and not (page.runs or page.hidden)
    if page.total and not (is_silent and host in page.hosts):
        return None
    return {
        "host": host,
        "host_url": reverse("settings-host", args=[host]) if host and find(viewer, host) else "",
        "url": address(),
        "curl": curl(hello(timezone.now())),
        "add_host": f"{COMMAND} hosts add NAME --workspace default",
    }
