"""The two shapes an event takes in this project: as it travels, and as a line of a run's log.

Everything else in the domain reads these values; nothing here reads JSON or touches a table. They
are made for each event that arrives, and a named tuple is made in half the time of a frozen class.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

NOTHING_ELSE: Mapping[str, Any] = {}


class Origin(StrEnum):
    """Who wrote a line of the log. Stored; add, never repurpose."""

    HOST = "host"
    CONSOLE = "console"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One place where a payload misses the published schema of its type."""

    pointer: str
    """RFC 6901 pointer from the event's root, such as `/payload/nodeId`."""
    reason: str
    """Short word for what is wrong: `required`, `type`, `enum`, `unexpected_key` …"""


class Envelope(NamedTuple):
    """An event as it travels: read and checked, without a position.

    Source: OpenWOP run-event.schema.json (v1 and v2).
    """

    run_id: str
    event_id: str
    sequence: int
    """The host's number, 0 … 2^53−1; the only ordering field."""
    type: str
    """Canonical (v1) name."""
    wire_type: str
    """The name as sent; equals `type` unless the host speaks v2."""
    timestamp: datetime
    """The host's clock; shown, never used to order."""
    payload: Any = None
    node_id: str | None = None
    causation_id: str | None = None
    extra: Mapping[str, Any] = NOTHING_ELSE
    """Envelope keys that are kept but not read: schemaVersion, engineVersion, vendor keys."""
    digest: bytes = b""
    """SHA-256 over the canonical form of the event as sent: tells a repeat from a conflict."""
    mismatches: tuple[Mismatch, ...] = ()
    """Where the payload is off-schema. Stored and flagged, never refused."""
    near_miss_of: str | None = None
    """The gate-relevant type that this unknown type is one edit away from, if any."""
    skew_s: float = 0.0
    """Seconds by which the host's clock was ahead of ours (negative: behind) when it arrived."""


class LogLine(NamedTuple):
    """One line of a run's log, as rules read it.

    `sequence` is set exactly when `origin` is host. Console lines have types `console.*`.
    """

    position: int
    """The Console's own number, gap-free per run: the live cursor."""
    origin: Origin
    sequence: int | None
    event_id: str
    type: str
    payload: Any = None
    node_id: str | None = None
    causation_id: str | None = None
    timestamp: datetime | None = None
    mismatches: tuple[Mismatch, ...] = ()
    near_miss_of: str | None = None


def mismatches_in(flags: Mapping[str, Any]) -> tuple[Mismatch, ...]:
    """Return the mismatches that a line's flags name."""
    pairs = flags.get("mismatches")
    return tuple(Mismatch(*pair) for pair in pairs) if pairs else ()
