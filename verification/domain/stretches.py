"""Stretches of a run, and the question whether one lies inside another, asked many times.

A run may hold thousands of verdicts, and each asks what happened between it and something later.
Both answers here take a binary search, not a walk.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")

SHOWN_RANGES = 50
"""Missing ranges named at most: the first ones are enough to say that something is missing."""


class Stretches(Generic[T]):
    """Things that have a beginning and an end. Complete it before asking."""

    def __init__(self) -> None:
        self._items: list[tuple[float, float, T]] = []
        self._starts: list[float] = []
        self._first_to_end: list[tuple[float, T]] = []

    def add(self, start: float, end: float, item: T) -> None:
        """Add one; both ends are sequences."""
        self._items.append((start, end, item))
        self._starts = []

    def within(self, after: int, before: int) -> T | None:
        """Return the thing that ends first of those that lie strictly between two sequences."""
        if len(self._starts) != len(self._items):
            self._arrange()
        at = bisect_right(self._starts, after)
        if at == len(self._starts):
            return None
        end, item = self._first_to_end[at]
        return item if end < before else None

    def _arrange(self) -> None:
        """Keep, for every beginning, what ends first of all that begins there or later."""
        self._items.sort(key=lambda each: each[0])
        self._starts = [start for start, _, _ in self._items]
        kept: list[tuple[float, T]] = []
        for _, end, item in reversed(self._items):
            kept.append((end, item) if not kept or end <= kept[-1][0] else kept[-1])
        self._first_to_end = kept[::-1]


def first_between(
    items: Sequence[T], after: float, before: float, place: Callable[[T], float]
) -> T | None:
    """Return the first item that stands strictly between two sequences.

    Args:
        items: ascending by `place`.
        after: the sequence below.
        before: the sequence above.
        place: an item's sequence.
    """
    at = bisect_right(items, after, key=place)
    if at < len(items) and place(items[at]) < before:
        return items[at]
    return None


def missing_between(
    missing: Sequence[tuple[int, int]], after: int, before: int
) -> tuple[tuple[int, int], ...]:
    """Return the missing ranges, cut to what lies strictly between two sequences.

    Args:
        missing: ascending ranges that do not overlap, both ends missing.
        after: the sequence below.
        before: the sequence above.
    """
    found = []
    start = bisect_right(missing, after, key=lambda each: each[1])
    for first, last in islice(missing, start, start + SHOWN_RANGES):
        if first >= before:
            break
        found.append((max(first, after + 1), min(last, before - 1)))
    return tuple(found)
