"""One finding: its evidence sheet, from the sentence down to the raw events."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from openwop_console.pages.indented import indented
from openwop_console.pages.run import address_of
from runs.models import CapabilitySnapshot, Event, Viewer
from verification.actions.evidence import public_keys
from verification.domain.capabilities import advertised
from verification.domain.findings import FindingKind
from verification.domain.rule_texts import RULES
from verification.domain.sentences import ranges
from verification.models import Finding, Verdict
from verification.queries.evidence import evidence_events, snapshots_of
from verification.queries.findings import WITHDRAWN

_TOLD = ("console.finding.noted", "console.finding.withdrawn")


@require_GET
def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one finding with everything that it rests on."""
    found = get_object_or_404(_visible(request.user), pk=pk)
    live = {"live_url": f"/ws/findings/{found.pk}/"}
    return render(request, "verification/finding.html", content(found) | live)


def find(viewer: Viewer, pk: int) -> Finding | None:
    """Return the finding, if the viewer may see it."""
    found: Finding | None = _visible(viewer).filter(pk=pk).first()
    return found


def content(found: Finding) -> dict[str, Any]:
    """Gather what the page shows."""
    run = found.run
    events = evidence_events(found)
    return {
        "finding": _said(found),
        "rule": RULES[FindingKind(found.kind)],
        "events": [_event(event, address_of(run)) for event in events],
        "verdicts": [_verdict(each, address_of(run)) for each in _verdicts(found)],
        "snapshots": [_snapshot(each) for each in snapshots_of(found, events)],
        "history": _history(found, address_of(run)),
        "run": {"run_id": run.run_id, "url": address_of(run), "host": run.host.slug},
        "evidence_url": reverse("api:evidence", args=[found.pk]),
        "key": public_keys()[0],
        "findings_url": reverse("findings"),
    }


def _visible(viewer: Viewer) -> Any:
    return Finding.objects.visible_to(viewer).select_related("run__host")


def _said(found: Finding) -> dict[str, Any]:
    missing = [(first, last) for first, last in found.missing]
    return {
        "id": found.pk,
        "kind": found.kind,
        "severity": found.severity,
        "is_withdrawn": found.status == WITHDRAWN,
        "target": found.target,
        "explanation": found.explanation,
        "would_change": found.would_change,
        "missing": ranges(missing),
        "opened_at": found.opened_at,
        "withdrawn_at": found.withdrawn_at,
        "withdrawn_because": found.withdrawn_because,
    }


def _event(event: Event, run_url: str) -> dict[str, Any]:
    return {
        "position": event.position,
        "sequence": event.sequence,
        "type": event.type,
        "event_id": event.event_id,
        "at": event.occurred_at,
        "received_at": event.recorded_at,
        "sha256": bytes(event.digest).hex(),
        "mismatches": event.line.mismatches,
        "url": f"{run_url}?seq={event.sequence}#line-{event.position}"
        if event.sequence is not None
        else f"{run_url}#line-{event.position}",
        "json": indented(event.payload),
    }


def _verdicts(found: Finding) -> list[Verdict]:
    about = Verdict.objects.filter(run=found.run_id, target=found.target)
    return list(about.order_by("sequence")[:50]) if found.target else []


def _verdict(verdict: Verdict, run_url: str) -> dict[str, Any]:
    return {
        "word": verdict.verdict,
        "agent": verdict.verifier,
        "sequence": verdict.sequence,
        "url": f"{run_url}?seq={verdict.sequence}#line-{verdict.position}",
        "confidence": verdict.confidence,
        "criteria": verdict.criteria,
        "stands": verdict.standing,
    }


def _snapshot(snapshot: CapabilitySnapshot) -> dict[str, Any]:
    claim = advertised(snapshot.document)
    return {
        "level": claim.level,
        "verifies": claim.verifies,
        "gates": claim.gates,
        "valid_from": snapshot.valid_from,
        "valid_to": snapshot.valid_to,
        "json": indented(snapshot.document),
    }


def _history(found: Finding, run_url: str) -> list[dict[str, Any]]:
    """Return when it was noted, changed and withdrawn, as the run's own log tells it."""
    lines = Event.objects.filter(run=found.run_id, type__in=_TOLD, payload__finding=found.pk)
    return [
        {
            "is_withdrawn": line.type.endswith("withdrawn"),
            "severity": line.payload.get("severity", ""),
            "at": line.occurred_at,
            "url": f"{run_url}#line-{line.position}",
            "position": line.position,
        }
        for line in lines.order_by("position")[:50]
    ]
