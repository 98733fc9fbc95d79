"""The rule behind each kind of finding: what it says, how binding it is, and where it stands.

In our own words; the source decides. A rule of the Console's own is never charged to a host.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from verification.domain.findings import FindingKind


class Force(StrEnum):
    """How binding a rule is."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    OURS = "Console"
    """A reading or a number of the Console's own."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a finding is measured against."""

    text: str
    force: Force
    source: str


_GATE = "RFC 0090 §B"
_SHAPE = "RFC 0090 §A"

RULES: Mapping[FindingKind, Rule] = MappingProxyType(
    {
        FindingKind.MERGED_AFTER_FAIL: Rule(
            "A host that advertises gating must not apply the output of a result that a verifier "
            "failed, unless the verifier takes it back or a person lets it through.",
            Force.MUST,
            _GATE,
        ),
        FindingKind.SUCCESS_AFTER_FAIL: Rule(
            "A host that advertises gating must not end a run as a success while a result that it "
            "rests on stands failed. Completing it with no word that it gave up claims success.",
            Force.MUST,
            _GATE,
        ),
        FindingKind.MERGED_AFTER_REVISE: Rule(
            "A result that a verifier wants revised should go back to its actor before it is used.",
            Force.SHOULD,
            _GATE,
        ),
        FindingKind.REVISE_OVER_LIMIT: Rule(
            "Turns that revise verdicts ask for are bounded by the loop's own limit.",
            Force.SHOULD,
            "RFC 0090 §B; RFC 0058",
        ),
        FindingKind.VERDICT_REVERSED: Rule(
            "A verifier may take its word back; both words stay on record.",
            Force.OURS,
            _SHAPE,
        ),
        FindingKind.SELF_VERIFIED: Rule(
            "The verifier should be somebody else than the actor; where it is not, that must be "
            "visible.",
            Force.SHOULD,
            _SHAPE,
        ),
        FindingKind.UNVERIFIED_COMMIT: Rule(
            "Verification is opt-in: no verdict is no failure, and no pass either.",
            Force.OURS,
            _GATE,
        ),
        FindingKind.LOW_CONFIDENCE_NOT_ESCALATED: Rule(
            "An orchestrator's decision below the confidence floor goes to a person before the run "
            "acts on it.",
            Force.SHOULD,
            "RFC 0039",
        ),
        FindingKind.CONTENT_LEAK_REFUSED: Rule(
            "A verdict names its target, its word and the criteria; it never carries what was "
            "checked.",
            Force.MUST,
            "RFC 0090 §A, SECURITY",
        ),
        FindingKind.SCHEMA_MISMATCH: Rule(
            "Payloads of known events have the published shape.",
            Force.SHOULD,
            "run-event-payloads.schema.json",
        ),
        FindingKind.CONFLICTING_EVENT: Rule(
            "An event is written once: the same id or sequence always carries the same content.",
            Force.MUST,
            "run-event.schema.json",
        ),
        FindingKind.NEAR_MISS_TYPE: Rule(
            "An event whose type is one letter away from one that gates may be that one: its run "
            "is held until that is cleared up.",
            Force.OURS,
            "codemap.json",
        ),
        FindingKind.VERDICT_UNADVERTISED: Rule(
            "A host that emits verdicts says so in its discovery document.",
            Force.SHOULD,
            "RFC 0090 §D",
        ),
        FindingKind.CLOCK_SKEW: Rule(
            "Events are ordered by sequence; a clock that runs against it makes times unreliable.",
            Force.OURS,
            "run-event.schema.json",
        ),
    }
)
