"""Which lines of a log conclusions are drawn from, so that callers need load no others."""

from collections.abc import Iterable

from runs.domain import readers
from runs.domain.interrupts import FOUND_TYPES
from runs.domain.log import LogLine
from runs.domain.projection import SIGNAL_TYPES as STATUS_TYPES

VERDICT_REFUSED = "console.verdict.refused"
EVENT_CONFLICTED = "console.event.conflicted"
VERDICT_RECORDED = "console.verdict.recorded"
"""A verdict of the Console's own consensus on a host's target: the payload of `agent.verified`, and
`atSequence`, the host's last sequence when it was given."""

BACKGROUND_TYPES = frozenset({readers.TOOL_CALLED, readers.TOOL_RETURNED, readers.NODE_COMPLETED})
"""Types that say nothing in a run without any verdict, and of which a run may hold very many."""

SIGNAL_TYPES: frozenset[str] = (
    STATUS_TYPES
    | FOUND_TYPES
    | BACKGROUND_TYPES
    | {
        readers.VERDICT,
        readers.ACTOR_TURN,
        readers.CHAIN_STEP,
        readers.CONFIDENCE_ESCALATED,
        readers.DISPATCHED,
        readers.APPROVAL_OVERRIDDEN,
        readers.APPROVAL_GRANTED,
        VERDICT_REFUSED,
        EVENT_CONFLICTED,
        VERDICT_RECORDED,
    }
)
"""The only types that conclusions are drawn from, with every line that has `near_miss_of`."""


def is_signal(line: LogLine) -> bool:
    """Say whether a line can change a conclusion."""
    return line.type in SIGNAL_TYPES or line.near_miss_of is not None


def relevant(types: Iterable[str], *, has_verdicts: bool = True) -> bool:
    """Say whether lines of these types can change a conclusion.

    Args:
        types: of the new lines; give a near miss as the type it misses.
        has_verdicts: whether the run, the new lines included, holds a verdict. Without one the
            lines of `BACKGROUND_TYPES` say nothing.
    """
    return not signal_types(has_verdicts=has_verdicts).isdisjoint(types)


def signal_types(*, has_verdicts: bool = True) -> frozenset[str]:
    """Return the types of the lines that must be loaded to conclude."""
    return SIGNAL_TYPES if has_verdicts else SIGNAL_TYPES - BACKGROUND_TYPES
