"""What a finding against a host is argued from, and how heavily it may be charged.

The scales are set against the Console: a violation needs complete evidence, a subject that cannot
be mistaken, a host that advertised gating both when the verdict was given and when it acted, and no
reading of the log under which the host did right.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runs.domain.log import LogLine
from verification.domain.allowances import Allowances
from verification.domain.capabilities import Advertisements, Binding
from verification.domain.cases import Case
from verification.domain.entries import Child
from verification.domain.findings import Doubt, Severity
from verification.domain.holds import Hold
from verification.domain.index import Index
from verification.domain.stretches import first_between, missing_between
from verification.domain.verdicts import Verdict

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Grounds:
    """Everything that speaks for or against a charge."""

    index: Index
    claims: Advertisements
    gaps: Sequence[Range]
    """Missing sequences, ascending."""
    unreadable: Sequence[int]
    """Sequences, ascending, of events that may say anything: a reversal, an override, a give-up."""
    has_placeless: bool
    """There is such an event of which nobody knows where it stands."""
    allowances: Allowances

    def missing(self, after: int, before: int) -> tuple[Range, ...]:
        """Return what is missing strictly between two sequences."""
        return missing_between(self.gaps, after, before)

    def is_unreadable(self, first: int, last: int) -> bool:
        """Say whether some event from one sequence to another, both included, may say anything."""
        at = bisect_left(self.unreadable, first)
        return self.has_placeless or (at < len(self.unreadable) and self.unreadable[at] <= last)

    def severity(
        self, verdict: Verdict, effect: LogLine, missing: Sequence[Range], doubts: Sequence[Doubt]
    ) -> tuple[Severity, tuple[Doubt, ...]]:
        """Return how heavily an effect after a verdict may be charged, and every doubt about it."""
        if missing:
            return Severity.NOT_PROVABLE, tuple(doubts)
        if doubts:
            return Severity.SUSPECTED, tuple(doubts)
        if verdict.is_ours:
            return Severity.ADVISORY, ()
        match self._binding(verdict, effect):
            case Binding.GATING:
                return Severity.VIOLATION, ()
            case Binding.ADVISORY:
                return Severity.ADVISORY, ()
            case Binding.UNKNOWN:
                return Severity.SUSPECTED, (Doubt.CAPABILITIES,)

    def doubts_about(self, case: Case, verdict: Verdict, before: int) -> list[Doubt]:
        """Return the doubts that hold for anything done about a target after a verdict."""
        doubts = []
        host_id = verdict.said.causation_host_id
        own_host = host_id if host_id not in self.claims.host_ids else None
        if not case.subject.is_certain(own_host):
            doubts.append(Doubt.SUBJECT)
        if self.allowances.between(case, verdict, before) is not None:
            doubts.append(Doubt.PERSON)
        child = self.index.children.get(case.target)
        if child is not None and _came_back(child, verdict, before):
            doubts.append(Doubt.REPLACED)
        return doubts

    def _binding(self, verdict: Verdict, effect: LogLine) -> Binding:
        """Return what bound the host from the verdict to the effect: the lesser of the two."""
        both = {self.claims.at(line.timestamp).binding for line in (verdict.line, effect)}
        if Binding.ADVISORY in both:
            return Binding.ADVISORY
        return Binding.UNKNOWN if Binding.UNKNOWN in both else Binding.GATING


def _came_back(child: Child, verdict: Verdict, before: int) -> bool:
    """Say whether a child run was started or ended again, so that its name means a new result."""
    return first_between(child.attempts, verdict.sequence, before, int) is not None


def grounds(
    index: Index,
    claims: Advertisements,
    gaps: Iterable[Range],
    holds: Sequence[Hold],
    allowances: Allowances,
) -> Grounds:
    """Gather what charges are weighed with.

    A hold that a person released is still a doubt: that nothing in it is a `fail` does not say that
    it is no reversal.
    """
    open_questions = [hold for hold in holds if not hold.is_readable_now]
    places = [hold.sequence for hold in open_questions]
    return Grounds(
        index=index,
        claims=claims,
        gaps=sorted(gaps),
        unreadable=sorted(place for place in places if place is not None),
        has_placeless=None in places,
        allowances=allowances,
    )
