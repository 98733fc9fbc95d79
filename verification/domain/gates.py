"""What the standing verdicts on a target allow.

No verdict is not a failure and not a pass. A gate that is not plainly passed or overridden lets
nothing through: what cannot be read, what nobody has decided and what was replaced are not passes.
Source: RFC 0090 §B.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from runs.domain.interrupts import sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import VerdictKind
from verification.domain.capabilities import Advertisements, Binding
from verification.domain.cases import Case
from verification.domain.decisions import Action
from verification.domain.past_decisions import TARGET, PastDecision
from verification.domain.revisions import Revisions, limit
from verification.domain.rules import Rules
from verification.domain.subjects import Independence, Subject, independence
from verification.domain.verdicts import SEVERITY, Verdict


class GateState(StrEnum):
    """What may be done with a target. Stored; add, never repurpose."""

    NO_VERDICT = "no_verdict"
    PASSED = "passed"
    REVISE_ASKED = "revise_asked"
    BLOCKED = "blocked"
    IN_REVIEW = "in_review"
    OVERRIDDEN = "overridden"
    UPHELD = "upheld"
    SUPERSEDED = "superseded"
    UNKNOWN = "unknown"


LETS_THROUGH = frozenset({GateState.PASSED, GateState.OVERRIDDEN})
"""The only states in which a result may be committed."""

WORST_FIRST = (
    GateState.BLOCKED,
    GateState.IN_REVIEW,
    GateState.UPHELD,
    GateState.UNKNOWN,
    GateState.REVISE_ASKED,
    GateState.OVERRIDDEN,
    GateState.PASSED,
    GateState.SUPERSEDED,
    GateState.NO_VERDICT,
)
"""Order in which a run is known by one of its gates."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One target's gate, with what it follows from."""

    target: str
    state: GateState
    subject: Subject
    binding: Binding
    """What the deciding verdict obliged its host to, when it was given."""
    independence: Independence
    standing: tuple[Verdict, ...]
    """The latest word of each verifier, in sequence order."""
    turns_used: int = 0
    turn_limit: int | None = None
    replaced_by: LogLine | None = None
    """Of a superseded target: the line that shows the new result."""
    overridden_by: LogLine | None = None
    """The host's own record that a person let it through."""
    decided_by: PastDecision | None = None
    """What a person decided here, if that is what counts."""

    @property
    def lets_through(self) -> bool:
        """Say whether the result may be committed."""
        return self.state in LETS_THROUGH

    @property
    def is_at_limit(self) -> bool:
        """Say whether no turn is left to revise the result in."""
        return self.turn_limit is not None and self.turns_used >= self.turn_limit

    @property
    def explanation(self) -> str:
        """Return one sentence that says why the gate stands as it does."""
        return _WHY[self.state]

    @property
    def would_change(self) -> str:
        """Return one sentence that says what would change it."""
        return _WHAT_CHANGES_IT[self.state]


@dataclass(frozen=True, slots=True)
class _Ruled:
    """A state that verdicts and people agree on, before time and claims are looked at."""

    state: GateState
    by: Verdict
    """The verdict that decides."""
    decision: PastDecision | None = None
    override: LogLine | None = None


def gates(
    cases: Mapping[str, Case],
    claims: Advertisements,
    revised: Revisions,
    rules: Rules,
    *,
    claimed: Collection[str],
    may_miss_verdict: bool,
) -> Mapping[str, Gate]:
    """Return the gate of every target that has a verdict.

    Args:
        cases: by target.
        claims: what the host advertised.
        revised: turns used.
        rules: the workspace's and the run's own limits.
        claimed: targets, or keys of escalations, that a reviewer holds.
        may_miss_verdict: something that holds the run could have been a `fail` on any target.
    """
    found = {}
    for target, case in cases.items():
        gate = _gate(case, claims, revised, rules)
        state = _with_reviewer(gate, claimed)
        if may_miss_verdict and state in LETS_THROUGH:
            state = GateState.UNKNOWN
        found[target] = _in_state(gate, state)
    return MappingProxyType(found)


def worst_state(states: Iterable[GateState]) -> GateState:
    """Return the state that a run is known by; `no_verdict` when it has no gate."""
    return min(states, key=WORST_FIRST.index, default=GateState.NO_VERDICT)


def _gate(case: Case, claims: Advertisements, revised: Revisions, rules: Rules) -> Gate:
    ruled = _ruled(case)
    replaced_by = None if ruled.state in LETS_THROUGH else case.later.replaced_by
    claim = claims.at(ruled.by.line.timestamp)
    return Gate(
        target=case.target,
        state=GateState.SUPERSEDED if replaced_by else ruled.state,
        subject=case.subject,
        binding=Binding.ADVISORY if ruled.by.is_ours else claim.binding,
        independence=independence(case.subject, case.verdicts),
        standing=case.standing,
        turns_used=revised.used.get(case.target, 0),
        turn_limit=limit(claim, rules),
        replaced_by=replaced_by,
        overridden_by=ruled.override,
        decided_by=ruled.decision,
    )


def _ruled(case: Case) -> _Ruled:
    """Return the worst of what each standing verdict comes to after a person's ruling on it."""
    return max((_on(case, verdict) for verdict in case.standing), key=_weight)


def _on(case: Case, verdict: Verdict) -> _Ruled:
    if verdict.kind is VerdictKind.PASS:
        return _Ruled(GateState.PASSED, verdict)
    ruling = case.ruling_on(verdict)
    decision = ruling.decision if ruling else None
    if decision is not None and decision.action is Action.OVERRIDE:
        return _Ruled(GateState.OVERRIDDEN, verdict, decision)
    override = case.override_of(verdict)
    if override is not None and (ruling is None or ruling.seen_sequence < sequence_of(override)):
        return _Ruled(GateState.OVERRIDDEN, verdict, override=override)
    if decision is not None and decision.action is Action.SEND_BACK:
        return _Ruled(GateState.REVISE_ASKED, verdict, decision)
    if verdict.kind is VerdictKind.REVISE:
        return _Ruled(GateState.REVISE_ASKED, verdict)
    return _Ruled(GateState.UPHELD if decision else GateState.BLOCKED, verdict, decision)


_WEIGHTS: Mapping[GateState, int] = MappingProxyType(
    {
        GateState.PASSED: 0,
        GateState.OVERRIDDEN: 1,
        GateState.REVISE_ASKED: 2,
        GateState.UPHELD: 3,
        GateState.BLOCKED: 4,
    }
)


def _weight(ruled: _Ruled) -> tuple[int, int, int]:
    return _WEIGHTS[ruled.state], SEVERITY[ruled.by.kind], ruled.by.sequence


def _with_reviewer(gate: Gate, claimed: Collection[str]) -> GateState:
    waits = gate.state is GateState.BLOCKED or (
        gate.state is GateState.REVISE_ASKED and gate.is_at_limit
    )
    is_held = gate.target in claimed or f"{TARGET}{gate.target}" in claimed
    return GateState.IN_REVIEW if waits and is_held else gate.state


def _in_state(gate: Gate, state: GateState) -> Gate:
    return gate if state is gate.state else replace(gate, state=state)


_WHY: Mapping[GateState, str] = MappingProxyType(
    {
        GateState.NO_VERDICT: "Nobody has verified this result.",
        GateState.PASSED: "Every verifier's latest word is pass.",
        GateState.REVISE_ASKED: "Another turn is asked for; nobody says fail.",
        GateState.BLOCKED: "A verifier's latest word is fail, and nobody has lifted it.",
        GateState.IN_REVIEW: "A reviewer is looking at it.",
        GateState.OVERRIDDEN: "A person let it through in spite of the verdict.",
        GateState.UPHELD: "A person confirmed the fail.",
        GateState.SUPERSEDED: "A later turn gave a new result in its place.",
        GateState.UNKNOWN: "Something that could be a fail cannot be read.",
    }
)
_WHAT_CHANGES_IT: Mapping[GateState, str] = MappingProxyType(
    {
        GateState.NO_VERDICT: "A verdict.",
        GateState.PASSED: "A fail or revise by any verifier.",
        GateState.REVISE_ASKED: "A pass by whoever asked, a new turn, a fail, or a person.",
        GateState.BLOCKED: "A pass by the verifier who said fail, a new turn, or a person.",
        GateState.IN_REVIEW: "The reviewer's decision.",
        GateState.OVERRIDDEN: "A verdict that the person had not seen.",
        GateState.UPHELD: "A pass by the verifier who said fail, a new turn, or a person.",
        GateState.SUPERSEDED: "Nothing: look at the result that took its place.",
        GateState.UNKNOWN: "The same event, readable this time; or a person who releases the run.",
    }
)
