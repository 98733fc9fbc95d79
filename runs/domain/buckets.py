"""A token bucket: how much more may come now, and how long to wait when it is too much.

What a request costs is known only once it has been read, so it is paid for afterwards: a bucket may
go into debt, and lets nothing more in until the debt is paid.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """How much may come in the long run, and at once."""

    per_second: float
    at_once: float
    """What a full bucket holds: the largest burst."""


class Bucket:
    """One bucket. It starts full; times come from one monotonic clock, in seconds."""

    __slots__ = ("_at", "_level", "_rate")

    def __init__(self, rate: Rate, now: float) -> None:
        """Fill a new bucket."""
        self._rate = rate
        self._level = rate.at_once
        self._at = now

    def wait_s(self, now: float) -> float:
        """Return the seconds until something may come in; 0 when it may now."""
        self._refill(now)
        return 0.0 if self._level >= 1 else (1 - self._level) / self._rate.per_second

    def spend(self, amount: float, now: float) -> None:
        """Take what came in, even if there was less."""
        self._refill(now)
        self._level -= amount

    def left(self, now: float) -> int:
        """Return how much may come in now."""
        self._refill(now)
        return max(0, int(self._level))

    def is_full(self, now: float) -> bool:
        """Say whether it holds no memory of anything: it may be thrown away and made again."""
        self._refill(now)
        return self._level >= self._rate.at_once

    def _refill(self, now: float) -> None:
        if now > self._at:
            gained = (now - self._at) * self._rate.per_second
            self._level = min(self._rate.at_once, self._level + gained)
            self._at = now
