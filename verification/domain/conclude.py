"""Everything that follows from a run's log: one pure function, and the only door to it.

The same lines, gaps, capabilities, decisions and rules give the same conclusions, in whatever order
and however often the lines are given. Nothing is carried over from an earlier conclusion, so a late
event corrects what was concluded without it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

from runs.domain.log import LogLine
from runs.domain.projection import Outcome, Projection
from verification.domain import notices, requests
from verification.domain.allowances import Allowances
from verification.domain.breaches import merges, successes
from verification.domain.capabilities import Advertisements, CapabilitySpan
from verification.domain.cases import cases
from verification.domain.commits import Commits, commits
from verification.domain.confidence import low_decisions, low_turns, not_escalated
from verification.domain.entries import Decided, Turn
from verification.domain.escalations import Escalation, Groups, escalations, tie_together
from verification.domain.findings import GRAVEST_FIRST, Finding, Severity, worst_severity
from verification.domain.gates import Gate, GateState, gates, worst_state
from verification.domain.grounds import grounds
from verification.domain.holds import Hold, holds
from verification.domain.index import Index, index
from verification.domain.past_decisions import PastDecision
from verification.domain.revisions import revisions
from verification.domain.rules import Rules
from verification.domain.ties import (
    Interrupts,
    interrupts_of_decisions,
    interrupts_of_escalated,
    interrupts_of_turns,
)
from verification.domain.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Conclusions:
    """What a run's log adds up to."""

    run: Projection
    holds: tuple[Hold, ...]
    """Everything that holds the run or held it."""
    verdicts: tuple[Verdict, ...]
    """In sequence order."""
    gates: Mapping[str, Gate]
    """By target; a target that is not here has no verdict."""
    findings: tuple[Finding, ...]
    """One per kind and target, the gravest first."""
    escalations: tuple[Escalation, ...]
    """The open ones."""
    commits: Commits
    complete: bool
    """No sequence is missing."""

    @property
    def outcome(self) -> Outcome | None:
        """Return how the run ended; None while it goes on."""
        return self.run.outcome

    @property
    def held(self) -> bool:
        """Say whether something unreadable could have been a `fail`."""
        return any(hold.holds for hold in self.holds)

    @property
    def hold_reasons(self) -> tuple[str, ...]:
        """Return why, each reason once."""
        return tuple(sorted({hold.reason.value for hold in self.holds if hold.holds}))

    @property
    def standing(self) -> GateState:
        """Return the state of the worst gate; `no_verdict` when there is none."""
        return worst_state(gate.state for gate in self.gates.values())

    @property
    def worst_severity(self) -> Severity | None:
        """Return the gravest severity, or None when nothing was noticed."""
        return worst_severity(self.findings)

    @property
    def is_success(self) -> bool:
        """Say whether it counts as a success: the goal is met and nothing speaks against it."""
        return (
            self.outcome is Outcome.GOAL_MET
            and not self.held
            and self.worst_severity is not Severity.VIOLATION
        )

    def state_of(self, target: str) -> GateState:
        """Return a target's state, also of one that nobody has verified."""
        gate = self.gates.get(target)
        if gate is not None:
            return gate.state
        is_unsure = any(hold.holds and hold.may_be_verdict for hold in self.holds)
        return GateState.UNKNOWN if is_unsure else GateState.NO_VERDICT


@dataclass(frozen=True, slots=True)
class _Unsure:
    """Whose confidence is low, and the interrupts that decisions and results led to."""

    turns: Sequence[Turn]
    decisions: Sequence[Decided]
    interrupts: Interrupts


def conclude(
    lines: Sequence[LogLine],
    gaps: Sequence[tuple[int, int]],
    capabilities: Sequence[CapabilitySpan],
    decisions: Sequence[PastDecision],
    settings: Rules,
    claimed: Collection[str] = (),
) -> Conclusions:
    """Conclude everything from a run's log.

    Args:
        lines: the host's and the Console's own, in any order, repeats allowed; at least those for
            which `signals.is_signal` holds.
        gaps: missing sequences as ranges, both ends missing, apart from each other.
        capabilities: what the run's host advertised, and when, on the Console's clock.
        decisions: resolutions that stand.
        settings: where the lines are drawn.
        claimed: targets, or keys of escalations, that a reviewer holds now.
    """
    log = index(lines)
    claims = Advertisements(capabilities)
    all_cases = cases(log, claims, decisions)
    all_holds = holds(log, decisions)
    revised = revisions(log, all_cases)
    unsure = _unsure(log, claims, settings)
    may_miss_verdict = any(hold.holds and hold.may_be_verdict for hold in all_holds)
    all_gates = gates(
        all_cases, claims, revised, settings, claimed=claimed, may_miss_verdict=may_miss_verdict
    )
    allowances = Allowances(log, all_cases.keys(), unsure.interrupts)
    argued = grounds(log, claims, gaps, all_holds, allowances)
    silent = not_escalated(log, claims, unsure.decisions, argued.gaps)
    low_ids = {decision.line.event_id for decision in unsure.decisions}
    findings = _in_order(
        merges(argued, all_cases),
        successes(argued, all_cases, low_ids),
        notices.about_targets(argued, all_cases, all_gates, revised, settings),
        notices.about_run(argued, all_holds, silent, settings),
    )
    wanted = [
        *requests.about_targets(log, all_cases, all_gates, settings),
        *requests.about_turns(log, unsure.turns, all_gates, unsure.interrupts),
        *requests.about_decisions(log, unsure.decisions, unsure.interrupts),
        *requests.about_escalated(log, unsure.decisions, unsure.interrupts),
        *requests.about_interrupts(log),
        *requests.about_findings(log, findings),
        *requests.about_holds(log, all_holds),
    ]
    groups = Groups(wanted)
    tie_together(groups, log, all_cases, unsure.interrupts)
    return Conclusions(
        run=log.run,
        holds=all_holds,
        verdicts=tuple(log.verdicts),
        gates=all_gates,
        findings=findings,
        escalations=escalations(groups, decisions),
        commits=commits(log),
        complete=not gaps,
    )


def _unsure(log: Index, claims: Advertisements, rules: Rules) -> _Unsure:
    turns = low_turns(log, rules)
    decisions = low_decisions(log, claims, rules)
    interrupts = {
        **interrupts_of_turns(log, turns),
        **interrupts_of_escalated(log),
        **interrupts_of_decisions(log, decisions),
    }
    return _Unsure(turns, decisions, MappingProxyType(interrupts))


def _in_order(*found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with the gravest first, and otherwise always in the same order."""
    return tuple(
        sorted(
            chain(*found),
            key=lambda each: (GRAVEST_FIRST.index(each.severity), each.kind, each.target or ""),
        )
    )
