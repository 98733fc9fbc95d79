"""Whose confidence is too low to go on without a person.

Any of actor, verifier and orchestrator is enough (a logical OR). For actor and verifier that is the
Console's own default, which never became normative: it opens an escalation and is never held
against a host. An orchestrator's decision below the floor must be escalated by a host at level 2.
Absent means no signal, and equality passes. Source: RFC 0090, unresolved question 3; RFC 0039.
"""

from collections import defaultdict
from collections.abc import Sequence

from runs.domain.interrupts import Interrupt, sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import DecisionKind, confidence_of
from verification.domain.capabilities import ESCALATION_LEVEL, Advertisements, Claim
from verification.domain.cases import Case
from verification.domain.entries import Decided, Turn
from verification.domain.index import Index
from verification.domain.rules import Rules
from verification.domain.stretches import Stretches, first_between, missing_between
from verification.domain.ties import EXTERNAL, next_act
from verification.domain.verdicts import Verdict

_MUST_ESCALATE = frozenset({DecisionKind.NEXT_WORKER, DecisionKind.TERMINATE})


def low_turns(index: Index, rules: Rules) -> list[Turn]:
    """Return the actors' results whose own confidence is below the run's threshold."""
    return [
        turn
        for turn in index.turns.values()
        if is_below(confidence_of(turn.line), rules.actor_threshold)
    ]


def low_verdicts(case: Case, rules: Rules) -> list[Verdict]:
    """Return the standing verdicts of a target whose verifier is not confident in them."""
    return [
        verdict
        for verdict in case.standing
        if is_below(verdict.said.confidence, rules.verifier_floor)
    ]


def low_decisions(index: Index, claims: Advertisements, rules: Rules) -> list[Decided]:
    """Return the orchestrator's decisions below the floor that nobody had ratified before.

    A decision that the host itself escalated counts too, whatever its floor was. Some hosts hold a
    low decision back until a person has confirmed it and write it down after that (RFC 0011 §F):
    the interrupt then stands before the decision.
    """
    ratified = _ratified(index)
    escalated = {line.causation_id for line in index.escalated}
    before, found = -1, []
    for decision in index.decisions:
        line = floor(claims.at(decision.line.timestamp), rules)
        is_low = is_below(decision.said.confidence, line) or decision.line.event_id in escalated
        by_agent = ratified.get(decision.said.agent_id)
        was_ratified = by_agent and by_agent.within(before, decision.sequence)
        if is_low and decision.said.kind in _MUST_ESCALATE and not was_ratified:
            found.append(decision)
        before = decision.sequence
    return found


def floor(claim: Claim, rules: Rules) -> float:
    """Return the floor for orchestrators: ours, or the host's own where that is stricter."""
    own = claim.advertised.confidence_floor if claim.advertised else None
    return max(rules.orchestrator_floor, own or 0.0)


def is_below(confidence: float | None, line: float) -> bool:
    """Say whether a stated confidence is below a line."""
    return confidence is not None and confidence < line


def not_escalated(
    index: Index,
    claims: Advertisements,
    low: Sequence[Decided],
    gaps: Sequence[tuple[int, int]],
) -> list[tuple[Decided, LogLine]]:
    """Return the low decisions on which a run acted without asking, with the line by which it did.

    A host below level 2 owes nothing, and missing events may hold the question.
    """
    interrupts = [each for each in index.run.interrupts if each.kind != EXTERNAL]
    causes = {line.causation_id for line in index.escalated}
    found = []
    for decision in low:
        act = _act_on(index, decision)
        claim = claims.at(decision.line.timestamp)
        if act is None or claim.advertised is None or claim.advertised.level < ESCALATION_LEVEL:
            continue
        asked = decision.line.event_id in causes or _asked(index, interrupts, decision, act)
        if not asked and not missing_between(gaps, decision.sequence, sequence_of(act)):
            found.append((decision, act))
    return found


def _act_on(index: Index, decision: Decided) -> LogLine | None:
    """Return how a run went on; failing or being cancelled is no way of acting on a decision."""
    act = next_act(index, decision.line)
    is_stop = act is not None and act.type in ("run.failed", "run.cancelled", "run.dead_lettered")
    return None if is_stop else act


def _asked(index: Index, interrupts: Sequence[Interrupt], decision: Decided, act: LogLine) -> bool:
    start, end = decision.sequence, sequence_of(act)
    return (
        first_between(index.escalated, start, end, sequence_of) is not None
        or first_between(interrupts, start, end, lambda each: each.opened_at) is not None
    )


def _ratified(index: Index) -> dict[str | None, Stretches[Interrupt]]:
    """Return the answered interrupts for low confidence, by the agent that was not sure."""
    found: dict[str | None, Stretches[Interrupt]] = defaultdict(Stretches)
    for interrupt in index.run.interrupts:
        if (
            interrupt.is_low_confidence
            and interrupt.was_let_through
            and interrupt.closed_by is not None
        ):
            found[interrupt.agent_id].add(
                interrupt.opened_at, sequence_of(interrupt.closed_by), interrupt
            )
    return found
