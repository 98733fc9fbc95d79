"""What a host did with a result in spite of a verdict: merged it, or ended the run as a success.

Each rule first looks for the deed, then asks what speaks for the host. A deed done while nothing
stood against it, or after a person had lifted the verdict, is none.
An accusation that is not true is worse than one that is missing. Source: RFC 0090 §B.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from runs.domain.interrupts import sequence_of
from runs.domain.log import LogLine
from runs.domain.projection import Outcome, RunStatus
from runs.domain.readers import DecisionKind, VerdictKind
from verification.domain.cases import NEVER, Case
from verification.domain.findings import (
    GRAVEST_FIRST,
    Doubt,
    Finding,
    FindingKind,
    Severity,
    evidence,
)
from verification.domain.grounds import Grounds, Range
from verification.domain.index import Index
from verification.domain.sentences import explanation, would_change
from verification.domain.stretches import first_between
from verification.domain.subjects import SubjectKind
from verification.domain.verdicts import Phase


@dataclass(frozen=True, slots=True)
class Success:
    """How a run ended as a success, or is about to."""

    line: LogLine
    """The line that ends it."""
    terminate: LogLine | None
    """The orchestrator's last decision to end, where that is another line."""
    is_over: bool
    """The run has ended; a decision to end can still be followed by a question or a failure."""

    @property
    def at(self) -> int:
        """Return the moment of the run for which it is judged."""
        return sequence_of(self.line)


@dataclass(frozen=True, slots=True)
class _Deed:
    """Something that a host did while a verdict stood against it."""

    phase: Phase
    line: LogLine
    missing: Sequence[Range]
    doubts: Sequence[Doubt]


def merges(grounds: Grounds, cases: Mapping[str, Case]) -> Iterator[Finding]:
    """Return the results that were merged after a `fail`, or after a `revise`."""
    for case in cases.values():
        for kind, name in _MERGE_KINDS.items():
            deeds = [_merge(grounds, case, phase, kind) for phase in case.phases]
            found = [_finding(grounds, case, name, deed) for deed in chain(*deeds)]
            if found:
                yield min(found, key=_gravity)


def successes(
    grounds: Grounds, cases: Mapping[str, Case], low: Collection[str]
) -> Iterator[Finding]:
    """Return the targets in spite of which the run ended, or is ending, as a success.

    Args:
        grounds: what charges are weighed with.
        cases: by target.
        low: event ids of decisions that a person must confirm before they count.
    """
    end = success(grounds.index, low)
    if end is None:
        return
    for case in cases.values():
        deed = _success_deed(grounds, case, end)
        if deed is not None:
            yield _finding(grounds, case, FindingKind.SUCCESS_AFTER_FAIL, deed, end.terminate)


def success(index: Index, low: Collection[str]) -> Success | None:
    """Return how the run ends as a success: completed without giving up, or about to.

    A `terminate` ends a run that has not ended yet only if nothing shows the run going on: an
    interrupt, another turn, a dispatch, or a confidence for which the host has to ask first.
    """
    run = index.run
    if run.status is RunStatus.COMPLETED and run.ended_by is not None:
        is_success = run.outcome is not Outcome.GAVE_UP
        return Success(run.ended_by, run.last_terminate, is_over=True) if is_success else None
    last = index.decisions[-1] if index.decisions else None
    if run.is_terminal or last is None or last.said.kind is not DecisionKind.TERMINATE:
        return None
    is_success = last.said.has_readable_criteria and all(last.said.met)
    is_final = last.line.event_id not in low and not _goes_on(index, last.line)
    return Success(last.line, None, is_over=False) if is_success and is_final else None


_MERGE_KINDS: Mapping[VerdictKind, FindingKind] = {
    VerdictKind.FAIL: FindingKind.MERGED_AFTER_FAIL,
    VerdictKind.REVISE: FindingKind.MERGED_AFTER_REVISE,
}


def _goes_on(index: Index, terminate: LogLine) -> bool:
    after = sequence_of(terminate)
    latest = [
        *(interrupt.opened_at for interrupt in index.run.interrupts[-1:]),
        *(sequence_of(line) for line in (*index.acts[-1:], *index.escalated[-1:])),
        *(turn.sequence for turn in list(index.turns.values())[-1:]),
    ]
    return index.run.status is not RunStatus.RUNNING or any(each > after for each in latest)


def _merge(grounds: Grounds, case: Case, phase: Phase, kind: VerdictKind) -> Iterator[_Deed]:
    """Return the first merge of each sort while the verdicts added up to this."""
    if phase.kind is not kind:
        return
    end = NEVER if phase.end is None else phase.end
    for lines, doubt in _effects(grounds.index, case, kind):
        line = first_between(lines, phase.start, end, sequence_of)
        if line is None or case.is_lifted(phase.verdict, sequence_of(line)):
            continue
        if case.subject.kind is SubjectKind.TURN and _was_replaced(grounds, case, line):
            continue
        doubts = [doubt] if doubt else []
        yield _Deed(
            phase=phase,
            line=line,
            missing=grounds.missing(phase.verdict.sequence, sequence_of(line)),
            doubts=[*doubts, *_merge_doubts(grounds, case, phase, line)],
        )


def _effects(
    index: Index, case: Case, kind: VerdictKind
) -> Iterator[tuple[Sequence[LogLine], Doubt | None]]:
    """Return the lines that merge a subject, or may, with what is uncertain about each sort."""
    subject = case.subject
    if subject.kind is SubjectKind.CHILD_RUN:
        child = index.children[subject.target]
        yield child.merges, None
        if kind is VerdictKind.FAIL:
            yield child.empty_harvests, Doubt.WIRE
            yield index.returns.get(subject.target, []), Doubt.WIRE
    elif subject.kind is SubjectKind.TURN and subject.node_id and kind is VerdictKind.FAIL:
        yield index.completions.get(subject.node_id, []), Doubt.WIRE


def _merge_doubts(grounds: Grounds, case: Case, phase: Phase, line: LogLine) -> Iterator[Doubt]:
    start, end = phase.verdict.sequence, sequence_of(line)
    yield from grounds.doubts_about(case, phase.verdict, end)
    if grounds.is_unreadable(start, end):
        yield Doubt.UNREADABLE


def _was_replaced(grounds: Grounds, case: Case, line: LogLine) -> bool:
    return case.successors(grounds.index, sequence_of(line)).replaced_by is not None


def _success_deed(grounds: Grounds, case: Case, end: Success) -> _Deed | None:
    phase = case.phase_at(end.at)
    if phase is None or phase.kind is not VerdictKind.FAIL:
        return None
    if case.is_lifted(phase.verdict, end.at):
        return None
    later = case.successors(grounds.index, end.at)
    if later.replaced_by is not None:
        return None
    since = _since(grounds.index, case, phase)
    doubts = grounds.doubts_about(case, phase.verdict, end.at)
    if not end.is_over:
        doubts.append(Doubt.GOES_ON)
    if later.is_contested and Doubt.REPLACED not in doubts:
        doubts.append(Doubt.REPLACED)
    if grounds.is_unreadable(since, NEVER):
        doubts.append(Doubt.UNREADABLE)
    return _Deed(phase, end.line, grounds.missing(since, NEVER), doubts)


def _since(index: Index, case: Case, phase: Phase) -> int:
    """Return from where on the log must be complete to say that a run succeeded in spite of a fail.

    From the subject on, since something missing may have replaced it before the verdict came. And
    from the last known `terminate` on: the last one counts, wherever it stands, and one that is
    missing may have said that the goal was not met.
    """
    terminate = index.run.last_terminate
    known = -1 if terminate is None else sequence_of(terminate)
    return min(phase.verdict.sequence, case.subject.began_at, known)


def _finding(
    grounds: Grounds,
    case: Case,
    kind: FindingKind,
    deed: _Deed,
    also: LogLine | None = None,
) -> Finding:
    verdict = deed.phase.verdict
    severity, doubts = grounds.severity(verdict, deed.line, deed.missing, deed.doubts)
    if kind is FindingKind.MERGED_AFTER_REVISE and severity is not Severity.NOT_PROVABLE:
        severity = Severity.SOFT
    lines: Iterable[LogLine | None] = (case.subject.line, verdict.line, also, deed.line)
    return Finding(
        kind=kind,
        severity=severity,
        target=case.target,
        evidence=evidence(lines),
        explanation=explanation(kind, verdict, deed.line, severity),
        would_change=would_change(severity, deed.missing, doubts),
        missing=tuple(deed.missing),
        doubts=doubts,
        line=deed.line,
        claim=grounds.claims.at(verdict.line.timestamp),
    )


def _gravity(finding: Finding) -> int:
    return GRAVEST_FIRST.index(finding.severity)
