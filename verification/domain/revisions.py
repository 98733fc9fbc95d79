"""How many turns a `revise` has cost, against the limit of the loop.

The protocol sets no limit of its own for revisions and defers to `maxLoopIterations`: the smaller
of the run's and the host's. Turns are counted along one line of work, a node or a worker, since
each new turn is a new target; a `pass` on a newer result starts the count again.
Source: RFC 0090, unresolved question 2; RFC 0058.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from runs.domain.readers import VerdictKind
from verification.domain.capabilities import Claim
from verification.domain.cases import Case
from verification.domain.index import Index
from verification.domain.rules import Rules
from verification.domain.subjects import Subject, SubjectKind
from verification.domain.verdicts import Verdict, Verifier

Line = tuple[str, str]
"""A line of work: what kind of place, and its name."""


@dataclass(slots=True)
class Revisions:
    """Turns used, by target, and the verdicts that asked for one too many."""

    used: dict[str, int] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    """Sequence of the first turn that was counted for a target."""
    last: dict[str, Verdict] = field(default_factory=dict)
    """The latest `revise` on each target."""


@dataclass(slots=True)
class _Count:
    """Turns along one line of work since its last accepted result."""

    turns: int = 0
    since: int = 0
    asked: dict[str, dict[Verifier, int]] = field(default_factory=lambda: defaultdict(dict))
    most: dict[str, int] = field(default_factory=dict)

    def revise(self, verdict: Verdict) -> int:
        """Count a turn, but one that several verifiers ask for only once."""
        target = verdict.said.target
        by_verifier = self.asked[target]
        times = by_verifier[verdict.verifier] = by_verifier.get(verdict.verifier, 0) + 1
        if self.turns == 0:
            self.since = verdict.sequence
        if times > self.most.get(target, 0):
            self.most[target] = times
            self.turns += 1
        return self.turns

    def accept(self, verdict: Verdict) -> bool:
        """Say whether a `pass` ends the count: one on a result that nobody wants revised."""
        return verdict.said.target not in self.asked


def revisions(index: Index, cases: Mapping[str, Case]) -> Revisions:
    """Count the turns that `revise` verdicts asked for."""
    counts: dict[Line, _Count] = defaultdict(_Count)
    found = Revisions()
    for verdict in index.verdicts:
        target = verdict.said.target
        line = line_of_work(cases[target].subject)
        if verdict.kind is VerdictKind.REVISE:
            found.used[target] = counts[line].revise(verdict)
            found.since[target] = counts[line].since
            found.last[target] = verdict
        elif verdict.kind is VerdictKind.PASS and counts[line].accept(verdict):
            counts[line] = _Count()
    return found


def limit(claim: Claim, rules: Rules) -> int | None:
    """Return how many turns the loop may take, or None when nobody said."""
    host = claim.advertised.max_loop_iterations if claim.advertised else None
    return min((each for each in (host, rules.max_loop_iterations) if each), default=None)


def line_of_work(subject: Subject) -> Line:
    """Return where the next turn after a subject would happen."""
    if subject.kind is SubjectKind.TURN and subject.node_id is not None:
        return "node", subject.node_id
    if subject.kind is SubjectKind.CHILD_RUN and subject.actor is not None:
        return "worker", subject.actor
    if subject.kind in (SubjectKind.TURN, SubjectKind.AGENT) and subject.actor is not None:
        return "agent", subject.actor
    return "target", subject.target
