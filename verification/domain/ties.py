"""Which of the host's interrupts belongs to which decision.

A host that asks a person says it twice: somebody decides, and the run is suspended. That is one
request. The interrupt that belongs to an orchestrator's decision is one opened after it and before
the run acts again: one that names the decision as its cause, else one at the same node, else the
first that waits for a person. An actor's unsure result is tied only to an interrupt at its own
node, or to one that names the actor. Source: OpenWOP multi-agent-execution.md; RFC 0039; RFC 0002.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from runs.domain.interrupts import Interrupt, sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import ASKS_A_PERSON, node_of
from verification.domain.cases import NEVER
from verification.domain.entries import Decided, Turn
from verification.domain.index import Index
from verification.domain.stretches import first_between

EXTERNAL = "external-event"
"""The kind of an interrupt that waits for another system, not for a person."""

Interrupts = Mapping[str, Interrupt]
"""By the event id of the line that led to the interrupt."""


def interrupts_of_decisions(index: Index, low: Sequence[Decided]) -> Interrupts:
    """Return the interrupts that asking decisions led to.

    Args:
        index: the run's log.
        low: decisions whose confidence is low; those that ask a person are found here.
    """
    asking = [each.line for each in index.decisions if each.said.kind in ASKS_A_PERSON]
    return _after_each(index, [*asking, *(each.line for each in low)])


def interrupts_of_escalated(index: Index) -> Interrupts:
    """Return the interrupts that `confidence-escalated` events led to."""
    return _after_each(index, index.escalated)


def interrupts_of_turns(index: Index, low: Sequence[Turn]) -> Interrupts:
    """Return the interrupts that actors' unsure results led to."""
    by_node: dict[str | None, list[Interrupt]] = defaultdict(list)
    by_agent: dict[str | None, list[Interrupt]] = defaultdict(list)
    for interrupt in index.run.interrupts:
        by_node[interrupt.node_id].append(interrupt)
        if interrupt.is_low_confidence:
            by_agent[interrupt.agent_id].append(interrupt)
    found = {}
    for turn in low:
        nearby = by_agent[turn.agent_id] if turn.node_id is None else by_node[turn.node_id]
        following = next_turn(index, turn)
        before = following.sequence if following else NEVER
        led_to = first_between(nearby, turn.sequence, before, _opened_at)
        if led_to is not None:
            found[turn.line.event_id] = led_to
    return MappingProxyType(found)


def next_act(index: Index, line: LogLine) -> LogLine | None:
    """Return the line by which the run acted on what a line decided, or decided again, or ended."""
    start = sequence_of(line)
    act = first_between(index.acts, start, NEVER, sequence_of)
    following = first_between(index.decisions, start, NEVER, lambda each: each.sequence)
    lines = [each for each in (act, following.line if following else None) if each]
    return min(lines, key=sequence_of, default=None)


def next_turn(index: Index, turn: Turn) -> Turn | None:
    """Return the same agent's next result at the same node."""
    here = index.turns_of_agent_at_node.get((turn.agent_id, turn.node_id or ""), [])
    return first_between(here, turn.sequence, NEVER, lambda each: each.sequence)


def _after_each(index: Index, lines: Iterable[LogLine]) -> Interrupts:
    interrupts = [each for each in index.run.interrupts if each.kind != EXTERNAL]
    found = {line.event_id: _interrupt_after(index, line, interrupts) for line in lines}
    return MappingProxyType(
        {key: interrupt for key, interrupt in found.items() if interrupt is not None}
    )


def _interrupt_after(
    index: Index, line: LogLine, interrupts: Sequence[Interrupt]
) -> Interrupt | None:
    act = next_act(index, line)
    start = bisect_right(interrupts, float(sequence_of(line)), key=_opened_at)
    end = bisect_left(interrupts, float(sequence_of(act)), key=_opened_at) if act else None
    return min(interrupts[start:end], key=lambda each: _distance(line, each), default=None)


def _distance(line: LogLine, interrupt: Interrupt) -> tuple[int, float]:
    """Order interrupts by how surely they belong to a decision."""
    if any(each.causation_id == line.event_id for each in interrupt.lines):
        return 0, interrupt.opened_at
    node = node_of(line)
    is_same_node = node is not None and interrupt.node_id == node
    return (1 if is_same_node else 2), interrupt.opened_at


def _opened_at(interrupt: Interrupt) -> float:
    return interrupt.opened_at
