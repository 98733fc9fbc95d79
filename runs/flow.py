"""How fast a host may send: token buckets for each key and each host, requests and events.

They live in this process. Where the web runs as several processes each counts for itself, so what
is in force is at most the setting times the processes; in return nothing is asked over the network,
and a request is let in or turned back in microseconds.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from django.conf import settings

from runs.domain.answers import message_of
from runs.domain.buckets import Bucket, Rate
from runs.limits import FLOW
from runs.refusal import Refusal

MOST_BUCKETS = 20_000
"""Above so many, those that are full are thrown away: they remember nothing."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose budget a request is paid from."""

    host: int
    key: int | None = None
    """None where what is sent is signed by the host and carries no key."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """One thing that is counted."""

    per: str
    """`key` or `host`."""
    unit: str
    """`requests` or `events`."""

    @property
    def setting(self) -> str:
        """Return the variable that moves the limit."""
        return FLOW[f"{self.per}_{self.unit}_per_second"][1]


GAUGES = tuple(Gauge(per, unit) for per in ("key", "host") for unit in ("requests", "events"))


class Flow:
    """The buckets of one process. Any thread may ask."""

    def __init__(
        self, rates: Mapping[Gauge, Rate], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Start with full buckets."""
        self._rates = rates
        self._clock = clock
        self._buckets: dict[tuple[Gauge, int], Bucket] = {}
        self._turned_back: Counter[int] = Counter()
        self._lock = threading.Lock()

    def enter(self, sender: Sender) -> None:
        """Let one request in, and count it.

        Raises:
            Refusal: 429, with the limit, its setting and how long to wait.
        """
        with self._lock:
            now = self._clock()
            buckets = self._buckets_of(sender, now)
            waits = {gauge: bucket.wait_s(now) for gauge, bucket in buckets.items()}
            slowest = max(waits, key=lambda gauge: waits[gauge])
            if waits[slowest] > 0:
                self._turned_back[sender.host] += 1
                raise self._refusal(slowest, waits[slowest])
            for gauge, bucket in buckets.items():
                if gauge.unit == "requests":
                    bucket.spend(1, now)

    def count(self, sender: Sender, events: int) -> None:
        """Take the events of a request that was let in from the budget."""
        with self._lock:
            now = self._clock()
            for gauge, bucket in self._buckets_of(sender, now).items():
                if gauge.unit == "events":
                    bucket.spend(events, now)

    def left(self, sender: Sender) -> dict[str, int]:
        """Return how many requests and events the sender may send now."""
        with self._lock:
            now = self._clock()
            left: dict[str, int] = {}
            for gauge, bucket in self._buckets_of(sender, now).items():
                left[gauge.unit] = min(bucket.left(now), left.get(gauge.unit, 2**53))
            return left

    def turned_back(self, host: int) -> int:
        """Return how many requests of a host were turned back since this was last asked."""
        with self._lock:
            return self._turned_back.pop(host, 0)

    def _buckets_of(self, sender: Sender, now: float) -> dict[Gauge, Bucket]:
        if len(self._buckets) > MOST_BUCKETS:
            kept = {of: each for of, each in self._buckets.items() if not each.is_full(now)}
            self._buckets = kept
        owners = {"key": sender.key, "host": sender.host}
        found = {}
        for gauge, rate in self._rates.items():
            owner = owners[gauge.per]
            if owner is not None:
                bucket = self._buckets.get((gauge, owner))
                if bucket is None:
                    bucket = self._buckets[gauge, owner] = Bucket(rate, now)
                found[gauge] = bucket
        return found

    def _refusal(self, gauge: Gauge, wait_s: float) -> Refusal:
        return Refusal(
            429,
            "rate_limited",
            message_of("rate_exceeded"),
            {
                "reason": "rate_exceeded",
                "per": gauge.per,
                "unit": f"{gauge.unit}/s",
                "limit": int(self._rates[gauge].per_second),
                "setting": gauge.setting,
                "retryAfterMs": math.ceil(wait_s * 1000),
            },
            retry_after_s=max(1, math.ceil(wait_s)),
        )


@cache
def flow() -> Flow:
    """Return the buckets of this process, with the rates in force."""
    rates = {}
    for gauge in GAUGES:
        per_second = getattr(settings, FLOW[f"{gauge.per}_{gauge.unit}_per_second"][0])
        rates[gauge] = Rate(per_second, max(1.0, per_second * settings.RATE_BURST_S))
    return Flow(rates)
