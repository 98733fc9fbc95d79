"""The list of findings, and how many commits nobody had verified."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from openwop_console.pages.filtering import WITHIN, chips, list_address
from openwop_console.pages.run import address_of
from runs.models import Viewer
from verification.domain.findings import GRAVEST_FIRST, FindingKind
from verification.models import Finding, Judgement
from verification.queries.findings import (
    ANY,
    STANDING,
    WITHDRAWN,
    FindingFilters,
    Meter,
    Page,
    findings_page,
    meters,
    unverified_commits,
)

STATUSES = {STANDING: "standing", WITHDRAWN: "withdrawn", ANY: "standing and withdrawn"}


@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """Show the findings, newest first."""
    shown = content(request.user, request.GET.dict())
    return render(request, "verification/findings.html", {**shown, "live_url": "/ws/findings/"})


@require_GET
def unverified(request: HttpRequest) -> HttpResponse:
    """Show the runs that committed results nobody had verified."""
    host = request.GET.get("host", "")
    found, below = unverified_commits(request.user, host, request.GET.get("before", ""))
    address = reverse("unverified")
    chosen = {"host": host} if host else {}
    shown = {
        "rows": [_silent(each) for each in found],
        "meters": meters_of(request.user, host),
        "host": host,
        "findings_url": reverse("findings"),
        "page": {
            "text": f"{len(found)} run{'s' if len(found) > 1 else ''}" if found else "",
            "older_url": f"{address}?{urlencode({**chosen, 'before': below})}" if below else "",
            "newer_url": f"{address}?{urlencode(chosen)}" if request.GET.get("before") else "",
        },
    }
    return render(request, "verification/unverified.html", shown)


def content(viewer: Viewer, query: Mapping[str, str]) -> dict[str, Any]:
    """Gather what the list shows for a query string."""
    filters = FindingFilters.of(query)
    page = findings_page(viewer, filters, timezone.now())
    return {
        "rows": [_row(each) for each in page.findings],
        "tiles": [_tile(severity.value, page) for severity in GRAVEST_FIRST],
        "filters": _filters(page),
        "meters": meters_of(viewer, filters.host),
        "page": {
            "text": f"{len(page.findings)} of {page.total:,} findings",
            "newer_url": list_address("findings", filters, before="") if filters.before else "",
            "older_url": list_address("findings", filters, before=page.next) if page.next else "",
        },
    }


def meters_of(viewer: Viewer, host: str = "") -> list[dict[str, Any]]:
    """Return how many commits nobody had verified, of every host or of one."""
    return [_meter(each) for each in meters(viewer, host)]


def _row(finding: Finding) -> dict[str, Any]:
    run = finding.run
    return {
        "id": finding.pk,
        "url": reverse("finding", args=[finding.pk]),
        "kind": finding.kind,
        "severity": finding.severity,
        "is_withdrawn": finding.status == WITHDRAWN,
        "explanation": finding.explanation,
        "target": finding.target,
        "host": run.host.slug,
        "run_id": run.run_id,
        "run_url": address_of(run),
        "opened_at": finding.opened_at,
    }


def _tile(severity: str, page: Page) -> dict[str, Any]:
    is_active = page.filters.severity == severity
    return {
        "key": severity,
        "count": page.counts[severity],
        "active": is_active,
        "url": list_address(
            "findings", page.filters, before="", severity="" if is_active else severity
        ),
    }


def _filters(page: Page) -> dict[str, Any]:
    filters = page.filters
    choices = {
        "kind": ("Finding", "any", [(kind.value, kind.value) for kind in FindingKind]),
        "host": ("Host", "any", [(slug, slug) for slug in page.hosts]),
        "within": ("Noted", "any time", list(WITHIN.items())),
        "status": ("Status", "", list(STATUSES.items())),
    }
    return {
        "selects": [
            {
                "name": name,
                "label": label,
                "any": any_word,
                "value": getattr(filters, name) or (STANDING if name == "status" else ""),
                "options": options,
            }
            for name, (label, any_word, options) in choices.items()
        ],
        "kept": {name: getattr(filters, name) for name in ("severity", "run")},
        "active": chips("findings", filters),
        "clear_url": reverse("findings"),
    }


def _meter(meter: Meter) -> dict[str, Any]:
    return {
        "host": meter.host,
        "commits": meter.commits,
        "unverified": meter.unverified,
        "share": f"{meter.share:.3f}",
        "percent": f"{100 * meter.share:.1f} %",
        "url": f"{reverse('unverified')}?{urlencode({'host': meter.host})}",
    }


def _silent(judgement: Judgement) -> dict[str, Any]:
    run = judgement.run
    return {
        "run_id": run.run_id,
        "run_url": address_of(run),
        "host": judgement.host.slug,
        "outcome": run.outcome,
        "status": run.status,
        "commits": judgement.commits,
        "unverified": judgement.unverified,
        "targets": judgement.unverified_targets[:5],
        "more": judgement.unverified - min(5, len(judgement.unverified_targets)),
        "at": run.last_event_at,
    }
