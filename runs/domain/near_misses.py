"""Unknown types that are a slip of the pen away from one that a gate depends on.

A reader must tolerate unknown types, and so `agent.verifed` would be tolerated out of sight with
the `fail` in it. Such a type is stored like any other and named, so that its run can be held. It is
never read as the type it resembles.
"""

import unicodedata
from functools import lru_cache

from runs.domain.codemap import CANONICAL, DOMAINS, V1_NAMES

VERDICT_TYPES = frozenset({"agent.verified", "runOrchestrator.decided"})
"""Types whose loss could open a gate or turn a give-up into a success."""

GATE_RELEVANT = VERDICT_TYPES | {
    "agent.decided",
    "core.workflowChain.confidence-escalated",
    "core.workflowChain.event",
    "interrupt.requested",
    "node.completed",
    "node.dispatched",
    "node.suspended",
    "run.cancelled",
    "run.completed",
    "run.failed",
}
"""Types from which gates, findings, outcomes and escalations are concluded."""


def _spellings(types: frozenset[str]) -> dict[str, str]:
    """Each type's names in both majors, in lower case, with its v1 name."""
    both = {name: name for name in types} | {v2: v1 for v2, v1 in V1_NAMES.items() if v1 in types}
    return {spelling.casefold(): name for spelling, name in sorted(both.items())}


_GATE_RELEVANT = _spellings(GATE_RELEVANT)
_VERDICTS = _spellings(VERDICT_TYPES)
_DOMAINS = frozenset(domain.casefold() for domain in DOMAINS)
_LONGEST = 256


@lru_cache(maxsize=4096)
def near_miss(name: str) -> str | None:
    """The gate-relevant type that an unknown type probably means, by its v1 name.

    One edit away (a character added, lost, changed, or swapped with its neighbour), or any
    difference of case; and its first segment is one of the protocol's.
    """
    if name in CANONICAL or name.partition(".")[0].casefold() not in _DOMAINS:
        return None
    return _resembled(name, _GATE_RELEVANT)


def may_mean_verdict(name: str) -> bool:
    """Whether an event of this type could have been a verdict, however badly it is written."""
    plain = unicodedata.normalize("NFKC", name[:_LONGEST])
    written = "".join(filter(str.isprintable, plain)).strip()
    known = CANONICAL.get(written)
    if known is not None:
        return known in VERDICT_TYPES
    return near_miss(written) is not None or _resembled(written, _VERDICTS) is not None


def _resembled(name: str, spellings: dict[str, str]) -> str | None:
    folded = name.casefold()
    for spelling, meant in spellings.items():
        if is_one_edit_away(folded, spelling):
            return meant
    return None


def is_one_edit_away(a: str, b: str) -> bool:
    """Whether one insertion, deletion, substitution or swap of neighbours, or none, makes a into b.

    Source: the restricted Damerau-Levenshtein distance, at most 1.
    """
    if abs(len(a) - len(b)) > 1:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    rest_a, rest_b = a[start : len(a) - end], b[start : len(b) - end]
    if len(rest_a) <= 1 and len(rest_b) <= 1:
        return True
    return len(rest_a) == 2 and rest_a == rest_b[::-1]
