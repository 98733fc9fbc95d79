"""How runs end, what critics say, how long people take."""

from datetime import datetime, timedelta
from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from openwop_console.pages.figures import LEAST, stacked
from openwop_console.pages.settings_frame import person_of
from verification.queries.analytics import (
    HASTY_S,
    Share,
    habits,
    outcomes_by_day,
    patience,
    verdicts_by_verifier,
)
from verification.queries.queue import leads

SPANS = {"7": "7 days", "30": "30 days", "90": "90 days"}
OUTCOMES = {
    "goal_met": ("Goal met", "good"),
    "in_question": ("Goal met, in question", "person"),
    "gave_up": ("Gave up", "warn"),
    "ended": ("Ended, not stated", "quiet"),
    "failed": ("Failed", "bad"),
    "cancelled": ("Cancelled", "faint"),
}
VERDICTS = {"pass": ("Pass", "good"), "revise": ("Revise", "warn"), "fail": ("Fail", "bad")}


# plotly.js brings the style sheet of a map library that it injects when it loads, maps or no maps.
# Its hash lets that one sheet in, on this page; a browser test notices when an update changes it.
_MAP_STYLES = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"


@csp_update({"style-src": [_MAP_STYLES]})
@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """Show the numbers of a span of days."""
    chosen = _days(request)
    since = _since(request)
    context = {
        "tabs": [
            {
                "label": label,
                "url": f"{reverse('analytics')}?days={key}",
                "active": key == chosen,
                "count": None,
            }
            for key, label in SPANS.items()
        ],
        "figures": figures_of(request),
        "patience": patience(request.user, since),
        "own": habits(request.user, since, of=person_of(request)),
        "habits": habits(request.user, since) if leads(request.user) else None,
        "hasty_s": HASTY_S,
    }
    return render(request, "analytics.html", context)


def figures_of(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the figures of the page, each with the same numbers as rows."""
    since = _since(request)
    days = outcomes_by_day(request.user, since, timezone.now())
    verifiers = verdicts_by_verifier(request.user, since)
    return [
        {
            "id": "outcomes",
            "title": "How runs ended",
            "label": "Runs per day by how they ended",
            "export_url": _export("outcomes", request),
            "spec": stacked(days, OUTCOMES),
            "head": ["Day", *(label for label, _ in OUTCOMES.values())],
            "rows": _table([day for day in reversed(days) if day.total], list(OUTCOMES)),
            "total": sum(day.total for day in days),
            "least": LEAST,
        },
        {
            "id": "verdicts",
            "title": "What critics said",
            "label": "Verdicts by verifier",
            "export_url": _export("verdicts", request),
            "spec": stacked(verifiers, VERDICTS, sideways=True),
            "head": ["Verifier", *(label for label, _ in VERDICTS.values())],
            "rows": _table(verifiers, list(VERDICTS)),
            "total": sum(each.total for each in verifiers),
            "least": LEAST,
        },
    ]


def _export(figure: str, request: HttpRequest) -> str:
    return f"{reverse('figure-export', args=[figure])}?days={_days(request)}"


def _days(request: HttpRequest) -> str:
    chosen = request.GET.get("days", "30")
    return chosen if chosen in SPANS else "30"


def _since(request: HttpRequest) -> datetime:
    return timezone.now() - timedelta(days=int(_days(request)) - 1)


def _table(shares: list[Share], words: list[str]) -> list[list[Any]]:
    return [[share.name, *(share.counts.get(word, 0) for word in words)] for share in shares]
