"""The words of findings: what happened, in one sentence, and what would change it.

Sentences name events by sequence and agents by id; they never hold content.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from runs.domain.log import LogLine
from runs.domain.readers import ORCHESTRATOR_DECISION
from verification.domain.findings import Doubt, FindingKind, Severity
from verification.domain.verdicts import Verdict

_DEEDS: Mapping[FindingKind, str] = MappingProxyType(
    {
        FindingKind.MERGED_AFTER_FAIL: "was merged",
        FindingKind.MERGED_AFTER_REVISE: "was merged",
    }
)
_TAILS: Mapping[Severity, str] = MappingProxyType(
    {
        Severity.VIOLATION: "The host had advertised that a fail blocks this.",
        Severity.ADVISORY: "Nothing bound the host to this verdict.",
        Severity.SUSPECTED: "This is not proved.",
        Severity.NOT_PROVABLE: "Events in between are missing, so this is not proved.",
        Severity.SOFT: "The protocol recommends otherwise and does not forbid it.",
    }
)
_DOUBTS: Mapping[Doubt, str] = MappingProxyType(
    {
        Doubt.SUBJECT: "the target does not say for certain which result is meant",
        Doubt.WIRE: "the event does not say that the output was used",
        Doubt.UNREADABLE: "an event that cannot be read may have changed the verdict or the end",
        Doubt.PERSON: "a person answered the host in between, and the log does not say about what",
        Doubt.REPLACED: "a later attempt may have replaced the result",
        Doubt.GOES_ON: "the run has decided to end and has not ended yet",
        Doubt.CAPABILITIES: "what the host advertised at that time is not known",
    }
)


def explanation(kind: FindingKind, verdict: Verdict, deed: LogLine, severity: Severity) -> str:
    """Return what happened, in one sentence, and how sure that is."""
    return (
        f"{verdict.said.agent_id} said {verdict.kind} at sequence {verdict.sequence}; the result "
        f"{_DEEDS.get(kind) or _end(deed)} at sequence {deed.sequence}. {_TAILS[severity]}"
    )


def _end(deed: LogLine) -> str:
    """Say how a run ended over a result: completed, or decided to end with its criteria met."""
    if deed.type == ORCHESTRATOR_DECISION:
        return "did not keep the orchestrator from deciding that the goal is met"
    return "did not keep the host from completing the run, with no word that it gave up,"


def would_change(
    severity: Severity, missing: Sequence[tuple[int, int]], doubts: Sequence[Doubt]
) -> str:
    """Return what would withdraw a finding, or make it graver."""
    match severity:
        case Severity.NOT_PROVABLE:
            return f"It settles itself when the missing events arrive: {ranges(missing)}."
        case Severity.SUSPECTED:
            return f"It stays a suspicion because {'; '.join(_DOUBTS[each] for each in doubts)}."
        case Severity.VIOLATION:
            return "An override or a reversal at a lower sequence would withdraw it; none is held."
        case Severity.ADVISORY:
            return "It would be a violation of a host that had advertised verifier.gating."
        case Severity.SOFT:
            return "A new turn, or a pass by the same verifier, before the merge."


def ranges(missing: Sequence[tuple[int, int]]) -> str:
    """Return ranges of sequences as people write them."""
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in missing)
