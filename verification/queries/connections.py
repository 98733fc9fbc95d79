"""How a host's connection was tried, and what the host did by itself meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max

from runs.domain.canary import OPEN_FOR
from runs.models import ConnectionTest, Host, ReceivedDelivery, Run
from runs.queries.hosts import unproven_deliveries
from verification.domain.connection import (
    LOST_AFTER,
    NAMES,
    Came,
    Line,
    Tried,
    heard_line,
    is_under_way,
)

LATE_AFTER = timedelta(seconds=15)
"""After so long without a worker somebody should be told why nothing happens."""


@dataclass(frozen=True, slots=True)
class Report:
    """A test as it stands."""

    asked_at: datetime
    is_under_way: bool
    lines: Sequence[Line]
    canary_run: str
    """What the host itself may send under; empty once that is not heard any more."""

    @property
    def fails(self) -> int:
        """Return how many things do not work."""
        return sum(line.state is Tried.FAILS for line in self.lines)

    @property
    def works(self) -> int:
        """Return how many things do."""
        return sum(line.state is Tried.WORKS for line in self.lines)


def report_of(host: Host, now: datetime) -> Report | None:
    """Return how the latest test of a host stands; None: it was never tried."""
    test = ConnectionTest.objects.filter(host=host).first()
    if test is None:
        return None
    return Report(
        asked_at=test.asked_at,
        is_under_way=is_under_way(test.asked_at, test.ended_at, now),
        lines=[*_lines(test, now), heard_line(_came(host, test, now), test.asked_at)],
        canary_run=test.run_id if test.asked_at > now - OPEN_FOR else "",
    )


def _lines(test: ConnectionTest, now: datetime) -> list[Line]:
    """Return a line for everything that a worker tries, tried or not."""
    known = {
        each["name"]: Line(each["name"], Tried(each["state"]), each["words"], each["fix"])
        for each in test.lines
    }
    names = [name for name in NAMES if name != "heard"]
    return [known.get(name) or _missing(name, test, now) for name in names]


def _missing(name: str, test: ConnectionTest, now: datetime) -> Line:
    if test.ended_at is not None or test.asked_at <= now - LOST_AFTER:
        return Line(
            name, Tried.NOT_PROVEN, "The worker was lost before it came to this.", "Try again."
        )
    if test.begun_at is None and test.asked_at <= now - LATE_AFTER:
        fix = "See that a worker runs for the queue named pull."
        return Line(name, Tried.WAITING, "No worker has begun.", fix)
    return Line(name, Tried.WAITING, "Not yet.")


def _came(host: Host, test: ConnectionTest, now: datetime) -> Came:
    return Came(
        canary_at=test.heard_at,
        event_at=Run.objects.filter(host=host).aggregate(at=Max("last_event_at"))["at"],
        delivery_at=ReceivedDelivery.objects.filter(host=host).aggregate(at=Max("last_at"))["at"],
        unproven=unproven_deliveries(host, now.date()),
    )
