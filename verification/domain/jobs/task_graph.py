"""A run of tasks as a graph: the column that each is drawn in, and where lines pass by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Depends = Mapping[int, Sequence[int]]
"""By a task's number, the numbers of those it waits for; without circles."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One place in a column: a task, or where the line from an earlier task passes."""

    task: int
    passes: bool = False


Column = tuple[Slot, ...]
"""From top to bottom."""


def columns(depends: Depends) -> list[Column]:
    """Return the columns from left to right: each task right behind the last of those it waits for.

    What is waited for across columns has a slot in each of those between, so that no line runs
    behind a box. A slot stands level with what leads to it in the column before, as far as it can.
    """
    at: dict[int, int] = {}
    for number in sorted(depends):
        _column(number, depends, at)
    last = dict(at)  # the last column before one that waits for it
    for number, before in depends.items():
        for each in before:
            last[each] = max(last[each], at[number] - 1)
    laid: list[Column] = []
    for column in range(max(at.values(), default=-1) + 1):
        slots = [
            Slot(number, passes=at[number] < column)
            for number in sorted(depends)
            if at[number] <= column <= last[number]
        ]
        heights = _heights(laid[-1] if laid else ())
        laid.append(tuple(sorted(slots, key=lambda slot: _level(slot, depends, heights))))
    return laid


def _column(number: int, depends: Depends, known: dict[int, int]) -> int:
    if number not in known:
        before = [_column(each, depends, known) for each in depends[number]]
        known[number] = max(before, default=-1) + 1
    return known[number]


def _heights(column: Column) -> dict[int, float]:
    """Return how far down each task's slot is, from 0 to 1."""
    return {slot.task: (row + 0.5) / len(column) for row, slot in enumerate(column)}


def _level(slot: Slot, depends: Depends, heights: Mapping[int, float]) -> tuple[float, int]:
    leads = [slot.task] if slot.passes else depends[slot.task]
    found = [heights[each] for each in leads if each in heights]
    return (sum(found) / len(found) if found else 0.0, slot.task)
