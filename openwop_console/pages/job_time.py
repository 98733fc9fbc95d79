"""The waterfall of a job: each span as a bar, in percent of the whole, ready to be drawn."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from verification.models import Job, Span


def waterfall(job: Job) -> list[dict[str, Any]]:
    """Return the spans, each before its own parts, with where it starts and how long it lasts."""
    rows = list(Span.objects.filter(job=job).order_by("number"))
    if not rows:
        return []
    begin = min(row.started_at for row in rows)
    end = max(row.ended_at or timezone.now() for row in rows)
    whole = max((end - begin).total_seconds(), 0.001)
    shown = []
    for row, depth in _nested(rows):
        start = (row.started_at - begin).total_seconds()
        length = ((row.ended_at or end) - row.started_at).total_seconds()
        shown.append(
            {
                "name": row.name,
                "task": str(row.attributes.get("oma.task.id", "")).replace("-", " "),
                "depth": depth,
                "who": row.attributes.get("oma.agent.name", ""),
                "phase": row.attributes.get("oma.phase", ""),
                "status": row.status or "open",
                "x": f"{100 * start / whole:.2f}%",
                "width": f"{max(100 * length / whole, 0.4):.2f}%",
                "took": f"{length:.2f} s",
                "marks": [_mark(event, begin, whole) for event in row.events],
                "attributes": sorted(row.attributes.items()),
            }
        )
    return shown


def _nested(rows: Sequence[Span]) -> list[tuple[Span, int]]:
    """Return each with its depth: what is part of another stands below it, however they ran."""
    known = {row.number for row in rows}
    parts: dict[int | None, list[Span]] = {}
    for row in rows:
        parts.setdefault(row.parent if row.parent in known else None, []).append(row)
    found = []
    waiting = [(row, 0) for row in reversed(parts.get(None, []))]
    while waiting:
        row, depth = waiting.pop()
        found.append((row, depth))
        waiting += [(part, depth + 1) for part in reversed(parts.get(row.number, []))]
    return found


def _mark(event: Mapping[str, Any], begin: Any, whole: float) -> dict[str, str]:
    at = (datetime.fromisoformat(event["at"]) - begin).total_seconds()
    accepted = event["attributes"].get("oma.consensus.accepted")
    return {
        "x": f"{100 * at / whole:.2f}%",
        "tone": "good" if accepted is True else "bad" if accepted is False else "warn",
        "name": event["name"],
    }
