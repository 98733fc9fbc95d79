"""A run's tasks as a drawing: boxes in columns, and lines from what comes first.

Only where things stand is reckoned here, in units of the drawing; how they look is the style
sheet's. The table beside it says the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from verification.domain.jobs.task_graph import Place


class Drawn(Protocol):
    """A task as far as it is drawn."""

    @property
    def number(self) -> int:
        """Return its number; they count from 1."""

    @property
    def depends_on(self) -> tuple[int, ...]:
        """Return the numbers of those it waits for."""

    @property
    def place(self) -> Place:
        """Return its column and row."""

    @property
    def state(self) -> str:
        """Return how far it is."""


_WIDE, _HIGH = 188, 56
_BETWEEN, _BELOW = 36, 12
_EDGE = 4
_FINAL = ("completed", "withheld", "failed", "skipped")


def graph(tasks: Sequence[Drawn]) -> dict[str, Any]:
    """Return `{width, height, node_width, node_height, nodes, edges}`."""
    corners = _corners(tasks)
    ended = {task.number: task.state in _FINAL for task in tasks}
    return {
        "width": max((x for x, _ in corners.values()), default=0) + _WIDE + _EDGE,
        "height": max((y for _, y in corners.values()), default=0) + _HIGH + _EDGE,
        "node_width": _WIDE,
        "node_height": _HIGH,
        "nodes": [
            {"task": task, "x": corners[task.number][0], "y": corners[task.number][1]}
            for task in tasks
        ],
        "edges": [
            {"path": _line(corners[before], corners[task.number]), "is_done": ended[before]}
            for task in tasks
            for before in task.depends_on
        ],
    }


def _corners(tasks: Sequence[Drawn]) -> Mapping[int, tuple[int, int]]:
    """Return where each box begins; short columns stand in the middle."""
    rows: dict[int, int] = {}
    for task in tasks:
        rows[task.place.column] = max(rows.get(task.place.column, 0), task.place.row + 1)
    most = max(rows.values(), default=0)
    step = _HIGH + _BELOW
    return {
        task.number: (
            _EDGE + task.place.column * (_WIDE + _BETWEEN),
            _EDGE + task.place.row * step + (most - rows[task.place.column]) * step // 2,
        )
        for task in tasks
    }


def _line(before: tuple[int, int], after: tuple[int, int]) -> str:
    x, y = before[0] + _WIDE, before[1] + _HIGH // 2
    to_x, to_y = after[0], after[1] + _HIGH // 2
    bend = _BETWEEN // 2
    return f"M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"
