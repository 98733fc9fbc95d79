"""Brings the rows of findings in line with what was concluded.

A finding that no longer holds is withdrawn with the reason, never deleted: whoever saw the
accusation must be able to see what became of it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from runs.actions.log import NewLine, console_line
from runs.models import Run
from runs.rows import Statement, update
from verification.domain import findings as rules
from verification.domain.capabilities import Claim
from verification.domain.conclude import Conclusions
from verification.domain.findings import FindingKind
from verification.domain.withdrawals import Withdrawn, why_withdrawn
from verification.kept import FINDING_COLUMNS, Kept
from verification.models import Finding

STANDING, WITHDRAWN = "standing", "withdrawn"

Ranges = Sequence[tuple[int, int]]


def keep_findings(
    run: Run, kept: Kept, conclusions: Conclusions, gaps: Ranges, now: datetime
) -> tuple[list[Statement], list[NewLine]]:
    """Keep one row per kind and target and tell what was noted, changed or withdrawn."""
    held = {(each["kind"], each["target"]): Finding(run=run, **each) for each in kept.findings}
    new: list[Finding] = []
    changed: list[Finding] = []
    news: list[Finding] = []
    for found in conclusions.findings:
        key = (found.kind.value, found.target or "")
        row = held.pop(key, None)
        if row is None:
            row = Finding(run=run, kind=key[0], target=key[1], opened_at=now)
            _write(row, found)
            new.append(row)
            news.append(row)
            continue
        was = (row.severity, row.status)
        if _write(row, found):
            changed.append(row)
            if was != (row.severity, row.status):
                news.append(row)
    for row in held.values():
        if row.status == STANDING:
            _withdraw(row, conclusions, gaps, now)
            changed.append(row)
            news.append(row)
    if new:
        Finding.objects.bulk_create(new)
    statements = update("verification_finding", _COLUMNS, [_columns_of(row) for row in changed])
    return [*statements], [_line(run, row, now) for row in news]


_COLUMNS = {**FINDING_COLUMNS, "withdrawn_at": "timestamptz", "withdrawn_because": "text"}


def _columns_of(row: Finding) -> dict[str, Any]:
    return {"id": row.pk, **{name: getattr(row, name) for name in _COLUMNS}}


def _write(row: Finding, found: rules.Finding) -> bool:
    """Let a row say what was found; return whether it said anything else before."""
    wanted: dict[str, Any] = {
        "severity": found.severity.value,
        "status": STANDING,
        "evidence": list(_evidence(found.evidence)),
        "missing": [list(each) for each in found.missing],
        "capabilities": _capabilities(found.claim),
        "explanation": found.explanation,
        "would_change": found.would_change,
    }
    if all(getattr(row, name) == value for name, value in wanted.items()):
        return False
    row.withdrawn_at, row.withdrawn_because = None, ""
    for name, value in wanted.items():
        setattr(row, name, value)
    return True


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
