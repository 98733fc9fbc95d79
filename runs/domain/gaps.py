"""Which sequences a log does not hold, as ranges, kept up to date without reading the log again."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Range = tuple[int, int]
"""First and last missing sequence, both included."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a run's log holds: everything from `first` to `last` but for `gaps`."""

    first: int | None = None
    last: int | None = None
    gaps: tuple[Range, ...] = ()
    """Ascending, apart from each other, inside `first` … `last`."""

    def missing(self, *, starts_at_one: bool) -> tuple[Range, ...]:
        """Return every missing range, with the one before the first event held.

        Args:
            starts_at_one: the log's `run.started` has sequence 1, as some hosts count.
        """
        origin = 1 if starts_at_one else 0
        if self.first is None or self.first <= origin:
            return self.gaps
        return ((origin, self.first - 1), *self.gaps)


def extend(span: Span, arrived: Iterable[int]) -> Span:
    """Return the span after some sequences arrived, in any order, none of them held before."""
    first, last, gaps = span.first, span.last, list(span.gaps)
    for sequence in sorted(set(arrived)):
        if first is None or last is None:
            first = last = sequence
        elif sequence > last:
            _note(gaps, len(gaps), (last + 1, sequence - 1))
            last = sequence
        elif sequence < first:
            _note(gaps, 0, (sequence + 1, first - 1))
            first = sequence
        else:
            _fill(gaps, sequence)
    return Span(first, last, tuple(gaps))


def missing_between(missing: Sequence[Range], above: int, below: int) -> tuple[Range, ...]:
    """Return the parts of the missing ranges that lie strictly between two sequences."""
    clipped = ((max(a, above + 1), min(b, below - 1)) for a, b in missing)
    return tuple((a, b) for a, b in clipped if a <= b)


def _note(gaps: list[Range], at: int, found: Range) -> None:
    if found[0] <= found[1]:
        gaps.insert(at, found)


def _fill(gaps: list[Range], sequence: int) -> None:
    """Take one sequence out of the gap that holds it, which may split the gap in two."""
    at = bisect_right(gaps, (sequence, 1 << 62)) - 1
    if at < 0 or gaps[at][1] < sequence:
        return
    start, end = gaps.pop(at)
    _note(gaps, at, (sequence + 1, end))
    _note(gaps, at, (start, sequence - 1))
