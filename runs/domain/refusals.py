"""What could not be taken: said by a code, a reason and a place, never by its content."""

from dataclasses import dataclass

VALIDATION_ERROR = "validation_error"
PAYLOAD_TOO_LARGE = "payload_too_large"
UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"


@dataclass(frozen=True, slots=True)
class Refused:
    """One event that is not taken."""

    error: str
    """OpenWOP error code."""
    reason: str
    """Which rule it broke, such as `timestamp_invalid`; `runs.domain.answers` has the sentence."""
    pointer: str = ""
    """RFC 6901 pointer from the event's root; never names a key that could be content."""
    run_id: str | None = None
    """The run, the event and its sequence as far as they could be read."""
    event_id: str | None = None
    sequence: int | None = None
    verdict: str | None = None
    """`pass`, `fail` or `revise`, where it said one of these and nothing else."""
    target_digest: str | None = None
    """Stands for what its verdict is about, where that is a string."""
    holds: bool = False
    """Whether this could have been a verdict, so that its run must be held by a marker."""


class BodyRefused(Exception):
    """A body of which nothing is taken.

    Attributes:
        error: OpenWOP error code.
        reason: which rule it broke, such as `json_invalid`.
        pointer: RFC 6901 pointer from the body's root.
    """

    def __init__(self, error: str, reason: str, pointer: str = "") -> None:
        self.error = error
        self.reason = reason
        self.pointer = pointer
        super().__init__(f"body refused: {error}, {reason} at {pointer or 'its root'}")
