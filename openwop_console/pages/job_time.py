"""The waterfall of a job: each span as a bar, in percent of the whole, ready to be drawn."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from verification.models import Job, Span


def waterfall(job: Job) -> list[dict[str, Any]]:
    """Return the spans in order of beginning, with where each starts and how long it lasts."""
    rows = list(Span.objects.filter(job=job).order_by("number"))
    if not rows:
        return []
    begin = min(row.started_at for row in rows)
    end = max(row.ended_at or timezone.now() for row in rows)
    whole = max((end - begin).total_seconds(), 0.001)
    depth: dict[int, int] = {}
    shown = []
    for row in rows:
        depth[row.number] = 0 if row.parent is None else depth.get(row.parent, 0) + 1
        start = (row.started_at - begin).total_seconds()
        length = ((row.ended_at or end) - row.started_at).total_seconds()
        shown.append(
            {
                "name": row.name,
                "depth": depth[row.number],
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


def _mark(event: Mapping[str, Any], begin: Any, whole: float) -> dict[str, str]:
    at = (datetime.fromisoformat(event["at"]) - begin).total_seconds()
    accepted = event["attributes"].get("oma.consensus.accepted")
    return {
        "x": f"{100 * at / whole:.2f}%",
        "tone": "good" if accepted is True else "bad" if accepted is False else "warn",
        "name": event["name"],
    }
