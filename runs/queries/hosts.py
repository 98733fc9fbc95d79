"""Hosts as their administrators see them: what arrived, what was refused, how reading goes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, Max, QuerySet, Sum

from runs.domain.webhooks import Reason
from runs.models import Host, PulledHost, Refusal, Run

REFUSED_DAYS = 7
"""How far back refused events are counted, today included."""


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host with what there is to know at a glance."""

    host: Host
    runs: int
    last_event_at: datetime | None
    refused: int
    """Events, in the last `REFUSED_DAYS` days."""
    pulled: PulledHost | None
    """How reading from it goes; None: it has not been read."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why events of a host were refused, and how many."""

    reason: str
    count: int
    last: date


def host_rows(hosts: Sequence[Host], today: date) -> list[HostRow]:
    """Return a row for each host, in three queries however many there are."""
    keys = [host.pk for host in hosts]
    arrived = Run.objects.filter(host__in=keys).values("host").order_by("host")
    counts = {
        row["host"]: (row["runs"], row["last"])
        for row in arrived.annotate(runs=Count("pk"), last=Max("last_event_at"))
    }
    refusals = _since(keys, today).values("host").order_by("host").annotate(sum=Sum("count"))
    refused = {row["host"]: row["sum"] for row in refusals}
    pulled = {row.pk: row for row in PulledHost.objects.filter(pk__in=keys)}
    return [
        HostRow(
            host=host,
            runs=counts.get(host.pk, (0, None))[0],
            last_event_at=counts.get(host.pk, (0, None))[1],
            refused=refused.get(host.pk, 0),
            pulled=pulled.get(host.pk),
        )
        for host in hosts
    ]


def refused_by_reason(host: Host, today: date) -> list[Refused]:
    """Return why events of a host were refused lately, the most frequent reason first."""
    rows = _since([host.pk], today).values("reason").annotate(sum=Sum("count"), last=Max("day"))
    return [
        Refused(row["reason"], row["sum"], row["last"]) for row in rows.order_by("-sum", "reason")
    ]


def unproven_deliveries(host: Host, today: date) -> dict[str, int]:
    """Return how many deliveries to a host's webhook door were not believed lately, by reason."""
    reasons = [reason.value for reason in Reason]
    rows = _since([host.pk], today).filter(reason__in=reasons).order_by("reason")
    return dict(rows.values_list("reason").annotate(Sum("count")))


def _since(hosts: Iterable[int], today: date) -> "QuerySet[Refusal]":
    first = today - timedelta(days=REFUSED_DAYS - 1)
    return Refusal.objects.filter(host__in=list(hosts), day__gte=first)
