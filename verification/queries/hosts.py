"""What a host advertises, next to what its events show."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count
from django.utils import timezone

from runs.domain.log import Origin
from runs.models import CapabilitySnapshot, Event, Host, ReceivedDelivery, Run
from runs.queries.hosts import unproven_deliveries
from verification.domain.capabilities import NOTHING, Advertised, advertised, signs_webhooks
from verification.domain.conformance import Row, Shown, card
from verification.models import Finding, Gate, Verdict
from verification.queries.findings import meter_of

_EVENTS_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Conformance:
    """A host's word and its deeds."""

    snapshot: CapabilitySnapshot | None
    """What it advertises now; None: it has not been asked, or does not answer."""
    claims: Advertised
    verdicts: int
    """Verdicts in its runs."""
    findings: list[tuple[str, str, int]]
    """Kind, severity and number of the findings that stand, the most frequent first."""
    held: int
    """Runs that are held now."""
    rows: list[Row]
    """The card, line by line."""


def conformance_of(host: Host) -> Conformance:
    """Return what a host claims and what its runs show."""
    snapshot = CapabilitySnapshot.objects.filter(host=host, valid_to=None).first()
    claims = advertised(snapshot.document) if snapshot else None
    shown = _shown(host)
    standing = Finding.objects.filter(run__host=host, status="standing")
    kinds = standing.values("kind", "severity").annotate(number=Count("pk"))
    return Conformance(
        snapshot=snapshot,
        claims=claims or NOTHING,
        verdicts=shown.verdicts,
        findings=[
            (row["kind"], row["severity"], row["number"])
            for row in kinds.order_by("-number", "kind", "severity")
        ],
        held=Run.objects.filter(host=host, held=True).count(),
        rows=card(claims, shown, signs=signs_webhooks(snapshot.document) if snapshot else None),
    )


def _shown(host: Host) -> Shown:
    """Count what a host's runs and deliveries show."""
    verdicts, gates = Verdict.objects.filter(run__host=host), Gate.objects.filter(run__host=host)
    ends = Run.objects.filter(host=host, outcome__in=["goal_met", "gave_up", "ended"])
    meter = meter_of(host)
    spellings = ReceivedDelivery.objects.filter(host=host).order_by("spelling")
    return Shown(
        verdicts=verdicts.count(),
        with_criteria=verdicts.exclude(criteria=[]).count(),
        targets=_counts(gates, "subject_kind"),
        verifiers=_counts(gates, "independence"),
        ended=ends.count(),
        ended_with_criteria=ends.exclude(outcome="ended").count(),
        commits=meter.commits if meter else 0,
        unverified=meter.unverified if meter else 0,
        spellings=tuple(spellings.values_list("spelling", flat=True).distinct()[:5]),
        unproven=sum(unproven_deliveries(host, timezone.now().date()).values()),
        ahead=_ahead(host),
    )


def _counts(rows: Any, column: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(column).annotate(Count("pk")))


def _ahead(host: Host) -> timedelta | None:
    """Return how far the host's clock is ahead, by the newest events of its newest run."""
    run = Run.objects.filter(host=host, last_event_at__isnull=False).order_by(
        "-last_event_at", "-pk"
    )
    newest = run.first()
    if newest is None:
        return None
    lines = Event.objects.filter(run=newest, origin=Origin.HOST).order_by("-position")
    moments = lines.values_list("occurred_at", "recorded_at")[:_EVENTS_LOOKED_AT]
    return max((occurred - recorded for occurred, recorded in moments), default=None)
