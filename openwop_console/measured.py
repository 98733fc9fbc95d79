"""What those who run an installation watch, as families of Prometheus.

Nothing is counted here: the tables are asked, so every process gives the same figures and none is
lost with one. All workspaces are counted together. No label holds what somebody sent.
Source: Prometheus, naming and exposition formats.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from runs.queries import operating as facts
from runs.queries.operating import Waiting
from verification.hosting_api import console_version
from verification.queries import operating as judgements

PREFIX = "openwop_console_"
Samples = Mapping[tuple[str, ...], float]
ALONE: tuple[str, ...] = ()
"""The labels of a figure that has none."""


class Measured(Collector):
    """Asks the database each time it is collected. Raises OperationalError when that is away."""

    def collect(self) -> Iterator[Metric]:
        """Yield every family; how long all the asking took is the reader's to measure."""
        now = timezone.now()
        yield gauge("build_info", "This Console.", ["version"], {(console_version(),): 1})
        yield from _runs(now)
        yield from _doors(now)
        yield from _escalations(now)
        yield from _deliveries(now)
        yield from _jobs(now)
        yield gauge("findings", "Findings that stand.", ["severity"], each(judgements.findings()))
        yield from _reading(now)
        yield from _sweeps(now)
        yield from _audit(now)
        yield from _retention(now)


def gauge(name: str, what: str, labels: list[str], samples: Samples) -> GaugeMetricFamily:
    """Return a family of figures that rise and fall."""
    family = GaugeMetricFamily(PREFIX + name, what, labels=labels)
    for values, figure in samples.items():
        family.add_metric(values, figure)
    return family


def each(figures: Mapping[str, float]) -> Samples:
    """Return figures by the one label that they have."""
    return {(name,): figure for name, figure in figures.items()}


def _runs(now: datetime) -> Iterator[Metric]:
    found = facts.runs(now)
    yield gauge("runs", "Runs, by status and whether they are held.", ["status", "held"], {
        (row.status, str(row.held).lower()): row.count for row in found.counts
    })  # fmt: skip
    events = sum(row.events for row in found.counts)
    yield gauge("events", "Events of hosts that are held.", [], {ALONE: events})
    yield _age("newest_event", "Since the newest event arrived.", found.newest_event_s)


def _doors(now: datetime) -> Iterator[Metric]:
    refused = CounterMetricFamily(
        f"{PREFIX}refused", "Events and deliveries refused; begins anew at 0:00 UTC.",
        labels=["reason"],
    )  # fmt: skip
    for reason, count in facts.refused_today(now).items():
        refused.add_metric([reason], count)
    yield refused
    yield gauge(
        "webhook_deliveries_lately", "Signed bodies delivered in the last five minutes.",
        ["outcome"], each(facts.webhooks_lately(now)),
    )  # fmt: skip


def _escalations(now: datetime) -> Iterator[Metric]:
    loads = {str(load.queue or "none"): load for load in judgements.escalations(now)}
    yield gauge("escalations", "Escalations that wait for a decision.", ["queue", "state"], {
        (queue, state): count
        for queue, load in loads.items()
        for state, count in (("open", load.open), ("claimed", load.claimed))
    })  # fmt: skip
    yield gauge(
        "escalations_overdue", "Those that were due before now.", ["queue"],
        each({queue: load.overdue for queue, load in loads.items()}),
    )  # fmt: skip
    yield gauge(
        "escalations_oldest_age_seconds", "How long the first has waited; 0: none waits.",
        ["queue"], each({queue: load.oldest_s for queue, load in loads.items()}),
    )  # fmt: skip


def _deliveries(now: datetime) -> Iterator[Metric]:
    yield gauge(
        "deliveries", "Decisions for hosts; given up: dead, stopped, undeliverable.",
        ["state"], each(judgements.deliveries()),
    )  # fmt: skip
    oldest_s = judgements.unsettled(now).oldest_s
    yield _age("deliveries_unsettled_oldest", "How long the first is on its way.", oldest_s)


def _jobs(now: datetime) -> Iterator[Metric]:
    found = judgements.jobs(now)
    yield gauge(
        "jobs", "Verification jobs; paused: they wait for a person's word.",
        ["state"], each(found.counts),
    )  # fmt: skip
    yield _age("jobs_queued_oldest", "How long the first is queued.", found.queued.oldest_s)


def _reading(now: datetime) -> Iterator[Metric]:
    yield gauge(
        "hosts_read", "Hosts that are read, by how that goes.", ["state"],
        each(facts.hosts_read(now)),
    )  # fmt: skip
    yield from _backlog("reads_due", "Due to be read, and nobody is at it", facts.to_be_read(now))


def _sweeps(now: datetime) -> Iterator[Metric]:
    found = facts.sweeps(now)
    yield gauge(
        "sweep_age_seconds", "Since the last sweep ended.", ["sweep"],
        each({name: age_s for name, (age_s, _) in found.items()}),
    )  # fmt: skip
    yield gauge(
        "sweep_failed_parts", "Parts of the last sweep that failed; its log says which.",
        ["sweep"], each({name: failed for name, (_, failed) in found.items()}),
    )  # fmt: skip


def _audit(now: datetime) -> Iterator[Metric]:
    found = judgements.chains(now)
    yield _age("audit_unsigned", "Of the first entry that no checkpoint covers.", found.unsigned_s)
    yield _age("audit_checkpoint", "Since a checkpoint was last signed.", found.checkpoint_s)


def _retention(now: datetime) -> Iterator[Metric]:
    yield from _backlog("retention_overdue", "Kept beyond its time", {
        "run": judgements.runs_to_erase(now),
        "content": judgements.content_to_erase(now),
        "webhook_delivery": facts.deliveries_to_forget(now),
    })  # fmt: skip


def _backlog(name: str, what: str, found: Mapping[str, Waiting]) -> Iterator[Metric]:
    yield gauge(name, f"{what}.", ["of"], each({of: row.count for of, row in found.items()}))
    yield gauge(
        f"{name}_oldest_age_seconds", f"{what}: for how long the first.", ["of"],
        each({of: row.oldest_s for of, row in found.items()}),
    )  # fmt: skip


def _age(name: str, what: str, seconds: float | None) -> Metric:
    """Return an age; what never was has no sample."""
    samples = {} if seconds is None else {ALONE: seconds}
    return gauge(f"{name}_age_seconds", what, [], samples)
