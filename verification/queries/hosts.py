"""What a host advertises, next to what its events show."""

from dataclasses import dataclass

from django.db.models import Count

from runs.models import CapabilitySnapshot, Host, Run
from verification.domain.capabilities import Advertised, advertised
from verification.models import Finding, Verdict


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


def conformance_of(host: Host) -> Conformance:
    """Return what a host claims and what its runs show."""
    snapshot = CapabilitySnapshot.objects.filter(host=host, valid_to=None).first()
    standing = Finding.objects.filter(run__host=host, status="standing")
    kinds = standing.values("kind", "severity").annotate(number=Count("pk"))
    return Conformance(
        snapshot=snapshot,
        claims=advertised(snapshot.document if snapshot else None),
        verdicts=Verdict.objects.filter(run__host=host).count(),
        findings=[
            (row["kind"], row["severity"], row["number"])
            for row in kinds.order_by("-number", "kind", "severity")
        ],
        held=Run.objects.filter(host=host, held=True).count(),
    )
