"""A run's tasks as a drawing: boxes in columns, and lines from what comes first.

Only where things stand is reckoned here, in units of the drawing; how they look is the style
sheet's. The table beside it says the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from verification.domain.jobs.task_graph import Column, Slot, columns


class Drawn(Protocol):
    """A task as far as it is drawn."""

    @property
    def number(self) -> int:
        """Return its number; they count from 1."""

    @property
    def depends_on(self) -> tuple[int, ...]:
        """Return the numbers of those it waits for."""

    @property
    def state(self) -> str:
        """Return how far it is."""


_WIDE, _HIGH = 188, 56
_BETWEEN, _BELOW = 36, 12
_LINE = 8
"""As high as a line is that passes between boxes."""
_EDGE = 4
_FINAL = ("completed", "withheld", "failed", "skipped")

_Point = tuple[int, int]
_Corners = Mapping[tuple[int, int], _Point]
"""By column and task, the upper left corner of its slot."""


def graph(tasks: Sequence[Drawn]) -> dict[str, Any]:
    """Return `{width, height, node_width, node_height, nodes, edges}`."""
    laid = columns({task.number: task.depends_on for task in tasks})
    at = {slot.task: n for n, column in enumerate(laid) for slot in column if not slot.passes}
    corners, height = _corners(laid)
    boxes = {task: corners[column, task] for task, column in at.items()}
    ended = {task.number: task.state in _FINAL for task in tasks}
    return {
        "width": max(len(laid) * (_WIDE + _BETWEEN) - _BETWEEN, 0) + 2 * _EDGE,
        "height": height + 2 * _EDGE,
        "node_width": _WIDE,
        "node_height": _HIGH,
        "nodes": [
            {"task": task, "x": boxes[task.number][0], "y": boxes[task.number][1]} for task in tasks
        ],
        "edges": [
            {
                "path": _line(
                    boxes[before],
                    [corners[n, before] for n in range(at[before] + 1, at[task.number])],
                    boxes[task.number],
                ),
                "is_done": ended[before],
            }
            for task in tasks
            for before in task.depends_on
        ],
    }


def _corners(laid: Sequence[Column]) -> tuple[_Corners, int]:
    """Return where each slot begins, and the height of all; short columns stand in the middle."""
    heights = [sum(map(_height, column)) + _BELOW * (len(column) - 1) for column in laid]
    most = max(heights, default=0)
    found = {}
    for n, column in enumerate(laid):
        y = _EDGE + (most - heights[n]) // 2
        for slot in column:
            found[n, slot.task] = (_EDGE + n * (_WIDE + _BETWEEN), y)
            y += _height(slot) + _BELOW
    return found, most


def _height(slot: Slot) -> int:
    return _LINE if slot.passes else _HIGH


def _line(before: _Point, passed: Sequence[_Point], after: _Point) -> str:
    """Return the path from a box to another, straight through the slots that it passes."""
    x, y = before[0] + _WIDE, before[1] + _HIGH // 2
    path = f"M{x} {y}"
    for left, top in passed:
        path += _bend((x, y), (left, top + _LINE // 2)) + f"H{left + _WIDE}"
        x, y = left + _WIDE, top + _LINE // 2
    return path + _bend((x, y), (after[0], after[1] + _HIGH // 2))


def _bend(begin: _Point, end: _Point) -> str:
    middle = begin[0] + _BETWEEN // 2
    return f"C{middle} {begin[1]} {middle} {end[1]} {end[0]} {end[1]}"
