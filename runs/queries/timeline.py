"""The timeline of a run, a window at a time.

Lines stand in the order of their place: the host's sequence, never arrival. The window is read by
keyset, so a run of fifty thousand events opens as fast as one of fifty.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.urls import reverse

from runs.domain.log import Mismatch
from runs.domain.readers import agent_of
from runs.domain.summaries import summary
from runs.models import Event, Gap, Run
from runs.queries.run_list import LIVE_STATUSES

WINDOW = 200
"""Lines on a page."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line, ready to be shown."""

    position: int
    sequence: int | None
    place: int
    origin: str
    type: str
    wire_type: str
    event_id: str
    node: str
    agent: str
    summary: str
    at: datetime
    recorded_at: datetime
    pause: timedelta | None
    """Idle time before it, when it is long enough to be drawn."""
    missing_before: tuple[int, int] | None
    """The range that is missing between the line before and this one."""
    is_late: bool
    is_omitted: bool
    """The payload was larger than the limit; its digest stands for it."""
    mismatches: Sequence[Mismatch]
    payload: Any
    payload_url: str


@dataclass(frozen=True, slots=True)
class Window:
    """Some lines of a run, in timeline order, and where they stand in it."""

    rows: Sequence[Row]
    total: int
    has_older: bool
    cursor: int
    """Highest position among the rows shown; what comes after it is new."""
    first: str
    """Keyset of the first row, `place:position`; empty when there is none."""
    tail: int
    """Place of the last row; a new line below it is late."""
    is_newest: bool
    """Whether it reaches the end of the log, so that new lines belong below it."""


def stalled(run: Run, now: datetime) -> bool:
    """Say whether a run that should be moving has been silent for too long."""
    silent_since = run.last_event_at or run.first_seen_at
    return run.status in LIVE_STATUSES and now - silent_since > timedelta(
        seconds=settings.STALLED_AFTER_S
    )


def newest(run: Run, limit: int = WINDOW) -> Window:
    """Return the end of the timeline."""
    found = list(_events(run).order_by("-place", "-position")[: limit + 1])
    return _window(run, found, limit, is_newest=True)


def older(run: Run, before: str, limit: int = WINDOW) -> Window:
    """Return the lines just above a keyset `place:position`; a bad one gives the newest."""
    key = _keyset(before)
    if key is None:
        return newest(run, limit)
    place, position = key
    above = Q(place__lt=place) | Q(place=place, position__lt=position)
    found = _events(run).filter(above).order_by("-place", "-position")
    return _window(run, list(found[: limit + 1]), limit)


def around(run: Run, sequence: int, limit: int = WINDOW) -> Window:
    """Return the window that ends some lines below a sequence."""
    below = list(
        _events(run).filter(place__gte=sequence).order_by("place", "position")[: limit // 4]
    )
    if not below:
        return newest(run, limit)
    last = below[-1]
    upto = Q(place__lt=last.place) | Q(place=last.place, position__lte=last.position)
    found = _events(run).filter(upto).order_by("-place", "-position")
    return _window(run, list(found[: limit + 1]), limit)


def after(run: Run, cursor: int, limit: int = WINDOW) -> list[Row]:
    """Return the lines with a position above the cursor, at most `limit` + 1, in timeline order."""
    found = list(_events(run).filter(position__gt=cursor).order_by("position")[: limit + 1])
    return _rows(run, sorted(found, key=lambda event: (event.place, event.position)))


@dataclass(frozen=True, slots=True)
class Cursor:
    """What an open page has rendered."""

    after: int
    """Highest position."""
    tail: int
    """Place of the last row."""
    first: str
    """Keyset of the first row."""

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> "Cursor":
        """Read it from what the page sends; what is unreadable means that nothing is rendered."""
        return cls(
            _whole(sent.get("after"), 0), _whole(sent.get("tail"), -1), str(sent.get("first"))
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """What an open page must draw to be true again."""

    rows: Sequence[Row]
    """New rows for the end of the list, unless `window` is set."""
    window: Window | None
    """The whole list anew: something came late, or too much came at once."""
    cursor: Cursor


def changes_since(run: Run, cursor: Cursor) -> Changes | None:
    """Return what came after a page's cursor; None when nothing did."""
    if run.last_position <= cursor.after:
        return None
    rows = after(run, cursor.after)
    if len(rows) <= WINDOW and all(row.place >= cursor.tail for row in rows):
        highest = max(row.position for row in rows)
        first = cursor.first or f"{rows[0].place}:{rows[0].position}"
        return Changes(rows, None, Cursor(highest, rows[-1].place, first))
    window = _since(run, cursor.first)
    return Changes((), window, Cursor(run.last_position, window.tail, window.first))


def _since(run: Run, first: str) -> Window:
    """Return the window from a keyset to the end, or the newest one when that is too long."""
    key = _keyset(first)
    if key is None:
        return newest(run)
    place, position = key
    below = Q(place__gt=place) | Q(place=place, position__gte=position)
    shown = _events(run).filter(below | Q(position__gt=position)).count()
    return newest(run, max(WINDOW, min(shown, 3 * WINDOW)))


def _whole(value: object, default: int) -> int:
    try:
        return int(str(value))
    except ValueError:
        return default


def _keyset(text: str) -> tuple[int, int] | None:
    place, _, position = text.partition(":")
    try:
        return int(place), int(position)
    except ValueError:
        return None


def _events(run: Run) -> Any:
    return Event.objects.filter(run=run)


def _window(run: Run, found: list[Event], limit: int, *, is_newest: bool = False) -> Window:
    has_older = len(found) > limit
    shown = found[:limit][::-1]
    rows = _rows(run, shown)
    return Window(
        rows=rows,
        total=run.last_position,
        has_older=has_older,
        cursor=max((row.position for row in rows), default=0),
        first=f"{rows[0].place}:{rows[0].position}" if rows else "",
        tail=rows[-1].place if rows else -1,
        is_newest=is_newest,
    )


_IDLE = timedelta(seconds=30)


def _rows(run: Run, events: Sequence[Event]) -> list[Row]:
    missing = {gap.last + 1: (gap.first, gap.last) for gap in Gap.objects.filter(run=run)}
    rows = []
    before: datetime | None = None
    for event in events:
        idle = event.occurred_at - before if before else timedelta()
        found = None if event.sequence is None else missing.get(event.sequence)
        rows.append(_row(run, event, idle if idle >= _IDLE else None, found))
        before = event.occurred_at
    return rows


def _row(run: Run, event: Event, pause: timedelta | None, missing: tuple[int, int] | None) -> Row:
    line = event.line
    return Row(
        position=event.position,
        sequence=event.sequence,
        place=event.place,
        origin=event.origin,
        type=event.type,
        wire_type=event.wire_type,
        event_id=event.event_id,
        node=event.node_id or "",
        agent=agent_of(line) or "",
        summary=summary(line),
        at=event.occurred_at,
        recorded_at=event.recorded_at,
        pause=pause,
        missing_before=missing,
        is_late=bool(event.flags.get("late")),
        is_omitted=isinstance(event.payload, dict) and event.payload.get("omitted") is True,
        mismatches=line.mismatches,
        payload=event.payload,
        payload_url=reverse("line", args=[run.host.slug, run.run_id, event.position]),
    )


def rows_at(run: Run, positions: Collection[int]) -> list[Row]:
    """Return the lines at some positions, in timeline order."""
    found = _events(run).filter(position__in=positions).order_by("place", "position")
    return _rows(run, list(found))


def between(run: Run, position: int, around: int) -> list[Row]:
    """Return a line with some lines above and below it; none when the run has no such line."""
    anchor = _events(run).filter(position=position).first()
    if anchor is None:
        return []
    above = Q(place__lt=anchor.place) | Q(place=anchor.place, position__lte=position)
    upper = list(_events(run).filter(above).order_by("-place", "-position")[: around + 1])
    lower = list(_events(run).exclude(above).order_by("place", "position")[:around])
    return _rows(run, [*reversed(upper), *lower])
