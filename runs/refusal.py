"""The one shape in which the API says no: OpenWOP's `{error, message, details}`.

It carries the reason and a pointer, never the offending value.
"""

from collections.abc import Mapping
from typing import Any

from runs.domain.answers import message_of


class Refusal(Exception):
    """A request that is not carried out. Raised by edges, translated once.

    Attributes:
        status: HTTP status.
        error: registered OpenWOP code.
        message: what is wrong and what to do, in one sentence.
        details: reason, pointer, limits; never content.
        retry_after_s: when it is worth sending again, where that is known.
    """

    def __init__(
        self,
        status: int,
        error: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        self.status = status
        self.error = error
        self.message = message
        self.details = dict(details or {})
        self.retry_after_s = retry_after_s
        super().__init__(f"{status} {error}: {message}")

    def body(self) -> dict[str, Any]:
        """Return the envelope as it travels."""
        return {"error": self.error, "message": self.message, "details": self.details}


def refused_because(
    reason: str, status: int, error: str, retry_after_s: int | None = None
) -> Refusal:
    """Return the refusal of a request for one of the reasons that have a sentence of their own."""
    return Refusal(status, error, message_of(reason), {"reason": reason}, retry_after_s)
