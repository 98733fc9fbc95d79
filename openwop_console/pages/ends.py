"""How a run ended, and what was noticed about it: the panels around the gates on its page."""

from collections.abc import Callable, Iterable
from typing import Any

from django.urls import reverse

from openwop_console.pages.gates import permalinks
from runs.models import Event, Run
from verification.models import Finding
from verification.queries.ends import End


def convergence(run: Run, end: End, run_url: str, outcome: str) -> dict[str, Any] | None:
    """Return how the run ended and what it met; None while nobody has said so."""
    if end.terminate is None and end.line is None:
        return None
    address = permalinks(run, run_url)
    gave_up = any(each.met is False for each in end.criteria)
    return {
        "outcome": outcome,
        "criteria": [{"key": each.key, "met": each.met} for each in end.criteria],
        "decided": _line(end.terminate, address),
        "ended": _line(end.line, address),
        "is_contradicted": gave_up and end.line is not None and end.line.type == "run.completed",
        "is_unstated": outcome == "ended" and end.line is not None and not end.criteria,
        "spoiled_by": _spoiled_by(run) if outcome == "goal_met" else "",
    }


def _spoiled_by(run: Run) -> str:
    """Return what keeps a run that met its goal from counting as a success, if anything does."""
    if run.worst_finding == "violation":
        return "a gate was violated"
    return "the run is held" if run.held else ""


def _line(event: Event | None, address: Callable[[int, int | None], str]) -> dict[str, Any] | None:
    if event is None:
        return None
    return {
        "url": address(event.position, event.sequence),
        "sequence": event.sequence,
        "type": event.type,
        "at": event.occurred_at,
    }


def findings_of(found: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return a run's findings as its page lists them."""
    return [
        {
            "id": each.pk,
            "url": reverse("finding", args=[each.pk]),
            "kind": each.kind,
            "severity": each.severity,
            "target": each.target,
        }
        for each in found
    ]
