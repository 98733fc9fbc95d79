"""Reads lines of logs the way rules want them: plain values, in order, and few columns."""

from collections.abc import Collection, Iterable
from datetime import datetime

import orjson

from runs.domain.log import LogLine, Origin, mismatches_in
from runs.models import Gap, Run
from runs.rows import Params, fetch

_COLUMNS = (
    "run_id, position, origin, sequence, event_id, type, payload, node_id, causation_id, "
    "occurred_at, flags"
)


LAST = 2**63 - 1
"""No line stands after this position."""


def signal_lines(
    runs: Collection[int], types: Collection[str], up_to: int = LAST
) -> dict[int, list[LogLine]]:
    """Return the lines of some runs that are of certain types or were flagged a near miss.

    Args:
        runs: whose lines.
        types: canonical names.
        up_to: the position of the last line that counts.

    Returns:
        By run: host lines in sequence order, then console lines in position order.
    """
    wanted = {"runs": list(runs), "types": list(types), "last": up_to}
    return _read(_SIGNALS, wanted, runs)


_SIGNALS = f"""
    SELECT {_COLUMNS} FROM runs_event
     WHERE run_id = ANY(%(runs)s) AND type = ANY(%(types)s) AND position <= %(last)s
     UNION ALL
    SELECT {_COLUMNS} FROM runs_event
     WHERE run_id = ANY(%(runs)s) AND flags ? 'nearMissOf' AND NOT type = ANY(%(types)s)
       AND position <= %(last)s
     ORDER BY run_id, sequence NULLS LAST, position
"""  # noqa: S608  (constant text)
"""Two questions with an index each: as one, it would read every line of a run."""


def lines_after(run: Run, sequence: int) -> list[LogLine]:
    """Return the host's lines above a sequence, in its order."""
    return _read(
        f"SELECT {_COLUMNS} FROM runs_event"  # noqa: S608  (constant text)
        " WHERE run_id = %s AND origin = 'host' AND sequence > %s ORDER BY sequence",
        [run.pk, sequence],
        [run.pk],
    )[run.pk]


def missing_of(run: Run) -> list[tuple[int, int]]:
    """Return the ranges of sequences that a run's log does not hold, ascending."""
    ranges = Gap.objects.filter(run=run).order_by("first")
    return list(ranges.values_list("first", "last"))


def _read(sql: str, parameters: Params, runs: Iterable[int]) -> dict[int, list[LogLine]]:
    lines: dict[int, list[LogLine]] = {run: [] for run in runs}
    for row in fetch(sql, parameters):
        lines[row[0]].append(_line(*row[1:]))
    return lines


def _line(
    position: int,
    origin: str,
    sequence: int | None,
    event_id: str,
    type_: str,
    payload: str | None,
    node_id: str | None,
    causation_id: str | None,
    occurred_at: datetime,
    flags: str,
) -> LogLine:
    noticed = orjson.loads(flags) if flags != "{}" else {}
    return LogLine(
        position=position,
        origin=Origin(origin),
        sequence=sequence,
        event_id=event_id,
        type=type_,
        payload=None if payload is None else orjson.loads(payload),
        node_id=node_id,
        causation_id=causation_id,
        timestamp=occurred_at,
        mismatches=mismatches_in(noticed),
        near_miss_of=noticed.get("nearMissOf"),
    )
