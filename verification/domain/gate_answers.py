"""What a host or a build may do with a target: a gate's state as one word, and what it rests on.

It fails closed. A run that is held, a log with a gap, a target that nobody has verified: none of
them is ever a `pass`. Only what is settled may be acted on; the rest is worth asking again.
Source: RFC 0090 §B.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from runs.domain.readers import VerdictKind, fields
from verification.domain.gates import LETS_THROUGH, WORST_FIRST, Gate, GateState
from verification.domain.verdicts import SEVERITY, Verdict, worst


class GateDecision(StrEnum):
    """The word that is answered. Stored; add, never repurpose."""

    PASS = "pass"  # noqa: S105  (a decision, not a password)
    FAIL = "fail"
    REVISE = "revise"
    PENDING = "pending"
    """A person is looking at it."""
    NONE = "none"
    """Nobody has verified it."""
    UNKNOWN = "unknown"
    """Something that could have been a `fail` is missing or cannot be read."""


SETTLED = frozenset({GateDecision.PASS, GateDecision.FAIL, GateDecision.REVISE})
"""Decisions that are worth no waiting; each may change all the same when more is said."""


class AnswerBasis(StrEnum):
    """What a decision rests on. Stored; add, never repurpose."""

    VERDICT = "verdict"
    QUORUM = "quorum"
    """The Console's own consensus accepted."""
    KEPT = "kept"
    """The Console's own consensus kept the result over dissent: never a `pass`."""
    BUDGET = "budget"
    """The Console's own consensus was stopped by its budget."""
    HUMAN = "human"
    TIMEOUT = "timeout"
    """Nothing had decided it when the answer was due."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a target at one moment."""

    state: GateState
    basis: AnswerBasis
    """What the state rests on, as `basis_of` gave it."""
    worst_standing: VerdictKind | None
    """The worst of the standing verdicts; None where there is none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One word about a target, and what it rests on."""

    decision: GateDecision
    basis: AnswerBasis
    state: GateState
    """Of the gate as it stands, which a hold or a gap makes unknown."""

    @property
    def is_settled(self) -> bool:
        """Say whether waiting longer is of no use."""
        return self.decision in SETTLED

    def good_until(self, now: datetime, ttl: timedelta) -> datetime:
        """Return when to ask again; what is not settled is good for nothing."""
        return now + ttl if self.is_settled else now


def answer(known: Iterable[Known], *, is_held: bool, is_complete: bool) -> Answer:
    """Return what may be done with a target.

    Args:
        known: its gates, worst or not; none when it has no verdict. A target in an address may mean
            two spellings, and then the worse one counts.
        is_held: something in its run could not be read, or not be judged.
        is_complete: no sequence of its run is missing.
    """
    gate = min(known, key=lambda each: WORST_FIRST.index(each.state), default=None)
    state = GateState.NO_VERDICT if gate is None else gate.state
    if state in LETS_THROUGH and not (is_complete and not is_held):
        state = GateState.UNKNOWN
    if state is GateState.NO_VERDICT and is_held:
        state = GateState.UNKNOWN
    decision = _replaced(gate) if state is GateState.SUPERSEDED else _DECISIONS[state]
    if gate is None or decision not in SETTLED:
        return Answer(decision, AnswerBasis.TIMEOUT, state)
    return Answer(decision, gate.basis, state)


_DECISIONS: Mapping[GateState, GateDecision] = MappingProxyType(
    {
        GateState.NO_VERDICT: GateDecision.NONE,
        GateState.PASSED: GateDecision.PASS,
        GateState.OVERRIDDEN: GateDecision.PASS,
        GateState.REVISE_ASKED: GateDecision.REVISE,
        GateState.BLOCKED: GateDecision.FAIL,
        GateState.UPHELD: GateDecision.FAIL,
        GateState.IN_REVIEW: GateDecision.PENDING,
        GateState.UNKNOWN: GateDecision.UNKNOWN,
    }
)


def _replaced(gate: Known | None) -> GateDecision:
    """Return what was said of a result that a later one has replaced: it must not be used."""
    is_revise = gate is not None and gate.worst_standing is VerdictKind.REVISE
    return GateDecision.REVISE if is_revise else GateDecision.FAIL


def basis_of(gate: Gate) -> AnswerBasis:
    """Return what a gate's state rests on."""
    if gate.decided_by is not None or gate.overridden_by is not None:
        return AnswerBasis.HUMAN
    decides = max(gate.standing, key=_weight, default=None)
    if decides is None or not decides.is_ours:
        return AnswerBasis.VERDICT
    said = fields(decides.line.payload).get("basis")
    return _OWN_BASES.get(str(said), _BY_KIND[decides.kind])


def worst_of(gate: Gate) -> VerdictKind | None:
    """Return the worst of a gate's standing verdicts."""
    return worst(verdict.kind for verdict in gate.standing)


_OWN_BASES: Mapping[str, AnswerBasis] = MappingProxyType(
    {each.value: each for each in (AnswerBasis.QUORUM, AnswerBasis.KEPT, AnswerBasis.BUDGET)}
)
_BY_KIND: Mapping[VerdictKind, AnswerBasis] = MappingProxyType(
    {
        VerdictKind.PASS: AnswerBasis.QUORUM,
        VerdictKind.REVISE: AnswerBasis.KEPT,
        VerdictKind.FAIL: AnswerBasis.VERDICT,
    }
)
"""What a verdict of the Console's own rests on, where its line does not say."""


def _weight(verdict: Verdict) -> tuple[int, int]:
    return SEVERITY[verdict.kind], verdict.sequence
