"""How much of anything is taken. Served at `GET /api/v1/limits` and said in every 413."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request, one event and one id may measure."""

    body_bytes: int = 5 * 1024 * 1024
    """Of a body, inflated."""
    webhook_bytes: int = 1024 * 1024
    """Of one delivery of a webhook."""
    batch_events: int = 1000
    payload_bytes: int = 256 * 1024
    """Of one payload, as canonical JSON; a larger one is kept as its size and hash."""
    depth: int = 64
    """Levels of nesting in one event; 200 at most can be read."""
    id_chars: int = 128
    """Of an event, run, node or causing event's id; a tenant-bound run id may take twice that."""
    type_chars: int = 128
    skew_s: int = 24 * 60 * 60
    """How far a host's clock may be ahead of ours."""
