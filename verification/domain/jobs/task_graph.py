"""A run's tasks as a graph: what waits for what, and in which column each is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Depends = Mapping[int, Sequence[int]]
"""By a task's number, the numbers of those it waits for; without circles."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task is drawn: columns from left to right, rows from top to bottom, both from 0."""

    column: int
    row: int


def places(depends: Depends) -> dict[int, Place]:
    """Return where each task is drawn: one column behind the last of those it waits for."""
    columns: dict[int, int] = {}
    for number in sorted(depends):
        _column(number, depends, columns)
    rows: dict[int, int] = {}
    found = {}
    for number in sorted(depends):
        column = columns[number]
        found[number] = Place(column, rows.get(column, 0))
        rows[column] = rows.get(column, 0) + 1
    return found


def _column(number: int, depends: Depends, known: dict[int, int]) -> int:
    if number not in known:
        before = [_column(each, depends, known) for each in depends[number]]
        known[number] = max(before, default=-1) + 1
    return known[number]
