"""The chain of each gate: subject, verdicts, who decided, how it reached the host, its effect."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from runs.models import Event, Run
from verification.models import Delivery, Escalation, Gate, Resolution, Verdict

_ORDER = (
    "unknown", "blocked", "in_review", "revise_asked", "upheld", "overridden", "passed",
    "superseded", "no_verdict",
)  # fmt: skip
"""What needs somebody comes first."""


def chains(run: Run) -> list[dict[str, Any]]:
    """Return the run's gates, each with its chain as an ordered list of links, for its page."""
    gates = list(Gate.objects.filter(run=run))
    gates.sort(key=lambda gate: (_ORDER.index(gate.state), gate.subject_position or 0, gate.pk))
    verdicts: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in Verdict.objects.filter(run=run).order_by("sequence"):
        verdicts[verdict.target].append(verdict)
    escalations: dict[str, Escalation] = {}
    for each in Escalation.objects.filter(run=run).select_related("claimed_by").order_by("pk"):
        escalations[each.target] = each
    times = _times(run, gates, verdicts)
    return [
        _gate(gate, verdicts[gate.target], escalations.get(gate.target), times) for gate in gates
    ]


def _times(run: Run, gates: Iterable[Gate], verdicts: dict[str, list[Verdict]]) -> dict[int, Any]:
    positions = {gate.subject_position for gate in gates if gate.subject_position is not None}
    positions |= {each.position for listed in verdicts.values() for each in listed}
    found = Event.objects.filter(run=run, position__in=positions)
    return dict(found.values_list("position", "occurred_at"))


def _gate(
    gate: Gate, verdicts: list[Verdict], escalation: Escalation | None, times: dict[int, Any]
) -> dict[str, Any]:
    is_open = escalation is not None and escalation.closed_at is None
    return {
        "id": gate.pk,
        "state": gate.state,
        "open": gate.state in ("blocked", "in_review", "unknown", "revise_asked"),
        "self_verified": gate.independence == "self_verified",
        "target": gate.target,
        "sentence": gate.detail.get("sentence", ""),
        "binding": gate.binding == "gating",
        "target_mark": _target_mark(gate),
        "target_url": f"#line-{gate.subject_position}" if gate.subject_position else "",
        "escalation_url": reverse("escalation", args=[escalation.pk])
        if escalation and is_open
        else "",
        "steps": [
            *_subject(gate, times),
            *(_verdict(each, times) for each in verdicts),
            *(_person(escalation) if escalation else ()),
        ],
    }


def _target_mark(gate: Gate) -> str:
    return {"agent": "candidates", "not_found": "not_found"}.get(gate.subject_kind, "")


def _subject(gate: Gate, times: dict[int, Any]) -> Iterable[dict[str, Any]]:
    if gate.subject_position is not None:
        yield {
            "icon": "bot",
            "title": f"Result of {gate.actor}" if gate.actor else "Result",
            "url": f"#line-{gate.subject_position}",
            "at": times.get(gate.subject_position),
        }


_TONES = {"pass": "good", "fail": "bad", "revise": "warn"}
_ICONS = {"pass": "shield-check", "fail": "shield-cross", "revise": "revise"}


def _verdict(verdict: Verdict, times: dict[int, Any]) -> dict[str, Any]:
    confidence = "" if verdict.confidence is None else f"confidence {verdict.confidence:g}"
    criteria = ", ".join(verdict.criteria)
    return {
        "icon": _ICONS.get(verdict.verdict, "shield"),
        "tone": _TONES.get(verdict.verdict, "quiet"),
        "title": f"{verdict.verdict} by {verdict.verifier}",
        "url": f"#line-{verdict.position}",
        "at": times.get(verdict.position),
        "detail": " · ".join(part for part in (criteria, confidence) if part)
        or ("" if verdict.verdict == "pass" else "no reason given"),
    }


def _person(escalation: Escalation) -> Iterable[dict[str, Any]]:
    url = reverse("escalation", args=[escalation.pk])
    resolution = Resolution.objects.filter(escalation=escalation).select_related("by").first()
    if resolution is None:
        yield _waiting(escalation, url)
        return
    yield {
        "icon": "person",
        "tone": "person",
        "title": f"{resolution.action.replace('_', ' ')} by {resolution.by.get_username()}",
        "url": url,
        "at": resolution.at,
    }
    delivery = Delivery.objects.filter(resolution=resolution).first()
    if delivery is not None:
        yield from _delivery(delivery)


def _waiting(escalation: Escalation, url: str) -> dict[str, Any]:
    if escalation.closed_at is not None:
        because = escalation.closed_because.replace("_", " ")
        return {"icon": "ban", "title": f"Review closed: {because}", "url": url}
    holder = escalation.claimed_by
    title = f"Claimed by {holder.get_username()}" if holder else "Waits for a person"
    return {"icon": "person", "tone": "person", "title": title, "url": url, "ahead": holder is None}


def _delivery(delivery: Delivery) -> Iterable[dict[str, Any]]:
    done = delivery.accepted_at or delivery.delivered_at
    yield {
        "icon": "send",
        "title": "Accepted by the host" if delivery.accepted_at else delivery.words or "On its way",
        "at": done,
        "ahead": done is None,
    }
    if delivery.effect_position is not None:
        took = delivery.effect_kind != "overtaken"
        yield {
            "icon": "bolt",
            "tone": "good" if took else "warn",
            "title": "Took effect" if took else "The pause ended for another reason",
            "url": f"#line-{delivery.effect_position}",
            "at": delivery.effect_at,
        }
    elif done is not None:
        yield {"icon": "bolt", "title": "No effect seen yet", "ahead": True}
