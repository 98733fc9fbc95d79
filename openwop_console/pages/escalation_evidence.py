"""What a reviewer sees of a matter: verdicts, the run around it, earlier decisions, the host."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from openwop_console.pages.run import address_of
from openwop_console.pages.timeline import rows_of
from runs.models import CapabilitySnapshot, Event
from runs.queries.timeline import between
from verification.domain.capabilities import advertised
from verification.models import Escalation, Gate, Verdict
from verification.queries.earlier import Earlier, earlier_reviews

_AROUND = 5
"""Lines above and below the verdict that are shown as evidence."""
_MOST = 10


def evidence_of(found: Escalation) -> dict[str, Any]:
    """Gather the evidence; nothing of it is content but what the host put into its events."""
    gate = Gate.objects.filter(run=found.run, target=found.target).first()
    address = address_of(found.run)
    excerpt = rows_of(found.run, between(found.run, found.opened_position, _AROUND))
    return {
        "subject": gate.detail.get("sentence", "") if gate else "",
        "verdicts": _verdicts(found, gate, address),
        "lines": [
            {**line, "url": f"{address}#line-{line['position']}"}
            for line in excerpt
            if "position" in line
        ],
        "artifacts": artifacts_of(found),
        "earlier": [_earlier(each) for each in earlier_reviews(found)],
        "host": _host(found),
    }


def _verdicts(found: Escalation, gate: Gate | None, address: str) -> list[dict[str, Any]]:
    verdicts = list(Verdict.objects.filter(run=found.run, target=found.target).order_by("sequence"))
    times = dict(
        Event.objects.filter(
            run=found.run, position__in=[each.position for each in verdicts]
        ).values_list("position", "occurred_at")
    )
    own = gate.actor if gate and gate.independence == "self_verified" else None
    return [
        {
            "word": each.verdict,
            "agent": each.verifier,
            "confidence": each.confidence,
            "criteria": each.criteria,
            "sequence": each.sequence,
            "at": times.get(each.position),
            "mark": "self_verified" if each.verifier == own else "",
            "url": f"{address}?seq={each.sequence}#line-{each.position}",
        }
        for each in verdicts
    ]


def artifacts_of(found: Escalation) -> list[dict[str, str]]:
    """Return the artifacts that the run's events name, newest first, with where to see each."""
    pause = found.interrupt or {}
    lines = Event.objects.filter(run=found.run, origin="host").order_by("-sequence")
    named = lines.filter(type="artifact.created") | lines.filter(
        sequence__in=pause.get("sequences", [])
    )
    ids: dict[str, None] = {}
    for payload in named.values_list("payload", flat=True)[: 4 * _MOST]:
        for part in (payload, payload.get("data") if isinstance(payload, dict) else None):
            artifact = part.get("artifactId") if isinstance(part, dict) else None
            if isinstance(artifact, str) and 0 < len(artifact) <= 256:
                ids.setdefault(artifact)
    return [{"id": each, "url": _content_url(found, each)} for each in list(ids)[:_MOST]]


def _content_url(found: Escalation, artifact: str) -> str:
    return f"{reverse('escalation-content', args=[found.pk])}?{urlencode({'artifact': artifact})}"


def _earlier(each: Earlier) -> dict[str, Any]:
    about = each.resolution.escalation
    return {
        "action": each.resolution.action,
        "by": each.resolution.by.get_username(),
        "at": each.resolution.at,
        "url": reverse("escalation", args=[about.pk]),
        "run_id": about.run.run_id,
        "same_agent": each.same_agent,
        "criteria": each.criteria,
    }


def _host(found: Escalation) -> dict[str, Any]:
    """Return what the host advertised when the matter opened, as far as a decision rests on it."""
    snapshots = CapabilitySnapshot.objects.filter(host=found.run.host_id)
    then = snapshots.filter(valid_from__lte=found.opened_at).order_by("-valid_from").first()
    known = then or snapshots.order_by("valid_from").first()
    if known is None:
        return {"is_known": False}
    said = advertised(known.document)
    return {
        "is_known": True,
        "verifies": said.verifies,
        "gates": said.gates,
        "floor": said.confidence_floor,
        "since": known.valid_from,
        "has_link": bool(settings.CONTENT_LINK),
    }
