"""The API's answers about runs, in the shapes that OpenWOP clients know."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from runs.domain.timestamps import written
from runs.lines import missing_of
from runs.models import Event, Run, Viewer
from runs.queries.run_list import PAGE, RunFilters, below, key_of, narrow, tiles_at

MOST_EVENTS = 1000
_DEFAULT_EVENTS = 200


def runs_page(viewer: Viewer, query: Mapping[str, str]) -> dict[str, Any]:
    """Return `{runs, next}`: one page of the runs that the viewer sees."""
    filters = RunFilters.of(query)
    size = _number(query.get("limit"), PAGE, 1, 200)
    now = timezone.now()
    tiles = tiles_at(now - timedelta(seconds=settings.STALLED_AFTER_S))
    runs = narrow(Run.objects.visible_to(viewer).select_related("host"), filters, tiles, now=now)
    cursor = query.get("cursor", "")
    found = list(below(runs.order_by("-last_event_at", "-pk"), cursor)[: size + 1])
    return {
        "runs": [run_document(run, gaps=False) for run in found[:size]],
        "next": key_of(found[size - 1]) if len(found) > size else None,
    }


def run_document(run: Run, *, gaps: bool = True) -> dict[str, Any]:
    """Return one run: what its log adds up to, and what judgements say of it."""
    document: dict[str, Any] = {
        "runId": run.run_id,
        "host": run.host.slug,
        "workflowId": run.workflow_id or None,
        "parentRunId": run.parent_run_id or None,
        "status": run.status,
        "outcome": run.outcome or None,
        "held": run.held,
        "holdReasons": run.hold_reasons,
        "isTerminal": run.is_terminal,
        "startedAt": written(run.started_at),
        "endedAt": written(run.ended_at),
        "lastEventAt": written(run.last_event_at),
        "events": run.event_count,
        "lastSequence": -1 if run.last_sequence is None else run.last_sequence,
        "lastPosition": run.last_position,
        "standing": run.standing or None,
        "openEscalations": run.open_escalations,
    }
    if gaps:
        document["missing"] = [list(each) for each in missing_of(run)]
    return document


def run_page(run: Run, query: Mapping[str, str]) -> dict[str, Any]:
    """Return `{runId, events, lastSequence, status, isTerminal}`.

    Source: OpenWOP v2 poll response; `after_sequence` is exclusive, -1 means from the start.
    """
    above = _number(query.get("after_sequence"), -1, -1, 2**53)
    limit = _number(query.get("limit"), _DEFAULT_EVENTS, 1, MOST_EVENTS)
    rows = Event.objects.filter(run=run, origin="host", sequence__gt=above).order_by("sequence")
    events = [event_document(run, event) for event in rows[:limit]]
    return {
        "runId": run.run_id,
        "events": events,
        "lastSequence": events[-1]["sequence"] if events else above,
        "status": run.status,
        "isTerminal": run.is_terminal,
    }


def event_document(run: Run, event: Event) -> dict[str, Any]:
    """Return a host's event as it was sent: its own name for the type, its own extra keys."""
    document = {
        **event.extra,
        "eventId": event.event_id,
        "runId": run.run_id,
        "type": event.wire_type,
        "payload": event.payload,
        "timestamp": written(event.occurred_at),
        "sequence": event.sequence,
    }
    if event.node_id is not None:
        document["nodeId"] = event.node_id
    if event.causation_id is not None:
        document["causationId"] = event.causation_id
    return document


def _number(text: str | None, default: int, least: int, most: int) -> int:
    try:
        return min(max(int(text), least), most) if text else default
    except ValueError:
        return default
