"""The API's answers about gates, findings and escalations."""

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q

from runs.models import Gap, Run, Viewer
from verification.models import Escalation, Finding, Gate, GateReceipt, Verdict
from verification.models.escalation import OPEN_STATES, EscalationQuerySet

PAGE = 100


def gates_document(run: Run) -> dict[str, Any]:
    """Return `{runId, outcome, held, complete, gates}` of one run."""
    verdicts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for verdict in Verdict.objects.filter(run=run).order_by("sequence"):
        verdicts[verdict.target].append(verdict_document(verdict))
    escalations = dict(
        Escalation.objects.filter(run=run).order_by("pk").values_list("target", "pk")
    )
    return {
        "runId": run.run_id,
        "outcome": run.outcome or None,
        "held": run.held,
        "complete": not Gap.objects.filter(run=run).exists(),
        "gates": [
            {
                "target": gate.target,
                "state": gate.state,
                "binding": "gating" if gate.binding == "gating" else "advisory",
                "subject": {
                    "kind": gate.subject_kind,
                    "eventId": gate.subject_event_id or None,
                    "agentId": gate.actor or None,
                },
                "selfVerified": gate.independence == "self_verified",
                "verdicts": verdicts[gate.target],
                "escalationId": escalations.get(gate.target),
            }
            for gate in Gate.objects.filter(run=run).order_by("pk")
        ],
    }


def findings_document(run: Run) -> dict[str, Any]:
    """Return `{findings}` of one run, standing and withdrawn."""
    return {"findings": [_finding(each) for each in Finding.objects.filter(run=run).order_by("pk")]}


def escalations_page(viewer: Viewer, query: Mapping[str, str]) -> dict[str, Any]:
    """Return `{escalations, next}`: one page, due first. State `open` means not settled."""
    rows = Escalation.objects.visible_to(viewer).select_related("run", "claimed_by")
    if run := query.get("run"):
        rows = rows.filter(run__run_id=run)
    if host := query.get("host"):
        rows = rows.filter(run__host__slug=host)
    if state := query.get("state"):
        rows = rows.filter(state__in=OPEN_STATES if state == "open" else [state])
    rows = due_after(rows, query.get("cursor", ""))
    found = list(rows.order_by("due_at", "pk")[: PAGE + 1])
    return {
        "escalations": [escalation_document(each) for each in found[:PAGE]],
        "next": key_of(found[PAGE - 1]) if len(found) > PAGE else None,
    }


def key_of(escalation: Escalation) -> str:
    """Return the keyset that the page after this escalation starts at, fit for an address."""
    return f"{(escalation.due_at - _EPOCH) // timedelta(microseconds=1)}-{escalation.pk}"


def due_after(rows: EscalationQuerySet, key: str) -> EscalationQuerySet:
    """Keep what is due after a keyset; an unreadable one keeps all."""
    found = _KEY.fullmatch(key)
    if found is None:
        return rows
    due = _EPOCH + timedelta(microseconds=int(found[1]))
    return rows.filter(Q(due_at__gt=due) | Q(due_at=due, pk__gt=int(found[2])))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEY = re.compile(r"([0-9]{1,17})-([0-9]{1,18})", re.ASCII)


def escalation_document(escalation: Escalation) -> dict[str, Any]:
    """Return one escalation; the interrupt by name, never its content or token."""
    pause = escalation.interrupt
    return {
        "id": escalation.pk,
        "state": escalation.state,
        "version": escalation.version,
        "reason": escalation.reason,
        "reasons": escalation.reasons,
        "target": escalation.target or None,
        "runId": escalation.run.run_id,
        "interrupt": pause and {key: pause.get(key) for key in ("nodeId", "interruptId", "kind")},
        "openedAt": escalation.opened_at,
        "dueAt": escalation.due_at,
        "claimedBy": escalation.claimed_by and escalation.claimed_by.get_username(),
        "closedAt": escalation.closed_at,
        "closedBecause": escalation.closed_because or None,
    }


def answer_document(receipt: GateReceipt) -> dict[str, Any]:
    """Return an answer as callers of the gate API get it."""
    return {
        "decision": receipt.decision,
        "basis": receipt.basis,
        "complete": receipt.complete,
        "expiresAt": receipt.expires_at,
        "receiptId": str(receipt.pk),
    }


def receipt_document(receipt: GateReceipt) -> dict[str, Any]:
    """Return an answer with all that it was given on."""
    return {
        **answer_document(receipt),
        "target": receipt.target,
        "runId": receipt.run.run_id,
        "host": receipt.run.host.slug,
        "askedBy": receipt.asked_by,
        "answeredAt": receipt.answered_at,
        "state": receipt.state,
        "held": receipt.held,
        "position": receipt.position,
        "verdicts": receipt.verdicts,
    }


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Return one verdict as API and evidence show it."""
    return {
        "eventId": verdict.event_id,
        "verifier": verdict.verifier,
        "verdict": verdict.verdict,
        "sequence": verdict.sequence,
        "standing": verdict.standing,
        "confidence": verdict.confidence,
        "criteria": verdict.criteria,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.pk,
        "kind": finding.kind,
        "severity": finding.severity,
        "target": finding.target or None,
        "evidence": finding.evidence,
        "missing": finding.missing,
        "capabilities": finding.capabilities,
        "explanation": finding.explanation,
        "wouldChange": finding.would_change,
        "status": finding.status,
    }
