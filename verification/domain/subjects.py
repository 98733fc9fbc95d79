"""What a verdict is about: the line, child run or tool call that its target names.

Tried in a fixed order: the event id of an `agent.decided`, a child run, a tool call, an agent. A
target that names an agent stands for any of that agent's results, so it is shown with its
candidates and never guessed; a target on another host is labelled with that host. Only a certain
subject can carry proof against a host. Source: RFC 0090 §A, `target`; RFC 0040 §A,
`causationHostId`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from runs.domain.interrupts import sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import causation_host_of, node_of, tool_call_of
from verification.domain.entries import Child, Turn
from verification.domain.index import Index
from verification.domain.stretches import first_between
from verification.domain.verdicts import Verdict

SHOWN_CANDIDATES = 50


class SubjectKind(StrEnum):
    """What a target turned out to name. Stored; add, never repurpose."""

    TURN = "turn"
    CHILD_RUN = "child_run"
    TOOL_CALL = "tool_call"
    AGENT = "agent"
    OTHER_HOST = "other_host"
    NOT_FOUND = "not_found"


class Independence(StrEnum):
    """Whether the verifiers are somebody else than the actor. Stored; add, never repurpose."""

    INDEPENDENT = "independent"
    SELF_VERIFIED = "self_verified"
    UNKNOWN = "unknown"


_FOUND = frozenset({SubjectKind.TURN, SubjectKind.CHILD_RUN, SubjectKind.TOOL_CALL})


@dataclass(frozen=True, slots=True)
class Subject:
    """What a target names in this run."""

    kind: SubjectKind
    target: str
    line: LogLine | None = None
    """The first line that shows it."""
    node_id: str | None = None
    actor: str | None = None
    """The agent or worker whose result it is."""
    candidates: tuple[str, ...] = ()
    """For an agent: event ids of its results, the latest ones if there are very many."""
    candidate_count: int = 0
    host_id: str | None = None
    """The other host that a verdict says it lives on."""
    homes: frozenset[str] = frozenset()
    """Other hosts that its own lines say it lives on."""

    @property
    def began_at(self) -> int:
        """Return the sequence of the line that shows it first, or -1."""
        return -1 if self.line is None else sequence_of(self.line)

    def is_certain(self, host_id: str | None) -> bool:
        """Say whether a verdict can mean nothing else: good enough to prove something with.

        Args:
            host_id: the other host that the verdict names, if it names one.
        """
        return self.kind in _FOUND and (host_id is None or host_id in self.homes)


@dataclass(frozen=True, slots=True)
class Successors:
    """Results that came after a subject, from the same place."""

    replaced_by: LogLine | None
    """The first complete one that was begun after a verdict had asked for it."""
    is_contested: bool
    """Something later may have replaced it, though the log does not say so."""


NO_SUCCESSORS = Successors(replaced_by=None, is_contested=False)


def resolve(index: Index, target: str, own_hosts: frozenset[str]) -> Subject:
    """Return what a target names.

    Args:
        index: the run's log.
        target: as the verdicts spell it.
        own_hosts: names under which this run's host points at itself.
    """
    verdicts = index.by_target.get(target, [])
    hosts = {each.said.causation_host_id for each in verdicts} - {None, *own_hosts}
    host_id = min((host for host in hosts if host), default=None)
    if turn := index.turns.get(target):
        return _turn(turn, target, host_id)
    if child := index.children.get(target):
        return _child(child, target, host_id)
    if line := index.calls.get(target):
        return _call(line, target, host_id)
    if host_id is not None:
        return Subject(SubjectKind.OTHER_HOST, target, host_id=host_id)
    turns = index.turns_of_agent.get(target)
    return _agent(turns, target) if turns else Subject(SubjectKind.NOT_FOUND, target)


def independence(subject: Subject, verdicts: Sequence[Verdict]) -> Independence:
    """Say whether anybody verified their own work.

    Source: RFC 0090 §A: a host may allow it, and must make it visible.
    """
    if subject.actor is None:
        return Independence.UNKNOWN
    if any(each.said.agent_id == subject.actor for each in verdicts):
        return Independence.SELF_VERIFIED
    is_agent = subject.kind is not SubjectKind.CHILD_RUN
    return Independence.INDEPENDENT if is_agent else Independence.UNKNOWN


def successors(index: Index, subject: Subject, asked_at: int, before: int) -> Successors:
    """Return what came after a subject, up to a moment.

    Only a result begun after a verdict had asked for another turn replaces the subject: one agent
    may decide several things in one turn, and a `fail` on the first of them must not vanish because
    of the second. A verifier's own turn at the same node is no new result of the actor either.

    Args:
        index: the run's log.
        subject: what the verdicts are about.
        asked_at: sequence of the first verdict that was not a `pass`.
        before: sequence at which the question is asked.
    """
    since = max(asked_at, subject.began_at)
    match subject.kind:
        case SubjectKind.TURN:
            return _later_turns(index, subject, since, before)
        case SubjectKind.CHILD_RUN:
            return _later_children(index, subject, since, before)
        case SubjectKind.TOOL_CALL:
            return Successors(None, _has_later_work(index, subject, before))
        case SubjectKind.AGENT | SubjectKind.OTHER_HOST | SubjectKind.NOT_FOUND:
            return NO_SUCCESSORS


def _turn(turn: Turn, target: str, host_id: str | None) -> Subject:
    return Subject(
        kind=SubjectKind.TURN,
        target=target,
        line=turn.line,
        node_id=turn.node_id,
        actor=turn.agent_id,
        host_id=host_id,
        homes=_homes(turn.line),
    )


def _child(child: Child, target: str, host_id: str | None) -> Subject:
    return Subject(
        kind=SubjectKind.CHILD_RUN,
        target=target,
        line=child.first,
        actor=min(child.workers, default=None),
        host_id=host_id,
        homes=frozenset(child.host_ids),
    )


def _call(line: LogLine, target: str, host_id: str | None) -> Subject:
    call = tool_call_of(line)
    return Subject(
        kind=SubjectKind.TOOL_CALL,
        target=target,
        line=line,
        node_id=node_of(line),
        actor=call.agent_id if call else None,
        host_id=host_id,
        homes=_homes(line),
    )


def _homes(line: LogLine) -> frozenset[str]:
    host_id = causation_host_of(line)
    return frozenset() if host_id is None else frozenset({host_id})


def _agent(turns: Sequence[Turn], target: str) -> Subject:
    return Subject(
        kind=SubjectKind.AGENT,
        target=target,
        actor=target,
        candidates=tuple(turn.line.event_id for turn in turns[-SHOWN_CANDIDATES:]),
        candidate_count=len(turns),
    )


def _later_turns(index: Index, subject: Subject, since: int, before: int) -> Successors:
    """Look at the same node; where the host names no node, the same agent is a hint only."""
    if subject.node_id is None:
        others = index.turns_of_agent.get(subject.actor or "", [])
        is_contested = first_between(others, subject.began_at, before, _place) is not None
        return Successors(None, is_contested)
    by_others = index.results_of_node.get(subject.node_id, [])
    by_actor = index.turns_of_agent_at_node.get((subject.actor, subject.node_id), [])
    later = [first_between(turns, since, before, _place) for turns in (by_others, by_actor)]
    replaced_by = min((turn for turn in later if turn), key=_place, default=None)
    here = index.turns_of_node.get(subject.node_id, [])
    is_contested = first_between(here, subject.began_at, before, _place) is not None
    return Successors(replaced_by.line if replaced_by else None, is_contested)


def _later_children(index: Index, subject: Subject, since: int, before: int) -> Successors:
    """Look at other runs of the same worker or workflow."""
    child = index.children[subject.target]
    same = [index.children_of_worker[worker] for worker in sorted(child.workers)]
    later = [each.within(since, before) for each in same]
    replaced_by = min((each for each in later if each), key=_begin, default=None)
    began = [index.begun_of_worker[worker] for worker in sorted(child.workers)]
    others = [first_between(each, child.begun_at, before, _begin) for each in began]
    is_contested = any(each is not None for each in others)
    return Successors(replaced_by.first if replaced_by else None, is_contested)


def _has_later_work(index: Index, subject: Subject, before: int) -> bool:
    """A failed tool result is commonly followed by another call or another decision."""
    call = tool_call_of(subject.line) if subject.line else None
    calls = index.calls_of_tool.get((call.agent_id, call.tool), []) if call else []
    if first_between(calls, subject.began_at, before, sequence_of):
        return True
    turns = index.turns_of_agent.get(subject.actor or "", [])
    return first_between(turns, subject.began_at, before, _place) is not None


def _place(turn: Turn) -> int:
    return turn.sequence


def _begin(child: Child) -> int:
    return child.begun_at
