"""The gate panel of a run's page: each gate with the chain from its result to what became of it.

Every step of a chain is a link to the line, or to the escalation, that shows it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse

from runs.models import Event, Run
from runs.queries.timeline import WINDOW
from verification.domain.gates import GateState
from verification.domain.routes import RouteKind
from verification.domain.rules import Rules
from verification.models import Delivery, Escalation, Gate, Resolution, Verdict
from verification.queries.ends import End
from verification.queries.gates import SHOWN, GatePanel, Noted, Then

Step = dict[str, Any]

_OPEN = frozenset(
    {GateState.BLOCKED, GateState.IN_REVIEW, GateState.UNKNOWN, GateState.REVISE_ASKED}
)
OPENED = 3
"""Gates that are unfolded when the page opens, of those that need somebody."""
_TONES = {"pass": "good", "fail": "bad", "revise": "warn"}
_ICONS = {"pass": "shield-check", "fail": "shield-cross", "revise": "revise"}
TARGET_MARKS = {"agent": "candidates", "not_found": "not_found"}
"""How a target that names no line of the run is marked, by the kind of its subject."""
_ROUTES = {
    RouteKind.MERGED: ("branch", "Merged"),
    RouteKind.NEW_TURN: ("repeat", "New turn in its place"),
    RouteKind.PAUSED: ("pause", "The host paused for a person"),
    RouteKind.OVERRIDDEN: ("key", "Let through on the host"),
}
_ENDS = {
    "goal_met": ("target", "Run ended: goal met"),
    "gave_up": ("flag-down", "Run ended: gave up"),
    "ended": ("dot", "Run ended, criteria not stated"),
    "failed": ("circle-cross", "Run ended: failed"),
    "cancelled": ("ban", "Run ended: cancelled"),
}


def panel_of(run: Run, panel: GatePanel, end: End, run_url: str) -> dict[str, Any]:
    """Return the panel as the page shows it."""
    outcome = panel.then.outcome if panel.then else run.outcome
    chain = _Chain(panel, end, outcome, permalinks(run, run_url))
    following = panel.offset + len(panel.gates)
    return {
        "gates": [chain.gate(number, gate) for number, gate in enumerate(panel.gates)],
        "total": panel.total,
        "counts": [{"state": state, "count": count} for state, count in panel.counts.items()],
        "is_cut": panel.total > len(panel.gates),
        "text": f"{panel.offset + 1} to {following} of {panel.total:,}",
        "next_url": f"{run_url}?gates={following}" if following < panel.total else "",
        "before_url": f"{run_url}?gates={max(0, panel.offset - SHOWN)}" if panel.offset else "",
    }


def permalinks(run: Run, run_url: str) -> Callable[[int, int | None], str]:
    """Return what makes the address of a line: its mark alone where the page holds every line."""
    is_whole = run.last_position <= WINDOW

    def address(position: int, sequence: int | None) -> str:
        mark = f"#line-{position}"
        return mark if is_whole or sequence is None else f"{run_url}?seq={sequence}{mark}"

    return address


@dataclass(frozen=True, slots=True)
class _Chain:
    """Draws the gates of one panel."""

    panel: GatePanel
    end: End
    outcome: str
    address: Callable[[int, int | None], str]

    def gate(self, number: int, gate: Gate) -> dict[str, Any]:
        """Return one gate."""
        escalation = self.panel.escalations.get(gate.target)
        detail = gate.detail
        subject = self._event(gate.subject_position)
        state = GateState(gate.state)
        return {
            "id": gate.pk,
            "state": gate.state,
            "open": state in _OPEN and number < OPENED and not self.panel.offset,
            "independence": "" if gate.independence == "independent" else gate.independence,
            "target": gate.target,
            "sentence": detail.get("sentence", ""),
            "would_change": detail.get("wouldChange", ""),
            "binding": gate.binding,
            "target_mark": TARGET_MARKS.get(gate.subject_kind, ""),
            "target_url": subject["url"] if subject else "",
            "host_id": detail.get("hostId") or "",
            "turns": _turns(gate),
            "escalation_url": _review_url(escalation, self.panel.then),
            "findings": [_noted(each) for each in self.panel.findings.get(gate.target, ())],
            "candidates": list(self._candidates(gate)),
            "candidate_count": detail.get("candidates", 0),
            "confidences": list(self._confidences(gate)),
            "steps": [*self._host_steps(gate, subject), *self._person_steps(escalation)],
        }

    def _host_steps(self, gate: Gate, subject: dict[str, Any] | None) -> Iterator[Step]:
        if subject:
            title = f"Result of {gate.actor}" if gate.actor else "Result"
            yield {"icon": "bot", "title": title, **subject}
        earlier = self.panel.verdict_counts.get(gate.target, 0) - len(self._verdicts(gate))
        if earlier > 0:
            yield {"icon": "history", "title": f"{earlier:,} earlier verdicts"}
        judged = [
            *((each.sequence, self._verdict(each)) for each in self._verdicts(gate)),
            *((step["sequence"], self._route(step)) for step in gate.detail.get("route", ())),
        ]
        yield from (step for _, step in sorted(judged, key=lambda pair: pair[0]))
        if self.end.line is not None and gate.state != GateState.SUPERSEDED:
            icon, title = _ENDS.get(self.outcome, ("dot", "Run ended"))
            yield {"icon": icon, "title": title, **(self._where(self.end.line) or {})}

    def _verdicts(self, gate: Gate) -> list[Verdict]:
        return list(self.panel.verdicts.get(gate.target, ()))

    def _verdict(self, verdict: Verdict) -> Step:
        return {
            "icon": _ICONS.get(verdict.verdict, "shield"),
            "tone": _TONES.get(verdict.verdict, "quiet"),
            "title": f"{verdict.verdict} by {verdict.verifier}",
            "criteria": verdict.criteria,
            "detail": _reason(verdict),
            **(self._event(verdict.position) or {}),
        }

    def _route(self, step: dict[str, Any]) -> Step:
        icon, title = _ROUTES[RouteKind(step["kind"])]
        return {"icon": icon, "title": title, **(self._event(step["position"]) or {})}

    def _person_steps(self, escalation: Escalation | None) -> Iterator[Step]:
        if escalation is None:
            return
        then = self.panel.then
        url = reverse("escalation", args=[escalation.pk])
        resolution = _resolution(escalation, then)
        if resolution is None:
            yield {"icon": "person", "url": url, **_waiting(escalation, then)}
            return
        yield {
            "icon": "person",
            "tone": "person",
            "title": f"{resolution.action.replace('_', ' ')} by {resolution.by.get_username()}",
            "url": url,
            "at": resolution.at,
        }
        delivery: Delivery | None = getattr(resolution, "delivery", None)
        if delivery is not None:
            yield from self._delivery(delivery)

    def _delivery(self, delivery: Delivery) -> Iterator[Step]:
        accepted = _by(delivery.accepted_at, self.panel.then)
        done = accepted or _by(delivery.delivered_at, self.panel.then)
        yield {
            "icon": "send",
            "title": "Accepted by the host" if accepted else delivery.words or "On its way",
            "at": done,
            "ahead": done is None,
        }
        effect_at = _by(delivery.effect_at, self.panel.then)
        if delivery.effect_position is not None and effect_at is not None:
            took = delivery.effect_kind != "overtaken"
            yield {
                "icon": "bolt",
                "tone": "good" if took else "warn",
                "title": "Took effect" if took else "The pause ended for another reason",
                "url": self.address(delivery.effect_position, None),
                "at": effect_at,
            }
        elif done is not None:
            yield {"icon": "bolt", "title": "No effect seen yet", "ahead": True}

    def _confidences(self, gate: Gate) -> Iterator[dict[str, Any]]:
        """Return how sure actor and verifiers were, each against the floor that it is held to."""
        rules = Rules()
        actor = gate.detail.get("actorConfidence")
        if gate.subject_position is not None:
            yield _confidence("Actor", gate.actor, actor, rules.actor_threshold)
        standing = [each for each in self._verdicts(gate) if each.standing]
        for verdict in standing[-3:]:
            yield _confidence(
                "Verifier", verdict.verifier, verdict.confidence, rules.verifier_floor
            )

    def _candidates(self, gate: Gate) -> Iterator[dict[str, Any]]:
        for event_id in reversed(gate.detail.get("candidateIds", ())[-5:]):
            event = self.panel.candidates.get(event_id)
            if event is not None:
                yield {"event_id": event_id, **(self._where(event) or {})}

    def _event(self, position: int | None) -> dict[str, Any] | None:
        return self._where(self.panel.events.get(position)) if position is not None else None

    def _where(self, event: Event | None) -> dict[str, Any] | None:
        """Return where a line is found and when it was written and received."""
        if event is None:
            return None
        return {
            "url": self.address(event.position, event.sequence),
            "sequence": event.sequence,
            "at": event.occurred_at,
            "received_at": event.recorded_at,
        }


def _confidence(role: str, agent: str, value: float | None, floor: float) -> dict[str, Any]:
    return {
        "role": role,
        "agent": agent,
        "value": value,
        "percent": None if value is None else round(100 * value),
        "floor": floor,
        "floor_percent": round(100 * floor),
        "is_low": value is not None and value < floor,
    }


def _reason(verdict: Verdict) -> str:
    """Say so where a verdict that is no pass gives no reason."""
    return "" if verdict.criteria or verdict.verdict == "pass" else "no reason given"


def _turns(gate: Gate) -> str:
    used, limit = gate.detail.get("turnsUsed", 0), gate.detail.get("turnLimit")
    if not used:
        return ""
    if limit:
        return f"{used} of {limit} turns used"
    return f"{used} turn{'' if used == 1 else 's'} used"


def _noted(noted: Noted) -> dict[str, Any]:
    return {
        "kind": noted.kind,
        "severity": noted.severity,
        "explanation": noted.explanation,
        "url": reverse("finding", args=[noted.pk]) if noted.pk else "",
    }


def _review_url(escalation: Escalation | None, then: Then | None) -> str:
    if escalation is None or then is not None or escalation.closed_at is not None:
        return ""
    return reverse("escalation", args=[escalation.pk])


def _resolution(escalation: Escalation, then: Then | None) -> Resolution | None:
    """Return what was decided, if it was by then."""
    found: Resolution | None = getattr(escalation, "resolution", None)
    is_later = then is not None and escalation.pk not in then.reviews.resolved
    return None if is_later else found


def _waiting(escalation: Escalation, then: Then | None) -> Step:
    closed_at = _by(escalation.closed_at, then)
    if closed_at is not None:
        because = escalation.closed_because.replace("_", " ")
        return {"icon": "ban", "title": f"Review closed: {because}", "at": closed_at}
    if then is not None:
        holder = then.reviews.claimed.get(escalation.pk, "")
    else:
        holder = escalation.claimed_by.get_username() if escalation.claimed_by else ""
    title = f"Claimed by {holder}" if holder else "Waits for a person"
    return {"tone": "person", "title": title, "ahead": not holder}


def _by(moment: datetime | None, then: Then | None) -> datetime | None:
    """Return a moment, unless it had not come by then."""
    is_later = moment is not None and then is not None and moment > then.at
    return None if is_later else moment
