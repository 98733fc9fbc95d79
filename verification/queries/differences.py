"""What changed about a matter since a person had it on screen, in sentences."""

from dataclasses import dataclass

from verification.domain.freshness import View
from verification.models import Escalation, Verdict
from verification.situations import view_of


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different now."""

    words: str
    sequence: int | None = None
    position: int | None = None


def differences(found: Escalation, seen: View) -> list[Change]:
    """Return what is different now from what was on screen; nothing, if it is the same."""
    current = view_of(found)
    rows = Verdict.objects.filter(run=found.run_id, target=found.target).order_by("sequence")
    by_id = {row.event_id: row for row in rows}
    changes = [
        Change(f"New: {_said(by_id[name])}.", by_id[name].sequence, by_id[name].position)
        for name in sorted(current.verdicts - seen.verdicts)
        if name in by_id
    ]
    changes += [
        Change(f"No longer standing: {_said(by_id[name])}.", by_id[name].sequence)
        for name in sorted(seen.verdicts - current.verdicts)
        if name in by_id
    ]
    if seen.digest != current.digest:
        changes.append(Change("The result, the reasons or the host's question are others now."))
    if changes and found.run.is_terminal:
        changes.append(Change(f"The run is {found.run.status}."))
    return changes


def _said(verdict: Verdict) -> str:
    return f"{verdict.verdict} by {verdict.verifier}"
