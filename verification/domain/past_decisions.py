"""What a person decided about a run earlier, and how much of the run they had seen by then.

A decision answers what was on screen and nothing that came later: a `fail` that arrives after an
override has not been overridden by it.
"""

from dataclasses import dataclass

from runs.domain.log import LogLine
from verification.domain.decisions import LEAVES_OPEN, Action

TARGET = "target:"
"""How the key of a matter about a target starts."""


@dataclass(frozen=True, slots=True)
class PastDecision:
    """A resolution that stands, as the rules need it."""

    key: str
    """Of the escalation that it resolved."""
    action: Action
    seen_position: int
    """Position of the run's last line that the person had on screen."""
    by: str = ""
    target: str | None = None
    """What the escalation was about, where its key does not say it."""

    @property
    def about(self) -> str | None:
        """Return the target it was about, if any."""
        if self.target:
            return self.target
        return self.key.removeprefix(TARGET) if self.key.startswith(TARGET) else None

    @property
    def settles(self) -> bool:
        """Say whether nobody has to decide any more what was decided."""
        return self.action not in LEAVES_OPEN

    def saw(self, line: LogLine) -> bool:
        """Say whether the line was there when the person decided."""
        return line.position <= self.seen_position
