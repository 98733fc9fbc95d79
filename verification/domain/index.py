"""A run's log, read once and laid out by what the rules look things up by.

Everything after this asks dictionaries and sorted lists: no rule walks the log again. Host lines
are in sequence order, each sequence once; the Console's own lines are in position order.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runs.domain import readers
from runs.domain.interrupts import FOUND_TYPES, Interrupt, sequence_of
from runs.domain.log import LogLine, Origin
from runs.domain.projection import Projection, in_sequence, project
from verification.domain.entries import Child, Decided, Turn
from verification.domain.signals import VERDICT_RECORDED, is_signal
from verification.domain.stretches import Stretches
from verification.domain.verdicts import Verdict

_GATE_RELEVANT = frozenset(
    {readers.VERDICT, readers.ACTOR_TURN, readers.CHAIN_STEP, readers.ORCHESTRATOR_DECISION}
)
_ATTEMPT_PHASES = frozenset({"dispatch.succeeded", "child.completed"})
_COMPLETED_PHASES = frozenset({"child.completed", "output.harvested"})


@dataclass(slots=True)
class Index:
    """A run's log by what it says."""

    lines: Sequence[LogLine]
    marks: Sequence[LogLine]
    """The Console's own lines."""
    run: Projection
    verdicts: list[Verdict] = field(default_factory=list)
    by_target: dict[str, list[Verdict]] = field(default_factory=lambda: defaultdict(list))
    unreadable: list[LogLine] = field(default_factory=list)
    """Verdicts and decisions that do not say what they must."""
    off_schema: list[LogLine] = field(default_factory=list)
    near_misses: list[LogLine] = field(default_factory=list)
    turns: dict[str, Turn] = field(default_factory=dict)
    turns_of_node: dict[str, list[Turn]] = field(default_factory=lambda: defaultdict(list))
    turns_of_agent: dict[str, list[Turn]] = field(default_factory=lambda: defaultdict(list))
    children: dict[str, Child] = field(default_factory=dict)
    calls: dict[str, LogLine] = field(default_factory=dict)
    calls_of_tool: dict[tuple[str | None, str | None], list[LogLine]] = field(
        default_factory=lambda: defaultdict(list)
    )
    decisions: list[Decided] = field(default_factory=list)
    escalated: list[LogLine] = field(default_factory=list)
    """`confidence-escalated`: the host itself asks for a person."""
    overrides: dict[str | None, list[LogLine]] = field(default_factory=lambda: defaultdict(list))
    """The host's own overrides, by gate."""
    grants: dict[str | None, list[LogLine]] = field(default_factory=lambda: defaultdict(list))
    completions: dict[str, list[LogLine]] = field(default_factory=lambda: defaultdict(list))
    """`node.completed`, by node."""
    returns: dict[str, list[LogLine]] = field(default_factory=lambda: defaultdict(list))
    """`node.completed`, by the child run whose end it reports."""
    acts: list[LogLine] = field(default_factory=list)
    """Where the run went on to do something: a dispatch, or its end."""

    interrupts_of_node: dict[str, list[Interrupt]] = field(
        default_factory=lambda: defaultdict(list)
    )
    interrupts_by_cause: dict[str, Interrupt] = field(default_factory=dict)
    """The first interrupt that names an event as its cause."""
    results_of_node: dict[str, list[Turn]] = field(default_factory=lambda: defaultdict(list))
    """Turns at a node by agents that verify nothing in this run."""
    turns_of_agent_at_node: dict[tuple[str | None, str], list[Turn]] = field(
        default_factory=lambda: defaultdict(list)
    )
    children_of_worker: dict[str, Stretches[Child]] = field(
        default_factory=lambda: defaultdict(Stretches)
    )
    """The completed ones, from the first line that names them to the first that says so."""
    begun_of_worker: dict[str, list[Child]] = field(default_factory=lambda: defaultdict(list))
    """All of them, in the order in which they began."""

    @property
    def last_sequence(self) -> int:
        """Return the highest sequence held among the signals, or -1."""
        return sequence_of(self.lines[-1]) if self.lines else -1


def index(lines: Iterable[LogLine]) -> Index:
    """Read a log.

    Args:
        lines: of one run, in any order, repeats allowed.
    """
    signals = [line for line in lines if is_signal(line)]
    hosts = in_sequence(signals)
    ours = {line.event_id: line for line in signals if line.origin is Origin.CONSOLE}
    marks = sorted(ours.values(), key=lambda line: (line.position, line.event_id))
    told = [line for line in marks if line.type in FOUND_TYPES]
    found = Index(lines=hosts, marks=marks, run=project(hosts, told))
    for line in hosts:
        _take(found, line)
    for line in marks:
        if line.type == VERDICT_RECORDED:
            _take_verdict(found, line)
    _sort_verdicts(found)
    _arrange_turns(found)
    _arrange_children(found)
    _arrange_interrupts(found)
    return found


def _take(found: Index, line: LogLine) -> None:
    if line.near_miss_of is not None:
        found.near_misses.append(line)
    if line.mismatches and line.type in _GATE_RELEVANT:
        found.off_schema.append(line)
    take = _TAKERS.get(line.type)
    if take is not None:
        take(found, line)


def _take_verdict(found: Index, line: LogLine) -> None:
    said = readers.verdict_of(line)
    if said is None:
        found.unreadable.append(line)
    else:
        found.verdicts.append(Verdict(line, _place(found, line), said))


def _place(found: Index, line: LogLine) -> int:
    if line.sequence is not None:
        return line.sequence
    at = readers.fields(line.payload).get("atSequence")
    return at if type(at) is int else found.last_sequence


def _sort_verdicts(found: Index) -> None:
    found.verdicts.sort(key=lambda each: (each.sequence, each.is_ours, each.line.position))
    for verdict in found.verdicts:
        found.by_target[verdict.said.target].append(verdict)


def _arrange_turns(found: Index) -> None:
    verifiers = {verdict.said.agent_id for verdict in found.verdicts}
    for node, turns in found.turns_of_node.items():
        for turn in turns:
            found.turns_of_agent_at_node[turn.agent_id, node].append(turn)
            if turn.agent_id not in verifiers:
                found.results_of_node[node].append(turn)


def _arrange_children(found: Index) -> None:
    for child in sorted(found.children.values(), key=lambda each: each.begun_at):
        for worker in child.workers:
            found.begun_of_worker[worker].append(child)
            if child.completed_at is not None:
                found.children_of_worker[worker].add(child.begun_at, child.completed_at, child)


def _arrange_interrupts(found: Index) -> None:
    for interrupt in found.run.interrupts:
        if interrupt.node_id is not None:
            found.interrupts_of_node[interrupt.node_id].append(interrupt)
        for line in interrupt.lines:
            if line.causation_id is not None:
                found.interrupts_by_cause.setdefault(line.causation_id, interrupt)


def _take_turn(found: Index, line: LogLine) -> None:
    turn = Turn(line, sequence_of(line), readers.agent_of(line), readers.node_of(line))
    found.turns[line.event_id] = turn
    if turn.node_id is not None:
        found.turns_of_node[turn.node_id].append(turn)
    if turn.agent_id is not None:
        found.turns_of_agent[turn.agent_id].append(turn)


def _take_decision(found: Index, line: LogLine) -> None:
    said = readers.decision_of(line)
    if said is None or not said.has_readable_criteria:
        found.unreadable.append(line)
    if said is not None:
        found.decisions.append(Decided(line, said))


def _take_chain_step(found: Index, line: LogLine) -> None:
    step = readers.chain_step_of(line)
    if step.phase == "dispatch.began":
        found.acts.append(line)
    if step.child_run_id is None:
        return
    child = _child(found, step.child_run_id, line)
    child.workers |= _named(step.worker_id)
    child.host_ids |= _named(step.causation_host_id)
    if step.phase in _ATTEMPT_PHASES:
        child.attempts.append(sequence_of(line))
    if step.phase in _COMPLETED_PHASES and child.completed_at is None:
        child.completed_at = sequence_of(line)
    if step.phase == "output.harvested":
        (child.merges if step.has_merged else child.empty_harvests).append(line)


def _take_dispatch(found: Index, line: LogLine) -> None:
    found.acts.append(line)
    for child in _take_children(found, line):
        child.attempts.append(sequence_of(line))


def _take_completed_node(found: Index, line: LogLine) -> None:
    _take_children(found, line)
    node = readers.node_of(line)
    if node is not None:
        found.completions[node].append(line)
    outputs = readers.fields(readers.fields(line.payload).get("outputs"))
    child = readers.text(outputs.get("childRunId"))
    if child is not None:
        found.returns[child].append(line)


def _take_children(found: Index, line: LogLine) -> list[Child]:
    children = []
    for link in readers.children_of(line):
        child = _child(found, link.run_id, line)
        child.workers |= _named(link.workflow_id)
        if link.status == "completed" and child.completed_at is None:
            child.completed_at = sequence_of(line)
        children.append(child)
    return children


def _named(name: str | None) -> set[str]:
    return {name} if name else set()


def _child(found: Index, run_id: str, line: LogLine) -> Child:
    return found.children.setdefault(run_id, Child(run_id, line))


def _take_call(found: Index, line: LogLine) -> None:
    call = readers.tool_call_of(line)
    if call is None:
        return
    found.calls.setdefault(call.call_id, line)
    if line.type == readers.TOOL_CALLED:
        found.calls_of_tool[call.agent_id, call.tool].append(line)


def _take_override(found: Index, line: LogLine) -> None:
    found.overrides[readers.gate_of(line)].append(line)


def _take_grant(found: Index, line: LogLine) -> None:
    found.grants[readers.gate_of(line)].append(line)


def _take_escalated(found: Index, line: LogLine) -> None:
    found.escalated.append(line)


def _take_act(found: Index, line: LogLine) -> None:
    found.acts.append(line)


_TAKERS: Mapping[str, Callable[[Index, LogLine], None]] = {
    readers.VERDICT: _take_verdict,
    readers.ACTOR_TURN: _take_turn,
    readers.ORCHESTRATOR_DECISION: _take_decision,
    readers.CHAIN_STEP: _take_chain_step,
    readers.DISPATCHED: _take_dispatch,
    readers.NODE_COMPLETED: _take_completed_node,
    readers.TOOL_CALLED: _take_call,
    readers.TOOL_RETURNED: _take_call,
    readers.CONFIDENCE_ESCALATED: _take_escalated,
    readers.APPROVAL_OVERRIDDEN: _take_override,
    readers.APPROVAL_GRANTED: _take_grant,
    "run.completed": _take_act,
    "run.failed": _take_act,
    "run.cancelled": _take_act,
    "run.dead_lettered": _take_act,
}
