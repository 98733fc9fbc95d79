"""Follows runs on the tables: what came after the last look, in the order of the timeline.

What hosts write is shown in a terminal, so nothing that steers one gets through.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from runs.models import Run
    from runs.queries.timeline import Row

AT_ONCE = 200
"""Lines, or runs, that one question asks for."""
_OVERLAP = timedelta(seconds=10)
"""Clocks of the Console's processes may differ by less."""


class Line:
    """One line of a run's log, with its run."""

    def __init__(self, run: "Run", row: "Row", *, names_run: bool) -> None:
        self.run, self.row, self.names_run = run, row, names_run


class Follower:
    """One run, from the newest lines that its page shows."""

    def __init__(self, run: "Run", *, after: int | None = None, names_run: bool = False) -> None:
        """Begin at the window that the page shows, or after a position."""
        self.run = run
        self._after = after
        self._names_run = names_run

    @property
    def has_ended(self) -> bool:
        """Say whether the run is over and every line of it was given."""
        return self.run.is_terminal and (self._after or 0) >= self.run.last_position

    @property
    def sentence(self) -> str:
        """Say how the run stands, in one line."""
        run = self.run
        state = run.outcome or run.status if run.is_terminal else run.status
        against = [
            *(["held"] if run.held else []),
            *([f"gate {run.standing}"] if run.standing else []),
            *([run.worst_finding] if run.worst_finding else []),
        ]
        return ": ".join([f"{plain(run.run_id)} {state}", ", ".join(against)]).rstrip(": ")

    def news(self) -> Iterator[Line]:
        """Yield the lines that came since the last look."""
        from runs.queries import timeline

        if self._after is None:
            rows = timeline.newest(self.run).rows
            self._after = self.run.last_position
            yield from self._lines(rows)
        self.run.refresh_from_db()
        while self._after < self.run.last_position:
            rows = timeline.after(self.run, self._after, AT_ONCE)
            self._after = max((row.position for row in rows), default=self.run.last_position)
            yield from self._lines(rows)

    def _lines(self, rows: "Any") -> Iterator[Line]:
        return (Line(self.run, row, names_run=self._names_run) for row in rows)


class RunsFollower:
    """All runs, or those of a host, from now on."""

    has_ended = False

    def __init__(self, host: str) -> None:
        """Note where every run stands."""
        from django.utils import timezone

        self._host = host
        self._began_at = timezone.now()
        self._looked_at = self._began_at
        self._followed: dict[int, Follower] = {}

    def news(self) -> Iterator[Line]:
        """Yield the lines that came since the last look, run by run."""
        from django.utils import timezone

        from runs.models import Run

        now = timezone.now()
        runs = Run.objects.select_related("host").filter(
            last_event_at__gte=self._looked_at - _OVERLAP
        )
        if self._host:
            runs = runs.filter(host__slug=self._host)
        for run in runs.order_by("last_event_at"):
            if run.pk not in self._followed:
                after = _position_before(run, self._began_at)
                self._followed[run.pk] = Follower(run, after=after, names_run=True)
            yield from self._followed[run.pk].news()
        self._looked_at = now


def _position_before(run: "Run", moment: "datetime") -> int:
    """Return the position of the last line that was there at a time."""
    from runs.models import Event

    before = Event.objects.filter(run=run, recorded_at__lt=moment).order_by("-position")
    return before.values_list("position", flat=True).first() or 0


def told(line: Line) -> str:
    """Return a line for people."""
    row = line.row
    number = "·" if row.sequence is None else str(row.sequence)
    marks = [
        *(["late"] if row.is_late else []),
        *([f"{_range(row.missing_before)} missing before"] if row.missing_before else []),
        *(["off schema"] if row.mismatches else []),
    ]
    who = row.agent or row.node
    parts = [
        f"{row.at:%H:%M:%S}",
        f"{number:>5}",
        f"{row.type:30}",
        f"{who:20}",
        row.summary + (f"  [{', '.join(marks)}]" if marks else ""),
    ]
    if line.names_run:
        parts.insert(1, f"{line.run.host.slug}/{line.run.run_id:24}")
    return plain("  ".join(parts)).rstrip()


def shown(line: Line) -> str:
    """Return a line for programs: JSON, its payload left to the API."""
    row = line.row
    return json.dumps(
        {
            "host": line.run.host.slug,
            "runId": line.run.run_id,
            "position": row.position,
            "sequence": row.sequence,
            "type": row.type,
            "eventId": row.event_id,
            "nodeId": row.node or None,
            "agentId": row.agent or None,
            "timestamp": row.at.isoformat(),
            "summary": row.summary,
            "late": row.is_late,
        }
    )


def plain(text: str) -> str:
    """Return text without what would steer a terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _range(missing: tuple[int, int]) -> str:
    first, last = missing
    return str(first) if first == last else f"{first}–{last}"
