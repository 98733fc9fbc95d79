"""How one call to a host ended, without the content of its answer.

A host's answer is material to be judged: only its status, the form of its error code and its digest
are kept. An outcome that is not known stays one; it is never read as a refusal.
"""

from dataclasses import dataclass
from enum import StrEnum


class Reached(StrEnum):
    """How far one attempt got. Stored."""

    ANSWERED = "answered"
    NO_ANSWER = "no_answer"
    """Sent at least in part; whether the host took it is not known."""
    NOT_SENT = "not_sent"
    """No part of the request can have been read."""
    FORBIDDEN = "forbidden"
    """Our own rules for destinations refused the address."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How one attempt ended. Holds no content of the answer."""

    reached: Reached
    status: int | None = None
    code: str = ""
    """The host's error code, when it has the form of one."""
    why: str = ""
    """Without an answer: timeout, reset, garbled, refused, tls, name. If forbidden: the reason."""
    retry_after_s: float | None = None
    elapsed_ms: int = 0

    @property
    def is_good(self) -> bool:
        """Say whether the host answered with a 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def outcome(self) -> str:
        """One word or two for the list of attempts, at most 64 characters."""
        return f"{self.reached} {self.code or self.why}".strip()[:64]
