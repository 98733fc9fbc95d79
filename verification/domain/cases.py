"""One target with all that was said and decided about it.

A case answers what gates, findings and escalations all ask: what stood at a moment of the run, and
whether a person had lifted it by then. Moments are sequences of the host, so a decision made at the
Console counts from the last sequence that was held when it was made.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from runs.domain.interrupts import sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import VerdictKind
from verification.domain.capabilities import Advertisements
from verification.domain.decisions import Action
from verification.domain.index import Index
from verification.domain.past_decisions import PastDecision
from verification.domain.stretches import first_between
from verification.domain.subjects import (
    NO_SUCCESSORS,
    Subject,
    Successors,
    resolve,
    successors,
)
from verification.domain.verdicts import Phase, Verdict, phases, standing

NEVER = 1 << 62
"""Above every sequence: asks how things stand now."""

RULINGS = frozenset({Action.OVERRIDE, Action.UPHOLD, Action.SEND_BACK})
"""Actions that change what a gate allows. Others answer the host, and the host's events tell."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A person's decision about a target, and from when it counts."""

    decision: PastDecision
    seen_sequence: int
    """Highest sequence that was held when it was made."""


@dataclass(frozen=True, slots=True)
class Case:
    """A target, its verdicts, and what people made of them."""

    target: str
    subject: Subject
    verdicts: Sequence[Verdict]
    """In sequence order; at least one."""
    phases: Sequence[Phase]
    standing: tuple[Verdict, ...]
    """The latest word of each verifier, in sequence order."""
    overrides: Sequence[LogLine]
    """The host's own `approval.overridden` for this target."""
    rulings: Sequence[Ruling]
    """In the order in which they were made."""
    asked_at: int | None
    """Sequence of the first verdict that was not a `pass`."""
    later: Successors
    """What came after the subject, up to now."""

    def ruling_on(self, verdict: Verdict, before: int = NEVER) -> Ruling | None:
        """Return the last ruling made with this verdict on screen, by a moment of the run."""
        made = (
            each
            for each in reversed(self.rulings)
            if each.seen_sequence < before and each.decision.saw(verdict.line)
        )
        return next(made, None)

    def override_of(self, verdict: Verdict, before: int = NEVER) -> LogLine | None:
        """Return the host's own override of a verdict, by a moment of the run."""
        return first_between(self.overrides, verdict.sequence, before, sequence_of)

    def is_lifted(self, verdict: Verdict, before: int = NEVER) -> bool:
        """Say whether somebody had let the target through in spite of this verdict."""
        if self.override_of(verdict, before) is not None:
            return True
        ruling = self.ruling_on(verdict, before)
        return ruling is not None and ruling.decision.action is Action.OVERRIDE

    def phase_at(self, moment: int) -> Phase | None:
        """Return what the verdicts given before a moment added up to."""
        at = bisect_right(self.phases, moment - 1, key=lambda phase: phase.start) - 1
        return self.phases[at] if at >= 0 else None

    def successors(self, index: Index, before: int = NEVER) -> Successors:
        """Return what had come after the subject, by a moment of the run."""
        if self.asked_at is None or self.later == NO_SUCCESSORS:
            return NO_SUCCESSORS
        return successors(index, self.subject, self.asked_at, before)


def cases(
    index: Index, claims: Advertisements, decisions: Sequence[PastDecision]
) -> Mapping[str, Case]:
    """Return a case for every target that has a verdict, in the order of their first verdicts."""
    rulings = _rulings(index, decisions)
    own_hosts = claims.host_ids
    return MappingProxyType(
        {
            target: _case(index, target, verdicts, own_hosts, rulings.get(target, []))
            for target, verdicts in index.by_target.items()
        }
    )


def _case(
    index: Index,
    target: str,
    verdicts: Sequence[Verdict],
    own_hosts: frozenset[str],
    rulings: Sequence[Ruling],
) -> Case:
    subject = resolve(index, target, own_hosts)
    refused = (each for each in verdicts if each.kind is not VerdictKind.PASS)
    asked_at = next((each.sequence for each in refused), None)
    return Case(
        target=target,
        subject=subject,
        verdicts=verdicts,
        phases=phases(verdicts),
        standing=_standing(verdicts),
        overrides=index.overrides.get(target, []),
        rulings=rulings,
        asked_at=asked_at,
        later=NO_SUCCESSORS if asked_at is None else successors(index, subject, asked_at, NEVER),
    )


def _rulings(index: Index, decisions: Sequence[PastDecision]) -> dict[str, list[Ruling]]:
    found: dict[str, list[Ruling]] = defaultdict(list)
    made = [each for each in decisions if each.action in RULINGS and each.about]
    seen_at = _highest_sequences(index) if made else []
    for decision in sorted(made, key=lambda each: (each.seen_position, each.key, each.by)):
        at = bisect_right(seen_at, decision.seen_position, key=lambda pair: pair[0]) - 1
        seen_sequence = seen_at[at][1] if at >= 0 else -1
        found[str(decision.about)].append(Ruling(decision, seen_sequence))
    return found


def _highest_sequences(index: Index) -> list[tuple[int, int]]:
    """Return, by position, the highest sequence that was held by then."""
    highest = -1
    found = []
    for line in sorted(index.lines, key=lambda each: each.position):
        highest = max(highest, sequence_of(line))
        found.append((line.position, highest))
    return found


def _standing(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    if len(verdicts) == 1:
        return tuple(verdicts)
    latest = standing(verdicts).values()
    return tuple(sorted(latest, key=lambda each: (each.sequence, each.line.position)))
