"""Everything that a finding rests on: raw events, hashes, what was advertised, the rule."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from runs.domain.timestamps import written
from runs.models import CapabilitySnapshot, Event, Run
from runs.queries.api import event_document
from verification.domain.evidence import writable
from verification.domain.findings import FindingKind
from verification.domain.rule_texts import RULES
from verification.models import Finding, Verdict
from verification.queries.api import verdict_document


def evidence_events(finding: Finding) -> list[Event]:
    """Return the lines that a finding names, in the order in which it names them."""
    named = [each["eventId"] for each in finding.evidence]
    found = Event.objects.filter(run=finding.run_id, event_id__in=named)
    held = {event.event_id: event for event in found}
    return [held[event_id] for event_id in named if event_id in held]


def snapshots_of(finding: Finding, events: Sequence[Event]) -> list[CapabilitySnapshot]:
    """Return what the host advertised when the events happened; all it ever did, if that is one."""
    snapshots = list(CapabilitySnapshot.objects.filter(host=finding.run.host_id).order_by("pk"))
    if len(snapshots) <= 1:
        return snapshots
    times = [event.occurred_at for event in events]
    return [each for each in snapshots if any(_covers(each, time) for time in times)]


def evidence_document(finding: Finding) -> dict[str, Any]:
    """Return the finding with all its evidence, as it is signed."""
    run = finding.run
    events = evidence_events(finding)
    rule = RULES[FindingKind(finding.kind)]
    return {
        "finding": {
            "id": finding.pk,
            "kind": finding.kind,
            "severity": finding.severity,
            "status": finding.status,
            "target": finding.target or None,
            "explanation": finding.explanation,
            "wouldChange": finding.would_change,
            "missing": finding.missing,
            "openedAt": written(finding.opened_at),
            "withdrawnAt": written(finding.withdrawn_at),
            "withdrawnBecause": finding.withdrawn_because or None,
        },
        "rule": {"text": rule.text, "force": rule.force.value, "source": rule.source},
        "run": {
            "runId": run.run_id,
            "host": run.host.slug,
            "status": run.status,
            "outcome": run.outcome or None,
            "held": run.held,
            "lastSequence": run.last_sequence,
            "lastPosition": run.last_position,
        },
        "events": [_event(run, event) for event in events],
        "verdicts": [verdict_document(each) for each in _verdicts(finding)],
        "capabilities": [_snapshot(each) for each in snapshots_of(finding, events)],
    }


def _verdicts(finding: Finding) -> list[Verdict]:
    about = Verdict.objects.filter(run=finding.run_id, target=finding.target)
    return list(about.order_by("sequence")) if finding.target else []


def _event(run: Run, event: Event) -> dict[str, Any]:
    if event.sequence is None:
        document = {"eventId": event.event_id, "type": event.type, "payload": event.payload}
    else:
        document = event_document(run, event)
    return {
        "position": event.position,
        "origin": event.origin,
        "receivedAt": written(event.recorded_at),
        "sha256": bytes(event.digest).hex(),
        "mismatches": [
            {"pointer": each.pointer, "reason": each.reason} for each in event.line.mismatches
        ],
        "event": {**document, "payload": writable(document["payload"])},
    }


def _snapshot(snapshot: CapabilitySnapshot) -> dict[str, Any]:
    return {
        "snapshot": str(snapshot.pk),
        "validFrom": written(snapshot.valid_from),
        "validTo": written(snapshot.valid_to),
        "document": writable(snapshot.document),
    }


def _covers(snapshot: CapabilitySnapshot, time: datetime) -> bool:
    return snapshot.valid_from <= time and (snapshot.valid_to is None or time < snapshot.valid_to)
