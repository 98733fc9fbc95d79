"""One run: its timeline, and beside it what was judged."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from openwop_console.pages.ends import convergence, findings_of
from openwop_console.pages.gates import panel_of
from openwop_console.pages.indented import indented
from openwop_console.pages.settings_frame import administers
from openwop_console.pages.timeline import rows_of, subjects_of
from runs.domain.projection import WAITING
from runs.domain.run_ids import to_segment
from runs.models import Event, Gap, Run, RunSnapshot
from runs.queries.snapshots import parent_of, snapshot_beyond_log
from runs.queries.timeline import (
    Cursor,
    Window,
    around,
    changes_since,
    newest,
    older,
    stalled,
)
from runs.templatetags.times import span
from verification.models import Escalation, Finding, Gate
from verification.queries.ends import end_of
from verification.queries.gates import Then, gate_in_parent, gate_panel, gate_panel_at
from verification.queries.moments import neighbours, place_of

HOLDS = {
    "near_miss_type": "An event's type is one letter away from one that gates.",
    "verdict_refused": "A verdict was refused as malformed; it could have been a fail.",
    "verdict_unreadable": "A verdict does not say what it must; it could have been a fail.",
    "decision_unreadable": "A decision of the orchestrator cannot be read.",
    "conflicting_event": "Two different events claim the same place in the log.",
    "judging_failed": "The Console could not judge the latest events; it tries again by itself.",
}

SHOWN_FINDINGS = 8
"""Findings that are listed on the page."""


@require_GET
def view(request: HttpRequest, host: str, run: str) -> HttpResponse:
    """Show one run, at its newest lines, at `?seq=`, above `?before=`, or as known `?at=`."""
    found = visible(request, host, run)
    at = _position(request.GET.get("at", ""), found)
    if at is not None:
        shown = content_at(found, at)
        return render(request, "runs/detail.html", {**shown, "links": _links(request, found)})
    window = _window(found, request.GET.get("seq", ""), request.GET.get("before", ""))
    shown = content(found, window, offset=_offset(request.GET.get("gates", "")))
    return render(request, "runs/detail.html", {**shown, "links": _links(request, found)})


@require_GET
def line(request: HttpRequest, host: str, run: str, position: int) -> HttpResponse:
    """Show one line in full: payload, envelope, what was noticed about it."""
    found = visible(request, host, run)
    event = get_object_or_404(Event, run=found, position=position)
    part = "#payload" if request.headers.get("HX-Request") else ""
    return render(request, f"runs/payload.html{part}", {"event": _full(found, event)})


def content(run: Run, window: Window, offset: int = 0) -> dict[str, Any]:
    """Gather what the page shows around a window of the timeline.

    Args:
        run: whose page it is.
        window: some lines of its timeline.
        offset: how many of its gates to pass over.
    """
    address = reverse("run", args=[run.host.slug, run.run_id])
    is_at_end = window.is_newest and not offset
    return {
        **_standing(run, offset),
        "rows": rows_of(run, window.rows),
        "cursor": Cursor(window.cursor, window.tail, window.first),
        "live_url": f"/ws{address_of(run)}/" if is_at_end else "",
        "list_url": reverse("runs"),
        "older_url": f"{address}?before={window.first}" if window.has_older else "",
        "shown_text": shown_text(window),
    }


def content_at(run: Run, at: int) -> dict[str, Any]:
    """Gather what the page shows of a run as it was known when a line was its last one."""
    window = around(run, place_of(run, at))
    address = address_of(run)
    panel = gate_panel_at(run, at)
    outcome = panel.then.outcome if panel.then else ""
    end = end_of(run, at)
    return {
        "run": _head(run),
        "panel": panel_of(run, panel, end, address),
        "goal": convergence(run, end, address, outcome),
        "travel": _travel(run, at, panel.then),
        "rows": rows_of(run, window.rows, until=at),
        "cursor": Cursor(window.cursor, window.tail, window.first),
        "list_url": reverse("runs"),
        "older_url": f"{address}?before={window.first}" if window.has_older else "",
        "newest_url": address,
        "shown_text": shown_text(window),
    }


def changes(run: Run, cursor: Cursor) -> dict[str, Any] | None:
    """Gather what a page with this cursor must draw to be true again; None when it is."""
    found = changes_since(run, cursor)
    if found is None:
        return None
    shown = {
        **_standing(run),
        "cursor": found.cursor,
        "rows": rows_of(run, found.rows),
        "redrawn": [],
        "whole": found.window is not None,
        "shown_text": f"{run.last_position:,} lines",
    }
    if found.window is not None:
        shown["rows"] = rows_of(run, found.window.rows)
        shown["shown_text"] = shown_text(found.window)
    else:
        shown["redrawn"] = subjects_of(run, found.rows)
    return shown


def address_of(run: Run) -> str:
    """Return the run's path, the run id as one segment."""
    return f"/runs/{run.host.slug}/{to_segment(run.run_id)}"


def _links(request: HttpRequest, run: Run) -> list[dict[str, str]]:
    """Return where one may go from a run: what people did about it, and its end."""
    here = [run.host.slug, run.run_id]
    links = [
        {"label": "Audit", "icon": "audit", "url": reverse("run-audit", args=here)},
        {"label": "Export", "icon": "download", "url": reverse("run-export", args=here)},
    ]
    if administers(request, run.workspace_id):
        links.append({"label": "Erase…", "icon": "cross", "url": reverse("run-erase", args=here)})
    return links


def visible(request: HttpRequest, host: str, run: str) -> Run:
    """Return the run that an address names. Raises Http404: none that whoever asks may see."""
    seen = Run.objects.visible_to(request.user).select_related("host")
    return get_object_or_404(seen, host__slug=host, run_id=run)


def _window(run: Run, sequence: str, before: str) -> Window:
    if before:
        return older(run, before)
    if sequence.isascii() and sequence.isdigit() and len(sequence) <= 16:
        return around(run, int(sequence))
    return newest(run)


def shown_text(window: Window) -> str:
    """Say how much of the log is on the page."""
    sequences = [row.sequence for row in window.rows if row.sequence is not None]
    reach = f" (#{min(sequences)} to #{max(sequences)})" if sequences else ""
    return f"{len(window.rows):,} of {window.total:,} lines{reach}"


def _standing(run: Run, offset: int = 0) -> dict[str, Any]:
    """Gather everything around the timeline: state, facts, banners, gates, end and findings."""
    address = address_of(run)
    end = end_of(run)
    found = Finding.objects.filter(run=run, status="standing")
    judged = gate_in_parent(run)
    return {
        "run": _head(run, judged.run if judged else None),
        "judged": _judged(judged) if judged else None,
        "banners": list(_banners(run)),
        "panel": panel_of(run, gate_panel(run, offset), end, address),
        "goal": convergence(run, end, address, run.outcome),
        "findings": findings_of(found.order_by("pk")[:SHOWN_FINDINGS]),
        "findings_url": f"{reverse('findings')}?{urlencode({'run': run.run_id})}",
        "travel": _travel(run, None, None),
    }


def _travel(run: Run, at: int | None, then: Then | None) -> dict[str, Any]:
    """Return the way to earlier moments of a run, from one of them or from now."""
    earlier, later = neighbours(run, run.last_position + 1 if at is None else at)
    address = address_of(run)
    return {
        "url": address,
        "at": at,
        "when": then.at if then else None,
        "outcome": then.outcome if then else "",
        "last": run.last_position,
        "earlier_url": f"{address}?at={earlier}" if earlier else "",
        "later_url": f"{address}?at={later}" if later and at is not None else "",
    }


def _position(text: str, run: Run) -> int | None:
    """Return the position that an address looks back to, within the log; None: it does not."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        return None
    return max(1, min(int(text), run.last_position))


def _offset(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0


def _judged(gate: Gate) -> dict[str, str]:
    return {"run_id": gate.run.run_id, "url": address_of(gate.run), "state": gate.state}


def _head(run: Run, judged_in: Run | None = None) -> dict[str, Any]:
    """Return what the head of the page shows.

    Args:
        run: whose page it is.
        judged_in: the run that says it is its parent, where its own log may not name one.
    """
    parent_run_id = parent_of(run) or (judged_in.run_id if judged_in else "")
    parent = Run.objects.filter(host=run.host, run_id=parent_run_id or None).first()
    return {
        "run_id": run.run_id,
        "status": "stalled" if stalled(run, timezone.now()) else run.status,
        "outcome": run.outcome,
        "waits": run.is_paused_job,
        "held": run.held,
        "gate": run.standing,
        "worst_finding": run.worst_finding,
        "workflow_id": run.workflow_id,
        "host_slug": run.host.slug,
        "parent_run_id": parent_run_id,
        "parent_url": address_of(parent) if parent else "",
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "event_count": run.event_count,
        "last_event_at": run.last_event_at,
    }


def _said(told: RunSnapshot) -> str:
    """Say what a host told of a run without any event: its state, and what it waits for."""
    status = told.status_as_sent or told.status
    waits = [_named(each.get("nodeId"), each.get("kind")) for each in told.interrupts]
    named = ", ".join(each for each in waits if each) or told.current_node_id
    where = f", at {named}" if named else ""
    at = told.read_at.strftime("%Y-%m-%d %H:%M")
    return f"By its snapshot of {at} UTC the run is {status}{where}. Its events do not say so."


def _named(node: object, kind: object) -> str:
    """Name an interrupt by the short words that it has; what is not one is left out."""
    if not isinstance(node, str):
        return ""
    return f"{node} ({kind})" if isinstance(kind, str) else node


def _banners(run: Run) -> Iterable[dict[str, str]]:
    if run.held:
        why = " ".join(HOLDS.get(reason, reason) for reason in run.hold_reasons)
        text = f"{why} Nothing in this run counts as passed until it is cleared up."
        yield {"tone": "warn", "icon": "held", "title": "Held.", "text": text}
    for finding in Finding.objects.filter(run=run, status="standing", severity="violation")[:5]:
        yield {
            "tone": "alarm",
            "icon": "lock-broken",
            "title": "Gate violated.",
            "text": finding.explanation,
            "url": reverse("finding", args=[finding.pk]),
            "url_label": "Evidence",
        }
    missing = list(Gap.objects.filter(run=run).order_by("first")[:3])
    if missing:
        ranges = ", ".join(
            f"#{gap.first}" if gap.first == gap.last else f"#{gap.first} to #{gap.last}"
            for gap in missing
        )
        text = f"{ranges}: not received. What they could change is not claimed."
        yield {"tone": "warn", "icon": "gap", "title": "Events are missing.", "text": text}
    told = snapshot_beyond_log(run)
    if told is not None:
        title = "The host waits." if told.status in WAITING else "The host says more."
        yield {"tone": "warn", "icon": "info", "title": title, "text": _said(told)}
    waiting = Escalation.objects.waiting().filter(run=run).order_by("due_at").first()
    if waiting is not None:
        yield {
            "tone": "person",
            "icon": "person",
            "title": "A person is needed.",
            "text": "This run has an open escalation.",
            "url": reverse("escalation", args=[waiting.pk]),
            "url_label": "Open review",
        }


def _full(run: Run, event: Event) -> dict[str, Any]:
    pretty = indented(event.payload)
    omitted = isinstance(event.payload, dict) and event.payload.get("omitted") is True
    facts = [
        ("Event id", event.event_id),
        ("Type as sent", event.wire_type if event.wire_type != event.type else ""),
        ("Caused by", event.causation_id),
        ("SHA-256", bytes(event.digest).hex() if event.sequence is not None else ""),
    ]
    return {
        "type": event.type,
        "event_id": event.event_id,
        "run_id": run.run_id,
        "run_url": f"{address_of(run)}#line-{event.position}",
        "omitted": event.payload if omitted else None,
        "mismatches": event.line.mismatches,
        "json": "" if event.payload is None or omitted else pretty,
        "facts": [(label, value) for label, value in facts if value],
        "received_at": event.recorded_at,
        "arrived": _arrived(event.flags.get("skew", 0.0)),
    }


def _arrived(skew_s: float) -> str:
    """Say how far our clock at the arrival was from the host's time in the event.

    Args:
        skew_s: seconds by which the host's time is later. Earlier is mostly the way that it took,
            and may be a clock that is slow; later can only be a clock that is fast.
    """
    if not skew_s:
        return ""
    apart = span(timedelta(seconds=abs(skew_s)))
    if skew_s < 0:
        return f"{apart} after the host's time"
    return f"{apart} before the host's time: its clock is ahead"
