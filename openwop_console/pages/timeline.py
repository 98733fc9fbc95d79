"""The lines of a run as pages draw them, with the verdicts on them and on their subjects."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from openwop_console.pages.gates import TARGET_MARKS
from runs.models import Run
from runs.queries.timeline import Row, rows_at
from runs.templatetags.badges import mark_of
from verification.models import Gate, Verdict


def rows_of(run: Run, rows: Sequence[Row], until: int | None = None) -> list[dict[str, Any]]:
    """Return timeline rows with the verdicts drawn on them and on their subjects.

    Args:
        run: whose.
        rows: as the timeline gives them.
        until: lines above this position were not known yet.
    """
    positions = [row.position for row in rows]
    spoken = {v.position: v for v in Verdict.objects.filter(run=run, position__in=positions)}
    marks = _target_marks(run, spoken.values())
    on_it: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for verdict in Verdict.objects.filter(run=run, subject_position__in=positions):
        if until is None or verdict.position <= until:
            on_it[verdict.subject_position or 0].append(_mark(verdict))
    shown: list[dict[str, Any]] = []
    for row in rows:
        if row.missing_before:
            first, last = row.missing_before
            shown.append({"gap": {"first": first, "last": last, "count": last - first + 1}})
        is_later = until is not None and row.position > until
        drawn = _shown(row, spoken.get(row.position), on_it[row.position], marks)
        shown.append({**drawn, "is_later": is_later})
    return shown


def subjects_of(run: Run, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows above whose marks changed: subjects of verdicts that just came."""
    arrived = Verdict.objects.filter(run=run, position__in=[row.position for row in rows])
    positions = {v.subject_position for v in arrived if v.subject_position is not None}
    drawn: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for verdict in Verdict.objects.filter(run=run, subject_position__in=positions):
        drawn[verdict.subject_position or 0].append(_mark(verdict))
    subjects = {each.position: each for each in rows_at(run, positions)}
    return [
        {
            "position": position,
            "verdicts_on_it": marks,
            "is_late": subjects[position].is_late,
            "is_omitted": subjects[position].is_omitted,
            "mismatches": subjects[position].mismatches,
        }
        for position, marks in drawn.items()
        if position in subjects
    ]


def _mark(verdict: Verdict) -> dict[str, Any]:
    return {
        "word": verdict.verdict,
        "position": verdict.position,
        "sequence": verdict.sequence,
        "agent": verdict.verifier,
    }


def _target_marks(run: Run, verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Return how the targets that name no line of the run are marked."""
    targets = {v.target for v in verdicts if v.subject_position is None}
    gates = Gate.objects.filter(run=run, target__in=targets)
    kinds = gates.values_list("target", "subject_kind")
    return {target: TARGET_MARKS.get(kind, "") for target, kind in kinds}


def _shown(
    row: Row, verdict: Verdict | None, on_it: list[dict[str, Any]], marks: dict[str, str]
) -> dict[str, Any]:
    icon, tone = mark_of(row.type)
    return {
        "position": row.position,
        "sequence": row.sequence,
        "origin": row.origin,
        "type": row.type,
        "wire_type": row.wire_type,
        "icon": icon,
        "tone": tone,
        "summary": row.summary,
        "agent": row.agent,
        "node": row.node,
        "at": row.at,
        "pause": row.pause,
        "is_late": row.is_late,
        "is_omitted": row.is_omitted,
        "mismatches": row.mismatches,
        "event_id": row.event_id,
        "payload_url": row.payload_url,
        "verdicts_on_it": on_it,
        "verdict": verdict
        and {
            "word": verdict.verdict,
            "target": verdict.target,
            "target_position": verdict.subject_position,
            "mark": marks.get(verdict.target, ""),
            "confidence": verdict.confidence,
            "criteria": verdict.criteria,
        },
    }
