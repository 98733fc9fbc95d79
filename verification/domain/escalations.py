"""What a run wants a person for, each matter once.

A host says one thing in several ways: an orchestrator asks, the run is suspended, the actor had not
been sure, a verifier had said fail. What is one request to a person is one escalation here, known
by a key that does not change when the next reason joins. What a person has decided, having seen it,
is not asked again.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runs.domain.interrupts import Interrupt, sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import ASKS_A_PERSON, VerdictKind
from verification.domain.cases import NEVER, Case
from verification.domain.entries import Decided
from verification.domain.index import Index
from verification.domain.past_decisions import PastDecision
from verification.domain.requests import (
    RANK,
    Reason,
    Request,
    decision_key,
    escalated_key,
    interrupt_keys,
    target_key,
)
from verification.domain.stretches import first_between
from verification.domain.ties import EXTERNAL, Interrupts


@dataclass(frozen=True, slots=True)
class Escalation:
    """One open request for a person."""

    key: str
    """What it is about; stable for the run."""
    aliases: frozenset[str]
    """Every key by which the same matter was, or may have been, known; `key` is among them."""
    reason: Reason
    """The weightiest."""
    reasons: tuple[Reason, ...]
    target: str | None
    interrupt: Interrupt | None
    """The host's interrupt that it is tied to, while that is open."""
    opened_by: LogLine
    """The first line that wants a person."""


class Groups:
    """Requests, with those put together that are one matter."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests
        self._leader = list(range(len(requests)))
        self._has_open_interrupt = [
            bool(each.interrupt and each.interrupt.is_open) for each in requests
        ]
        self._named: dict[str, int] = {}
        for at, request in enumerate(requests):
            for name in request.names:
                self._join(self._named.setdefault(name, at), at)

    def tie(self, name: str, other: str) -> None:
        """Make one matter of two, unless that would put two open interrupts into one."""
        if name in self._named and other in self._named:
            self._join(self._named[name], self._named[other])

    def __iter__(self) -> Iterator[list[Request]]:
        members: dict[int, list[Request]] = defaultdict(list)
        for at, request in enumerate(self._requests):
            members[self._leader_of(at)].append(request)
        return iter(members.values())

    def _join(self, one: int, other: int) -> None:
        a, b = self._leader_of(one), self._leader_of(other)
        if a != b and not (self._has_open_interrupt[a] and self._has_open_interrupt[b]):
            self._leader[b] = a
            self._has_open_interrupt[a] = self._has_open_interrupt[a] or self._has_open_interrupt[b]

    def _leader_of(self, at: int) -> int:
        while self._leader[at] != at:
            self._leader[at] = self._leader[self._leader[at]]
            at = self._leader[at]
        return at


def escalations(
    groups: Iterable[Sequence[Request]], decisions: Sequence[PastDecision]
) -> tuple[Escalation, ...]:
    """Return the open escalations, in the order in which they were opened.

    Args:
        groups: requests that are one matter each, the settled ones among them.
        decisions: what people decided about the run.
    """
    settled: dict[str, list[PastDecision]] = defaultdict(list)
    for decision in decisions:
        if decision.settles:
            names = {decision.key, *([target_key(decision.about)] if decision.about else [])}
            for name in names:
                settled[name].append(decision)
    found = [each for group in groups if (each := _escalation(group, settled))]
    return tuple(sorted(found, key=lambda each: (sequence_of(each.opened_by), each.key)))


def tie_together(
    groups: Groups, index: Index, cases: Mapping[str, Case], interrupts: Interrupts
) -> None:
    """Tie every decision and result to the interrupt it led to, and every question to its `fail`.

    Args:
        groups: all requests.
        index: the run's log.
        cases: by target.
        interrupts: by the event id of the line that led to each.
    """
    escalated = {line.event_id: line for line in index.escalated}
    for event_id, interrupt in interrupts.items():
        key = interrupt_keys(interrupt)[0]
        if event_id in escalated:
            groups.tie(escalated_key(escalated[event_id]), key)
        groups.tie(target_key(event_id), key)
        groups.tie(decision_key(event_id), key)
    for case in cases.values():
        led_to = _interrupt_after_fail(index, case)
        if led_to is not None:
            groups.tie(target_key(case.target), interrupt_keys(led_to)[0])
    for target, decision in _asked_about(index, cases):
        groups.tie(target_key(target), decision_key(decision.line.event_id))


def _asked_about(index: Index, cases: Mapping[str, Case]) -> Iterator[tuple[str, Decided]]:
    """Return the decisions that ask a person while the latest `fail` before them stands."""
    fails = [each for each in index.verdicts if each.kind is VerdictKind.FAIL]
    for decision in index.decisions:
        at = bisect_left(fails, decision.sequence, key=lambda each: each.sequence) - 1
        if decision.said.kind in ASKS_A_PERSON and at >= 0:
            case = cases[fails[at].said.target]
            if _is_blocked_at(index, case, decision.sequence):
                yield case.target, decision


def _is_blocked_at(index: Index, case: Case, moment: int) -> bool:
    phase = case.phase_at(moment)
    if phase is None or phase.kind is not VerdictKind.FAIL:
        return False
    is_replaced = case.successors(index, moment).replaced_by is not None
    return not is_replaced and not case.is_lifted(phase.verdict, moment)


def _interrupt_after_fail(index: Index, case: Case) -> Interrupt | None:
    """Return the interrupt that a `fail` led to.

    One that names the verdict as its cause; else one that is the host's very next event, unless it
    waits for another system; else the next at the failed node.
    """
    failed = next((each for each in case.verdicts if each.kind is VerdictKind.FAIL), None)
    if failed is None or not index.run.interrupts:
        return None
    caused = index.interrupts_by_cause.get(failed.line.event_id)
    if caused is not None:
        return caused
    at_once = first_between(
        index.run.interrupts, failed.sequence, failed.sequence + 2, lambda each: each.opened_at
    )
    if at_once is not None and at_once.kind != EXTERNAL:
        return at_once
    here = index.interrupts_of_node.get(case.subject.node_id or "", [])
    replaced_by = case.later.replaced_by
    before = NEVER if replaced_by is None else sequence_of(replaced_by)
    return first_between(here, failed.sequence, before, lambda each: each.opened_at)


def _escalation(
    group: Sequence[Request], settled: Mapping[str, Sequence[PastDecision]]
) -> Escalation | None:
    names = [name for request in group for name in request.names]
    made = [decision for name in set(names) for decision in settled.get(name, ())]
    wanted = [each for each in group if each.is_open and not _is_settled(each, made)]
    if not wanted:
        return None
    if len(wanted) > 1:
        wanted.sort(key=_weight)
    reasons = sorted({each.reason for each in wanted}, key=RANK.__getitem__)
    return Escalation(
        key=min(group, key=_naming).names[0],
        aliases=frozenset(names),
        reason=reasons[0],
        reasons=tuple(reasons),
        target=next((each.target for each in wanted if each.target), None),
        interrupt=next((each.interrupt for each in wanted if each.interrupt), None),
        opened_by=min((each.first_line for each in wanted), key=sequence_of),
    )


def _is_settled(request: Request, decisions: Iterable[PastDecision]) -> bool:
    """Say whether a person decided the matter with this reason on screen."""
    return any(all(each.saw(line) for line in request.lines) for each in decisions)


def _weight(request: Request) -> tuple[int, int]:
    return RANK[request.reason], sequence_of(request.first_line)


def _naming(request: Request) -> tuple[bool, bool, int, int]:
    """Order requests by which gives the matter its key: a target, a decision, then an interrupt."""
    return request.target is None, request.interrupt is not None, *_weight(request)
