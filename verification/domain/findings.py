"""What the Console noticed about a host's behaviour, in a form that can be checked by hand.

A finding names the lines it rests on, what is missing, what the host advertised then, and what
would change it. It is a function of the log: it stands while the log says so and goes when the log
says otherwise, whatever arrived first. Only one severity accuses, and it needs certainty on every
point.
Source: RFC 0090 §B.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from runs.domain.log import LogLine
from verification.domain.capabilities import Claim

SHOWN_LINES = 20
"""Lines named as evidence at most."""


class FindingKind(StrEnum):
    """What was noticed. Stored; add, never repurpose."""

    MERGED_AFTER_FAIL = "merged_after_fail"
    SUCCESS_AFTER_FAIL = "success_after_fail"
    MERGED_AFTER_REVISE = "merged_after_revise"
    REVISE_OVER_LIMIT = "revise_over_limit"
    VERDICT_REVERSED = "verdict_reversed"
    SELF_VERIFIED = "self_verified"
    UNVERIFIED_COMMIT = "unverified_commit"
    LOW_CONFIDENCE_NOT_ESCALATED = "low_confidence_not_escalated"
    CONTENT_LEAK_REFUSED = "content_leak_refused"
    SCHEMA_MISMATCH = "schema_mismatch"
    CONFLICTING_EVENT = "conflicting_event"
    NEAR_MISS_TYPE = "near_miss_type"
    VERDICT_UNADVERTISED = "verdict_unadvertised"
    CLOCK_SKEW = "clock_skew"


class Severity(StrEnum):
    """How much a finding says. Stored; add, never repurpose."""

    VIOLATION = "violation"
    """Proved: the host broke a promise that it had made at that time."""
    ADVISORY = "advisory"
    """It happened; the host had promised nothing."""
    SUSPECTED = "suspected"
    """It may have happened; the wire leaves it open."""
    NOT_PROVABLE = "not_provable"
    """Events are missing that would decide it."""
    SOFT = "soft"
    """Worth knowing; no promise is broken."""


GRAVEST_FIRST = (
    Severity.VIOLATION,
    Severity.SUSPECTED,
    Severity.NOT_PROVABLE,
    Severity.ADVISORY,
    Severity.SOFT,
)
"""Order in which a run is known by one of its findings."""


class Doubt(StrEnum):
    """Why something that looks like a broken promise is not proved."""

    SUBJECT = "subject"
    WIRE = "wire"
    UNREADABLE = "unreadable"
    PERSON = "person"
    REPLACED = "replaced"
    GOES_ON = "goes_on"
    CAPABILITIES = "capabilities"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line that a finding rests on."""

    event_id: str
    sequence: int | None
    type: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing noticed; there is one per kind and target."""

    kind: FindingKind
    severity: Severity
    target: str | None
    evidence: tuple[Evidence, ...]
    explanation: str
    would_change: str
    missing: tuple[tuple[int, int], ...] = ()
    """Sequences, both ends included, without which it cannot be proved."""
    doubts: tuple[Doubt, ...] = ()
    line: LogLine | None = None
    """What the host did, where it did something."""
    claim: Claim | None = None
    """What the host advertised at the time that matters."""


def evidence(lines: Iterable[LogLine | None]) -> tuple[Evidence, ...]:
    """Return lines as evidence, each once, in the order given."""
    shown = {
        line.event_id: Evidence(line.event_id, line.sequence, line.type)
        for line in lines
        if line is not None
    }
    return tuple(islice(shown.values(), SHOWN_LINES))


def worst_severity(findings: Iterable[Finding]) -> Severity | None:
    """Return the gravest severity, or None when nothing was noticed."""
    severities = {finding.severity for finding in findings}
    return next((each for each in GRAVEST_FIRST if each in severities), None)
