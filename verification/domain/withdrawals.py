"""Why a finding no longer holds, in a sentence: nothing that accused a host just disappears."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from runs.domain.projection import Outcome
from verification.domain.conclude import Conclusions
from verification.domain.findings import FindingKind
from verification.domain.gates import GateState
from verification.domain.sentences import ranges

Ranges = Sequence[tuple[int, int]]

UNSHOWN = "The log, as it is held now, no longer shows it."


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A finding that held until now."""

    kind: FindingKind
    target: str
    missing: Ranges
    """Sequences without which it could not be proved."""


def why_withdrawn(finding: Withdrawn, conclusions: Conclusions, gaps: Ranges) -> str:
    """Return why a finding no longer holds.

    Args:
        finding: as it held before.
        conclusions: what follows from the log now.
        gaps: sequences that are missing now.
    """
    parts = [_arrived(finding.missing, gaps), _because(finding, conclusions)]
    return " ".join(part for part in parts if part)


def _arrived(missing: Ranges, gaps: Ranges) -> str:
    still = any(first <= b and a <= last for first, last in missing for a, b in gaps)
    return "" if not missing or still else f"The missing events arrived: {ranges(missing)}."


def _because(finding: Withdrawn, conclusions: Conclusions) -> str:
    if finding.kind is FindingKind.VERDICT_UNADVERTISED:
        return "It is known now that the host had advertised its verifier."
    if finding.kind not in _ABOUT_GATES:
        return UNSHOWN
    gate = conclusions.gates.get(finding.target)
    if gate is None:
        return "No readable verdict on this target is held."
    if gate.state in _LIFTED:
        return gate.explanation
    if finding.kind is FindingKind.SUCCESS_AFTER_FAIL:
        return _ENDS.get(conclusions.outcome, UNSHOWN)
    return UNSHOWN


_ABOUT_GATES = frozenset(
    {
        FindingKind.MERGED_AFTER_FAIL,
        FindingKind.MERGED_AFTER_REVISE,
        FindingKind.SUCCESS_AFTER_FAIL,
        FindingKind.REVISE_OVER_LIMIT,
        FindingKind.VERDICT_REVERSED,
        FindingKind.SELF_VERIFIED,
    }
)
_LIFTED = frozenset({GateState.PASSED, GateState.OVERRIDDEN, GateState.SUPERSEDED})
_ENDS: Mapping[Outcome | None, str] = MappingProxyType(
    {
        Outcome.GAVE_UP: "The run gave up: it did not end as a success.",
        Outcome.FAILED: "The run failed: it did not end as a success.",
        Outcome.CANCELLED: "The run was cancelled: it did not end as a success.",
        None: "The run goes on: it has not ended as a success.",
    }
)
