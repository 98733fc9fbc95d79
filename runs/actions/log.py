"""The only writer of the log: gives lines their positions and puts them in.

Callers hold the run's row lock. Rows go in by COPY, which costs a few microseconds a line and needs
no conflict clause, since under the lock nobody else adds to the run.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from django.db import connection

from runs.domain.log import NOTHING_ELSE, Envelope, LogLine, Origin, mismatches_in
from runs.models import Run

COLUMNS = (
    "run_id", "position", "origin", "sequence", "place", "event_id", "type", "wire_type", "node_id",
    "causation_id", "payload", "extra", "flags", "digest", "occurred_at", "recorded_at",
)  # fmt: skip
_COPY = f"COPY runs_event ({', '.join(COLUMNS)}) FROM STDIN"


class NewLine(NamedTuple):
    """A line that has no position yet."""

    origin: Origin
    event_id: str
    type: str
    occurred_at: datetime
    payload: Any
    wire_type: str = ""
    sequence: int | None = None
    node_id: str | None = None
    causation_id: str | None = None
    extra: Mapping[str, Any] = NOTHING_ELSE
    flags: Mapping[str, Any] = NOTHING_ELSE
    digest: bytes = b""


def line_of(envelope: Envelope, *, is_late: bool) -> NewLine:
    """Return the line that an envelope becomes.

    Args:
        envelope: read and checked.
        is_late: events with a higher sequence were already held when it arrived.
    """
    flags: dict[str, Any] = {}
    if envelope.mismatches:
        flags["mismatches"] = [[m.pointer, m.reason] for m in envelope.mismatches]
    if envelope.near_miss_of:
        flags["nearMissOf"] = envelope.near_miss_of
    if abs(envelope.skew_s) >= 1:
        flags["skew"] = round(envelope.skew_s, 1)
    if is_late:
        flags["late"] = True
    return NewLine(
        origin=Origin.HOST,
        event_id=envelope.event_id,
        type=envelope.type,
        wire_type=envelope.wire_type,
        occurred_at=envelope.timestamp,
        payload=envelope.payload,
        sequence=envelope.sequence,
        node_id=envelope.node_id,
        causation_id=envelope.causation_id,
        extra=envelope.extra,
        flags=flags,
        digest=envelope.digest,
    )


def console_line(
    *, event_id: str, type: str, at: datetime, payload: Mapping[str, Any], caused_by: str = ""
) -> NewLine:
    """Return a line of the Console's own: content-free, pointing at its cause.

    Args:
        event_id: unique in the run; derive it from the cause where a repeat must not add a line.
        type: `console.<noun>.<verb>`.
        at: our clock.
        payload: ids, numbers and short words only.
        caused_by: event id of the line that caused it.
    """
    return NewLine(
        origin=Origin.CONSOLE,
        event_id=event_id,
        type=type,
        wire_type=type,
        occurred_at=at,
        payload=dict(payload),
        causation_id=caused_by or None,
        digest=hashlib.sha256(event_id.encode()).digest(),
    )


def write(
    additions: Sequence[tuple[Run, Sequence[NewLine]]], *, now: datetime
) -> list[list[LogLine]]:
    """Put lines into the logs of locked runs and return them as rules read them, run by run.

    `run.last_position` is raised in memory; the caller saves it in the same transaction.
    """
    written: list[list[LogLine]] = []
    rows: list[str] = []
    recorded_at = now.isoformat()
    for run, lines in additions:
        start = run.last_position + 1
        run.last_position += len(lines)
        newest = max(
            (each.sequence for each in lines if each.sequence is not None),
            default=-1,
        )
        place = max(newest, -1 if run.last_sequence is None else run.last_sequence)
        for position, line in enumerate(lines, start):
            rows.append(_row(run.pk, position, place, line, recorded_at))
        written.append([_as_read(line, at) for at, line in enumerate(lines, start)])
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.write("".join(rows))
    return written


def _row(run: int, position: int, place: int, line: NewLine, recorded_at: str) -> str:
    """Return a line as COPY reads it, which is written out since it is what ingest does most.

    Of what the format treats as special only the backslash can be in these columns: ids are
    printable, and JSON escapes its control characters.
    """
    sequence = line.sequence
    is_ours = sequence is None
    return (
        f"{run}\t{position}\t{_CONSOLE if is_ours else _HOST}\t{_NULL if is_ours else sequence}\t"
        f"{place if is_ours else sequence}\t{_text(line.event_id)}\t{line.type}\t"
        f"{line.wire_type or line.type}\t{_text(line.node_id)}\t{_text(line.causation_id)}\t"
        f"{_json(line.payload)}\t{_json(line.extra)}\t{_json(line.flags)}\t"
        f"\\\\x{line.digest.hex()}\t{line.occurred_at.isoformat()}\t{recorded_at}\n"
    )


_HOST, _CONSOLE, _NULL = Origin.HOST.value, Origin.CONSOLE.value, "\\N"
_EMPTY = {type(None): _NULL, dict: "{}"}


def _text(value: str | None) -> str:
    return _NULL if value is None else value.replace("\\", "\\\\")


def _json(value: object) -> str:
    if not value:
        return _EMPTY.get(type(value)) or orjson.dumps(value).decode()
    return orjson.dumps(value).decode().replace("\\", "\\\\")


def _as_read(line: NewLine, position: int) -> LogLine:
    return LogLine(
        position=position,
        origin=line.origin,
        sequence=line.sequence,
        event_id=line.event_id,
        type=line.type,
        payload=line.payload,
        node_id=line.node_id,
        causation_id=line.causation_id,
        timestamp=line.occurred_at,
        mismatches=mismatches_in(line.flags),
        near_miss_of=line.flags.get("nearMissOf"),
    )
