"""What people take away: the runs that a list shows, one run's events, a figure's numbers."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from openwop_console.pages.analytics import figures_of
from openwop_console.pages.run import address_of, visible
from runs.domain.timestamps import written
from runs.models import Event, Run
from runs.queries.api import event_document
from runs.queries.run_list import RunFilters, every_match

COLUMNS = (
    "run", "host", "workflow", "status", "outcome", "held", "gate", "open reviews",
    "worst finding", "events", "started", "ended", "last event", "address",
)  # fmt: skip
AT_ONCE = 500
CSV = "text/csv; charset=utf-8"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a text for a formula; ids come from hosts, who may mean it so."""


@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    """Send all runs that the filters keep, as CSV."""
    found = every_match(
        request.user,
        RunFilters.of(request.GET.dict()),
        now=timezone.now(),
        stalled_after_s=settings.STALLED_AFTER_S,
    )
    rows = (_row(request, run) for run in found.iterator(AT_ONCE))
    return _download(_csv(COLUMNS, rows), CSV, "runs.csv")


@require_GET
def run(request: HttpRequest, host: str, run: str) -> HttpResponse:
    """Send the events of a run as its host sent them, one JSON object a line."""
    found = visible(request, host, run)
    events = Event.objects.filter(run=found, origin="host").order_by("sequence").iterator(AT_ONCE)
    lines = (json.dumps(event_document(found, each), ensure_ascii=False) + "\n" for each in events)
    return _download(lines, "application/x-ndjson", f"run-{found.pk}.jsonl")


@require_GET
def figure(request: HttpRequest, name: str) -> HttpResponse:
    """Send the numbers of one figure, as CSV."""
    for each in figures_of(request):
        if each["id"] == name:
            return _download(_csv(each["head"], each["rows"]), CSV, f"{name}.csv")
    raise Http404


def _row(request: HttpRequest, run: Run) -> list[object]:
    return [
        run.run_id, run.host.slug, run.workflow_id, run.status, run.outcome, run.held,
        run.standing, run.open_escalations, run.worst_finding, run.event_count,
        *map(_moment, (run.started_at, run.ended_at, run.last_event_at)),
        request.build_absolute_uri(address_of(run)),
    ]  # fmt: skip


def _moment(at: datetime | None) -> str:
    return written(at) or ""


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, line: str) -> str:
        return line


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(head)
    for row in rows:
        yield writer.writerow([_harmless(cell) for cell in row])


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _download(lines: Iterable[str], content_type: str, name: str) -> HttpResponse:
    response = HttpResponse("".join(lines), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response
