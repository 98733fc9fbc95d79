"""What a host did about each target: the route that a result took once it had been judged.

Merges, new turns, pauses for a person and the host's own overrides, each as a pointer to the line
that shows it. How the run ended is not repeated here for every target.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from runs.domain.interrupts import Interrupt, sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import CHAIN_STEP, chain_step_of
from verification.domain.conclude import Conclusions
from verification.domain.gates import Gate


class RouteKind(StrEnum):
    """What a host did. Stored; add, never repurpose."""

    MERGED = "merged"
    NEW_TURN = "new_turn"
    PAUSED = "paused"
    OVERRIDDEN = "overridden"


@dataclass(frozen=True, slots=True)
class RouteStep:
    """One thing that a host did about a target, and the line that shows it."""

    kind: RouteKind
    line: LogLine


def routes(conclusions: Conclusions, lines: Iterable[LogLine]) -> Mapping[str, Sequence[RouteStep]]:
    """Return the route of every target that has a gate, in sequence order.

    Args:
        conclusions: what was concluded from the lines.
        lines: of the run's log, in any order.
    """
    pauses = _Pauses(conclusions.run.interrupts)
    merges = _merges(lines)
    verdicts: dict[str, list[LogLine]] = defaultdict(list)
    for verdict in conclusions.verdicts:
        verdicts[verdict.said.target].append(verdict.line)
    return {
        target: sorted(
            _steps(gate, verdicts[target], merges, pauses),
            key=lambda step: sequence_of(step.line),
        )
        for target, gate in conclusions.gates.items()
    }


def _steps(
    gate: Gate, verdicts: Sequence[LogLine], merges: Mapping[str, LogLine], pauses: "_Pauses"
) -> Iterator[RouteStep]:
    if gate.target in merges:
        yield RouteStep(RouteKind.MERGED, merges[gate.target])
    if gate.replaced_by is not None:
        yield RouteStep(RouteKind.NEW_TURN, gate.replaced_by)
    if gate.overridden_by is not None:
        yield RouteStep(RouteKind.OVERRIDDEN, gate.overridden_by)
    pause = pauses.about(gate, verdicts)
    if pause is not None:
        yield RouteStep(RouteKind.PAUSED, pause.lines[0])


def _merges(lines: Iterable[LogLine]) -> dict[str, LogLine]:
    """Return the first line by which each child run was merged."""
    found: dict[str, LogLine] = {}
    for line in lines:
        if line.type == CHAIN_STEP:
            step = chain_step_of(line)
            if step.has_merged and step.child_run_id is not None:
                known = found.setdefault(step.child_run_id, line)
                if sequence_of(line) < sequence_of(known):
                    found[step.child_run_id] = line
    return found


class _Pauses:
    """The host's pauses by what leads to them: an event, or work at a node."""

    def __init__(self, pauses: Sequence[Interrupt]) -> None:
        self._by_cause: dict[str, Interrupt] = {}
        self._by_node: dict[str, list[Interrupt]] = defaultdict(list)
        for pause in pauses:
            if pause.node_id is not None:
                self._by_node[pause.node_id].append(pause)
            for line in pause.lines:
                if line.causation_id is not None:
                    self._by_cause.setdefault(line.causation_id, pause)

    def about(self, gate: Gate, verdicts: Sequence[LogLine]) -> Interrupt | None:
        """Return the first pause that a verdict led to, or that followed it at the same node."""
        for verdict in verdicts:
            if verdict.event_id in self._by_cause:
                return self._by_cause[verdict.event_id]
        here = self._by_node.get(gate.subject.node_id or "", [])
        first = float(min((sequence_of(line) for line in verdicts), default=-1))
        at = bisect_right(here, first, key=lambda pause: pause.opened_at)
        return here[at] if at < len(here) else None
