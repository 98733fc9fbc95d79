"""How many results a run committed, and which of them nobody had verified.

Absence of a verdict is no failure, and a host whose verifier breaks commits without one: counting
makes the silence visible. Source: RFC 0090 §B, last item.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from runs.domain.interrupts import sequence_of
from runs.domain.projection import Outcome, RunStatus
from verification.domain.entries import Turn
from verification.domain.index import Index


@dataclass(frozen=True, slots=True)
class Commits:
    """Results that were merged into their parent, or that a successful end rests on."""

    total: int
    unverified: tuple[str, ...]
    """Their targets, where no verdict stood before the commit."""


def commits(index: Index) -> Commits:
    """Count merged child runs, and the last turn at each node of a run that did not give up."""
    committed = [*_merged(index), *_ended_with(index)]
    unverified = [target for target, at in committed if not _is_verified(index, target, at)]
    return Commits(len(committed), tuple(unverified))


def _merged(index: Index) -> Iterator[tuple[str, int]]:
    for child in index.children.values():
        if child.merges:
            yield child.run_id, sequence_of(child.merges[0])


def _ended_with(index: Index) -> Iterator[tuple[str, int]]:
    run = index.run
    if run.status is not RunStatus.COMPLETED or run.outcome is Outcome.GAVE_UP:
        return
    at = -1 if run.ended_by is None else sequence_of(run.ended_by)
    last: dict[str | None, Turn] = {
        turn.node_id or turn.agent_id: turn for turn in index.turns.values()
    }
    for turn in last.values():
        yield turn.line.event_id, at


def _is_verified(index: Index, target: str, before: int) -> bool:
    turn = index.turns.get(target)
    named = [target, turn.agent_id] if turn and turn.agent_id else [target]
    verdicts = [index.by_target[name][0] for name in named if index.by_target.get(name)]
    return any(verdict.sequence < before for verdict in verdicts)
