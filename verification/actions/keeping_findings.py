"""Brings the rows of findings in line with what was concluded.

A finding that no longer holds is withdrawn with the reason, never deleted: whoever saw the
accusation must be able to see what became of it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from runs.actions.log import NewLine, console_line
from runs.models import Run
from verification.domain import findings as rules
from verification.domain.capabilities import Claim
from verification.domain.conclude import Conclusions
from verification.domain.findings import FindingKind
from verification.domain.withdrawals import Withdrawn, why_withdrawn
from verification.models import Finding

STANDING, WITHDRAWN = "standing", "withdrawn"

Ranges = Sequence[tuple[int, int]]


def keep_findings(run: Run, conclusions: Conclusions, gaps: Ranges, now: datetime) -> list[NewLine]:
    """Keep one row per kind and target and tell what was noted, changed or withdrawn."""
    held = {(row.kind, row.target): row for row in Finding.objects.filter(run=run)}
    lines = []
    for found in conclusions.findings:
        key = (found.kind.value, found.target or "")
        row = held.pop(key, None) or Finding(run=run, kind=key[0], target=key[1], opened_at=now)
        if _write(row, found):
            lines.append(_line(run, row, now))
    for row in held.values():
        if row.status == STANDING:
            _withdraw(row, conclusions, gaps, now)
            lines.append(_line(run, row, now))
    return lines


def _write(row: Finding, found: rules.Finding) -> bool:
    """Write a finding if it differs from its row; say whether people should be told."""
    wanted: dict[str, Any] = {
        "severity": found.severity.value,
        "status": STANDING,
        "evidence": list(_evidence(found.evidence)),
        "missing": [list(each) for each in found.missing],
        "capabilities": _capabilities(found.claim),
        "explanation": found.explanation,
        "would_change": found.would_change,
        "withdrawn_at": None,
        "withdrawn_because": "",
    }
    if row.pk and all(getattr(row, name) == value for name, value in wanted.items()):
        return False
    is_news = not row.pk or (row.severity, row.status) != (wanted["severity"], STANDING)
    for name, value in wanted.items():
        setattr(row, name, value)
    row.save()
    return is_news


def _evidence(lines: Iterable[rules.Evidence]) -> Iterable[dict[str, Any]]:
    for line in lines:
        yield {"eventId": line.event_id, "sequence": line.sequence, "type": line.type}


def _capabilities(claim: Claim | None) -> dict[str, Any] | None:
    """Return what the host had advertised at the time that matters, as far as that is known."""
    if claim is None or claim.span is None or claim.advertised is None:
        return None
    return {
        "snapshot": claim.span.reference,
        "executionModelVersion": claim.advertised.level,
        "verifier": {"supported": claim.advertised.verifies, "gating": claim.advertised.gates},
    }


def _withdraw(row: Finding, conclusions: Conclusions, gaps: Ranges, now: datetime) -> None:
    before = Withdrawn(
        kind=FindingKind(row.kind),
        target=row.target,
        missing=[(first, last) for first, last in row.missing],
    )
    row.status, row.withdrawn_at = WITHDRAWN, now
    row.withdrawn_because = why_withdrawn(before, conclusions, gaps)
    row.save(update_fields=["status", "withdrawn_at", "withdrawn_because"])


def _line(run: Run, row: Finding, now: datetime) -> NewLine:
    what = "noted" if row.status == STANDING else "withdrawn"
    return console_line(
        event_id=f"console:finding:{row.pk}:{run.last_position}:{what}",
        type=f"console.finding.{what}",
        at=now,
        payload={
            "finding": row.pk,
            "kind": row.kind,
            "severity": row.severity,
            "target": row.target or None,
        },
    )
