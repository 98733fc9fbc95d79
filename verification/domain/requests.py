"""Everything in a run that a person may be wanted for, one reason at a time.

Requests are also kept after they are settled: two reasons that are one matter stay one matter when
the first of them goes away. Which belong together is for `escalations` to say.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from runs.domain.interrupts import Interrupt, sequence_of
from runs.domain.log import LogLine
from runs.domain.projection import RunStatus
from runs.domain.readers import ASKS_A_PERSON, VerdictKind
from verification.domain.cases import Case
from verification.domain.confidence import low_verdicts
from verification.domain.entries import Decided, Turn
from verification.domain.findings import Finding, Severity
from verification.domain.gates import Gate, GateState
from verification.domain.holds import KEY as HELD
from verification.domain.holds import Hold
from verification.domain.index import Index
from verification.domain.past_decisions import TARGET
from verification.domain.rules import Rules
from verification.domain.ties import Interrupts, next_act, next_turn
from verification.domain.verdicts import Verdict

LONGEST_KEY = 300


class Reason(StrEnum):
    """Why a person is wanted, the weightiest first. Stored; add, never repurpose."""

    FAIL = "fail"
    LOW_CONFIDENCE = "low_confidence"
    ASK_USER = "ask_user"
    INTERRUPT = "interrupt"
    REVISE_LIMIT = "revise_limit"
    VIOLATION = "violation"
    CONSENSUS_REJECTED = "consensus_rejected"
    HELD = "held"
    AUDIT_SAMPLE = "audit_sample"


RANK = {reason: rank for rank, reason in enumerate(Reason)}

_REPLACED = frozenset({GateState.SUPERSEDED, GateState.OVERRIDDEN})
_WAITING = frozenset({GateState.BLOCKED, GateState.IN_REVIEW})


@dataclass(frozen=True, slots=True)
class Request:
    """One reason to want a person."""

    reason: Reason
    names: tuple[str, ...]
    """Keys by which the matter may be known; the first is its own."""
    lines: tuple[LogLine, ...]
    """What a person must have seen to have decided it."""
    is_open: bool
    target: str | None = None
    interrupt: Interrupt | None = None

    @property
    def first_line(self) -> LogLine:
        """Return the first line behind it."""
        if len(self.lines) == 1:
            return self.lines[0]
        return min(self.lines, key=lambda line: (sequence_of(line), line.position))


def about_targets(
    index: Index, cases: Mapping[str, Case], gates: Mapping[str, Gate], rules: Rules
) -> Iterator[Request]:
    """Return what the verdicts on targets want a person for."""
    goes_on = index.run.status is not RunStatus.CANCELLED
    for target, case in cases.items():
        gate = gates[target]
        for reason, verdicts, is_open in _reasons(case, gate, rules):
            yield Request(
                reason=reason,
                names=(target_key(target),),
                lines=tuple(verdict.line for verdict in verdicts),
                is_open=is_open and goes_on,
                target=target,
            )


def about_turns(
    index: Index, low: Sequence[Turn], gates: Mapping[str, Gate], interrupts: Interrupts
) -> Iterator[Request]:
    """Return the actors' results that their own actors are not sure of.

    Such a request goes with the interrupt that it led to. Without one it stays, also after the
    run's end, until the same agent gives a new result at the same node or a person has seen it.
    """
    goes_on = index.run.status is not RunStatus.CANCELLED
    for turn in low:
        target = turn.line.event_id
        interrupt, gate = interrupts.get(target), gates.get(target)
        is_over = gate is not None and gate.state in _REPLACED
        is_last = next_turn(index, turn) is None
        yield Request(
            reason=Reason.LOW_CONFIDENCE,
            names=(target_key(target),),
            lines=(turn.line,),
            is_open=interrupt.is_open if interrupt else goes_on and is_last and not is_over,
            target=target,
        )


def about_decisions(
    index: Index, low: Sequence[Decided], interrupts: Interrupts
) -> Iterator[Request]:
    """Return the orchestrator's decisions that ask for a person, or should be confirmed by one."""
    goes_on = index.run.status is not RunStatus.CANCELLED
    for decision in low:
        target = decision.line.event_id
        interrupt = interrupts.get(target)
        yield Request(
            reason=Reason.LOW_CONFIDENCE,
            names=(target_key(target), decision_key(target)),
            lines=(decision.line,),
            is_open=interrupt.is_open if interrupt else goes_on,
            target=target,
        )
    for decision in index.decisions:
        if decision.said.kind in ASKS_A_PERSON:
            interrupt = interrupts.get(decision.line.event_id)
            yield Request(
                reason=Reason.ASK_USER,
                names=(decision_key(decision.line.event_id),),
                lines=(decision.line,),
                is_open=interrupt.is_open if interrupt else next_act(index, decision.line) is None,
            )


def about_escalated(
    index: Index, low: Sequence[Decided], interrupts: Interrupts
) -> Iterator[Request]:
    """Return the low confidence that a host tells of without a decision that we hold."""
    known = {decision.line.event_id for decision in low}
    for line in index.escalated:
        if line.causation_id not in known:
            interrupt = interrupts.get(line.event_id)
            yield Request(
                reason=Reason.LOW_CONFIDENCE,
                names=(escalated_key(line),),
                lines=(line,),
                is_open=interrupt.is_open if interrupt else next_act(index, line) is None,
            )


def about_interrupts(index: Index) -> Iterator[Request]:
    """Return the host's interrupts."""
    for interrupt in index.run.interrupts:
        reason = Reason.LOW_CONFIDENCE if interrupt.is_low_confidence else Reason.INTERRUPT
        yield Request(
            reason=reason,
            names=interrupt_keys(interrupt),
            lines=interrupt.lines[:1],
            is_open=interrupt.is_open,
            interrupt=interrupt,
        )


def about_findings(index: Index, findings: Sequence[Finding]) -> Iterator[Request]:
    """Return the violations: somebody has to know of each."""
    for finding in findings:
        if finding.severity is Severity.VIOLATION and finding.target and finding.line:
            yield Request(
                reason=Reason.VIOLATION,
                names=(target_key(finding.target),),
                lines=(finding.line,),
                is_open=index.run.status is not RunStatus.CANCELLED,
                target=finding.target,
            )


def about_holds(index: Index, holds: Sequence[Hold]) -> Iterator[Request]:
    """Return the one request that everything unreadable in a run comes to."""
    open_holds = [hold.line for hold in holds if hold.holds]
    if open_holds:
        yield Request(
            reason=Reason.HELD,
            names=(HELD,),
            lines=tuple(open_holds),
            is_open=index.run.status is not RunStatus.CANCELLED,
        )


def target_key(target: str) -> str:
    """Return the key of whatever is about a target."""
    return bounded(f"{TARGET}{target}")


def decision_key(event_id: str) -> str:
    """Return the key of an orchestrator's decision."""
    return bounded(f"decision:{event_id}")


def escalated_key(line: LogLine) -> str:
    """Return the key of a `confidence-escalated`: that of the decision it names, if it does."""
    return decision_key(line.causation_id or line.event_id)


def interrupt_keys(interrupt: Interrupt) -> tuple[str, ...]:
    """Return the keys of an interrupt: by node and first sequence or line of ours, and by its id.

    The first is the one to store. The line that it is taken from may turn out not to be the first
    when an earlier announcement of the same interrupt arrives late; the others find it again.
    """
    by_line = [f"interrupt:{interrupt.node_id or ''}:{_number(line)}" for line in interrupt.lines]
    by_id = [f"interrupt:{interrupt.interrupt_id}"] if interrupt.interrupt_id else []
    return tuple(bounded(key) for key in (*by_line, *by_id))


def _number(line: LogLine) -> int | str:
    return f"line-{line.position}" if line.sequence is None else line.sequence


def bounded(key: str) -> str:
    """Return a key that fits where keys are stored."""
    if len(key) <= LONGEST_KEY:
        return key
    digest = hashlib.sha256(key.encode()).hexdigest()
    return f"{key[: LONGEST_KEY - len(digest) - 1]}~{digest}"


def _reasons(case: Case, gate: Gate, rules: Rules) -> Iterator[tuple[Reason, list[Verdict], bool]]:
    """Return each reason, the verdicts behind it, and whether they still want a person."""
    is_waiting = gate.state in _WAITING
    ever_failed = [each for each in case.verdicts if each.kind is VerdictKind.FAIL]
    failed = [each for each in case.standing if each.kind is VerdictKind.FAIL]
    if ever_failed:
        yield Reason.FAIL, failed or ever_failed, bool(failed) and is_waiting
    if failed and all(each.is_ours for each in failed):
        yield Reason.CONSENSUS_REJECTED, failed, is_waiting
    if not failed and gate.is_at_limit and case.phases[-1].kind is VerdictKind.REVISE:
        asked = [each for each in case.standing if each.kind is VerdictKind.REVISE]
        yield Reason.REVISE_LIMIT, asked, is_waiting or gate.state is GateState.REVISE_ASKED
    unsure = low_verdicts(case, rules)
    if unsure:
        yield Reason.LOW_CONFIDENCE, unsure, gate.state not in _REPLACED
    if gate.state is GateState.PASSED and _is_sampled(case, rules):
        yield Reason.AUDIT_SAMPLE, list(case.standing), True


def _is_sampled(case: Case, rules: Rules) -> bool:
    """Say whether a pass is one of the share to be looked at; for one pass always the same."""
    if rules.audit_share <= 0:
        return False
    passed = case.standing[-1].line.event_id
    digest = hashlib.sha256(f"{rules.audit_salt}\x00{passed}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < rules.audit_share * 2**64
