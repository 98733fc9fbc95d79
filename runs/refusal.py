"""The one shape in which the API says no: OpenWOP's `{error, message, details}`.

It carries the reason and a pointer, never the offending value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Refusal(Exception):
    """A request that is not carried out. Raised by edges, translated once."""

    status: int
    error: str
    """Registered OpenWOP code."""
    message: str
    """What is wrong and what to do, in one sentence."""
    details: Mapping[str, Any] = field(default_factory=dict)
    retry_after_s: int | None = None

    def body(self) -> dict[str, Any]:
        """Return the envelope as it travels."""
        return {"error": self.error, "message": self.message, "details": dict(self.details)}
