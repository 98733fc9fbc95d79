"""What is worth knowing about a host and breaks no promise: the soft findings.

They count and explain; none of them blocks anything. One finding per kind, or per kind and target,
names every line it rests on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from runs.domain.interrupts import sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import fields
from verification.domain.cases import Case
from verification.domain.entries import Decided
from verification.domain.findings import Finding, FindingKind, Severity, evidence
from verification.domain.gates import Gate
from verification.domain.grounds import Grounds
from verification.domain.holds import Hold, HoldReason
from verification.domain.index import Index
from verification.domain.revisions import Revisions, limit
from verification.domain.rules import Rules
from verification.domain.sentences import would_change
from verification.domain.signals import BACKGROUND_TYPES, VERDICT_REFUSED
from verification.domain.stretches import first_between
from verification.domain.subjects import Independence, SubjectKind
from verification.domain.verdicts import Verdict, reversals

CONTENT_LEAK = "verifier_content_leak"
"""Reason word of a refusal: the verdict carried more than the closed keys."""


def about_targets(
    grounds: Grounds,
    cases: Mapping[str, Case],
    gates: Mapping[str, Gate],
    revised: Revisions,
    rules: Rules,
) -> Iterator[Finding]:
    """Return what is worth knowing about single targets."""
    for target, case in cases.items():
        if found := _reversed(grounds.index, case):
            yield found
        if gates[target].independence is Independence.SELF_VERIFIED:
            yield _self_verified(case)
        if target in revised.last and (found := _over_limit(grounds, case, revised, rules)):
            yield found


def about_run(
    grounds: Grounds,
    holds: Sequence[Hold],
    silent: Sequence[tuple[Decided, LogLine]],
    rules: Rules,
) -> Iterator[Finding]:
    """Return what is worth knowing about the run as a whole.

    Args:
        grounds: the log, and what the host advertised.
        holds: everything that holds or held the run.
        silent: low decisions on which the run acted without asking, with the line by which it did.
        rules: how much a clock may run backwards.
    """
    index = grounds.index
    refused = [line for line in index.marks if line.type == VERDICT_REFUSED]
    leaks = [line for line in refused if _is_leak(line)]
    malformed = [line for line in refused if not _is_leak(line)]
    conflicts = (hold.line for hold in holds if hold.reason is HoldReason.CONFLICT)
    lines: Mapping[FindingKind, Iterable[LogLine]] = {
        FindingKind.LOW_CONFIDENCE_NOT_ESCALATED: (
            line for decision, act in silent for line in (decision.line, act)
        ),
        FindingKind.CONTENT_LEAK_REFUSED: leaks,
        FindingKind.SCHEMA_MISMATCH: _in_order([*index.off_schema, *index.unreadable, *malformed]),
        FindingKind.CONFLICTING_EVENT: conflicts,
        FindingKind.NEAR_MISS_TYPE: index.near_misses,
        FindingKind.VERDICT_UNADVERTISED: _unadvertised(grounds),
        FindingKind.CLOCK_SKEW: _backwards(index, rules),
    }
    for kind, each in lines.items():
        if shown := evidence(each):
            explanation, change = _ABOUT_RUN[kind]
            yield Finding(kind, Severity.SOFT, None, shown, explanation, change)


def _is_leak(mark: LogLine) -> bool:
    return fields(mark.payload).get("reason") == CONTENT_LEAK


def _reversed(index: Index, case: Case) -> Finding | None:
    """Notice a verifier that took its word back, unless there was a new result to judge."""
    if len(case.verdicts) == 1:
        return None
    pairs = [pair for pair in reversals(case.verdicts) if not _is_new_result(index, case, pair)]
    if not pairs:
        return None
    before, after = pairs[-1]
    return Finding(
        FindingKind.VERDICT_REVERSED,
        Severity.SOFT,
        case.target,
        evidence(verdict.line for pair in pairs for verdict in pair),
        f"{after.said.agent_id} said {before.kind} at sequence {before.sequence} and {after.kind} "
        f"at sequence {after.sequence} of the same result.",
        "A new result between the two verdicts.",
    )


def _is_new_result(index: Index, case: Case, pair: tuple[Verdict, Verdict]) -> bool:
    before, after = pair[0].sequence, pair[1].sequence
    if case.subject.kind is SubjectKind.AGENT:
        turns = index.turns_of_agent[case.target]
        return first_between(turns, before, after, lambda turn: turn.sequence) is not None
    child = index.children.get(case.target)
    return child is not None and first_between(child.attempts, before, after, int) is not None


def _self_verified(case: Case) -> Finding:
    own = [each for each in case.verdicts if each.said.agent_id == case.subject.actor]
    return Finding(
        FindingKind.SELF_VERIFIED,
        Severity.SOFT,
        case.target,
        evidence([case.subject.line, *(verdict.line for verdict in own)]),
        f"{case.subject.actor} verified its own result.",
        "Nothing; a verdict by another agent would stand beside it.",
    )


def _over_limit(grounds: Grounds, case: Case, revised: Revisions, rules: Rules) -> Finding | None:
    verdict, used = revised.last[case.target], revised.used[case.target]
    claim = grounds.claims.at(verdict.line.timestamp)
    allowed = limit(claim, rules)
    if allowed is None or used <= allowed:
        return None
    missing = grounds.missing(revised.since[case.target], verdict.sequence)
    severity = Severity.NOT_PROVABLE if missing else Severity.SOFT
    return Finding(
        FindingKind.REVISE_OVER_LIMIT,
        severity,
        case.target,
        evidence([verdict.line]),
        f"Turn {used} was asked for; the loop may take {allowed}.",
        would_change(severity, missing, ()) if missing else "A pass before the limit.",
        missing=missing,
        claim=claim,
    )


def _unadvertised(grounds: Grounds) -> Iterator[LogLine]:
    for verdict in grounds.index.verdicts:
        advertised = grounds.claims.at(verdict.line.timestamp).advertised
        if not verdict.is_ours and advertised is not None and not advertised.verifies:
            yield verdict.line


def _backwards(index: Index, rules: Rules) -> Iterator[LogLine]:
    """Return lines whose timestamp is far before that of a line with a lower sequence."""
    latest = None
    for line in index.lines:
        if line.timestamp is None or line.type in BACKGROUND_TYPES:
            continue
        if latest is not None and (latest - line.timestamp).total_seconds() > rules.clock_skew_s:
            yield line
        latest = line.timestamp if latest is None else max(latest, line.timestamp)


def _in_order(lines: Iterable[LogLine]) -> list[LogLine]:
    return sorted(lines, key=lambda line: (sequence_of(line), line.position))


_ABOUT_RUN: Mapping[FindingKind, tuple[str, str]] = {
    FindingKind.LOW_CONFIDENCE_NOT_ESCALATED: (
        "The run acted on a decision below the confidence floor without asking anybody.",
        "A confidence-escalated event or an interrupt before the run acted.",
    ),
    FindingKind.CONTENT_LEAK_REFUSED: (
        "A verdict carried more than its closed keys and was refused unread.",
        "Nothing; the same verdict without content ends the hold.",
    ),
    FindingKind.SCHEMA_MISMATCH: (
        "An event that gates depend on misses its published schema.",
        "The host sending it in the published form.",
    ),
    FindingKind.CONFLICTING_EVENT: (
        "Two versions of an event were offered; one of them is kept.",
        "Nothing; a person can release the run.",
    ),
    FindingKind.NEAR_MISS_TYPE: (
        "An unknown type is one edit away from a type that gates depend on.",
        "The host sending the type as published.",
    ),
    FindingKind.VERDICT_UNADVERTISED: (
        "The host sends verdicts without advertising that it verifies.",
        "The host advertising executionModel version 6 with verifier.supported.",
    ),
    FindingKind.CLOCK_SKEW: (
        "The host's timestamps run backwards along its own sequences.",
        "Nothing; order is by sequence and is not affected.",
    ),
}
