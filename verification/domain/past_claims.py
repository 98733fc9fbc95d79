"""Who held what, and what was decided, at a moment of a run: told by the Console's own lines."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runs.domain.log import LogLine
from runs.domain.readers import fields, text

PREFIX = "console.escalation."
CLAIMED = f"{PREFIX}claimed"
RESOLVED = f"{PREFIX}resolved"
UNDONE = f"{PREFIX}undone"
TYPES = frozenset(
    {CLAIMED, RESOLVED, UNDONE, *(f"{PREFIX}{end}" for end in ("released", "lapsed", "closed"))}
)
"""The lines that are read here."""


@dataclass(frozen=True, slots=True)
class Reviews:
    """Escalations by id, as they were."""

    claimed: Mapping[int, str]
    """Who held each."""
    resolved: frozenset[int]


def reviews(lines: Iterable[LogLine]) -> Reviews:
    """Return what the lines add up to.

    Args:
        lines: of the Console, up to the moment.
    """
    claimed: dict[int, str] = {}
    resolved: set[int] = set()
    for line in sorted(lines, key=lambda each: each.position):
        escalation = fields(line.payload).get("escalation")
        if line.type not in TYPES or type(escalation) is not int:
            continue
        if line.type in {CLAIMED, UNDONE}:  # who takes a decision back holds the claim again
            resolved.discard(escalation)
            claimed[escalation] = text(fields(line.payload).get("by")) or ""
        else:
            claimed.pop(escalation, None)
        if line.type == RESOLVED:
            resolved.add(escalation)
    return Reviews(claimed, frozenset(resolved))
