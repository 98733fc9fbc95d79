"""Brings the open escalations of a run in line with what the run wants a person for."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from runs.actions.log import NewLine, console_line
from runs.domain.interrupts import Interrupt, sequence_of
from runs.domain.projection import Outcome
from runs.models import Run
from verification.domain import lifecycle
from verification.domain.conclude import Conclusions
from verification.domain.escalations import Escalation as Wanted
from verification.domain.gates import GateState
from verification.domain.lifecycle import Move, State
from verification.models import Escalation


def settle_escalations(run: Run, conclusions: Conclusions, now: datetime) -> list[NewLine]:
    """Open what is new, join reasons to what is known, close what nobody needs any more."""
    known = list(Escalation.objects.waiting().filter(run=run).order_by("pk"))
    lines = []
    for wanted in conclusions.escalations:
        row = next((each for each in known if each.key in wanted.aliases), None)
        if row is None:
            lines.append(_open(run, wanted, now))
        else:
            known.remove(row)
            _join(row, wanted)
    return [*lines, *(_close(row, conclusions, now) for row in known)]


def _open(run: Run, wanted: Wanted, now: datetime) -> NewLine:
    row = Escalation.objects.create(
        workspace_id=run.workspace_id,
        run=run,
        key=wanted.key,
        target=wanted.target or "",
        reason=wanted.reason.value,
        reasons=[reason.value for reason in wanted.reasons],
        interrupt=_pause(wanted.interrupt),
        opened_position=wanted.opened_by.position,
        opened_at=now,
        due_at=now + timedelta(seconds=settings.REVIEW_DUE_S),
        state=State.OPEN,
    )
    return _line(row, "opened", now, caused_by=wanted.opened_by.event_id)


def _join(row: Escalation, wanted: Wanted) -> None:
    """Let an open escalation say all its reasons, and know the pause that has since opened."""
    fresh: dict[str, Any] = {
        "key": wanted.key,
        "target": wanted.target or "",
        "reason": wanted.reason.value,
        "reasons": [reason.value for reason in wanted.reasons],
        "interrupt": _pause(wanted.interrupt) or row.interrupt,
    }
    changed = [name for name, value in fresh.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, fresh[name])
    if changed:
        row.version += 1
        row.save(update_fields=[*changed, "version"])


def _close(row: Escalation, conclusions: Conclusions, now: datetime) -> NewLine:
    row.state = lifecycle.next_state(State(row.state), Move.CLOSE)
    row.version += 1
    row.claim_until, row.closed_at = None, now
    row.closed_because = _why_moot(row, conclusions)
    row.save(update_fields=["state", "version", "claim_until", "closed_at", "closed_because"])
    return _line(row, "closed", now, because=row.closed_because)


def _why_moot(row: Escalation, conclusions: Conclusions) -> str:
    state = conclusions.state_of(row.target) if row.target else GateState.NO_VERDICT
    if conclusions.outcome is Outcome.CANCELLED:
        return "run_cancelled"
    if state in (GateState.SUPERSEDED, GateState.OVERRIDDEN):
        return f"target_{state.value}"
    if row.interrupt is not None:
        return "interrupt_closed"
    return "hold_cleared" if row.reason == "held" else "verdict_reversed"


def _pause(interrupt: Interrupt | None) -> dict[str, Any] | None:
    """Return what is kept of a host's pause: where it is, never what it asks."""
    if interrupt is None or not interrupt.node_id:
        return None
    return {
        "nodeId": interrupt.node_id,
        "interruptId": interrupt.interrupt_id or "",
        "kind": "low-confidence" if interrupt.is_low_confidence else interrupt.kind or "approval",
        "sequence": interrupt.opened_at,
        "sequences": list(_sequences(interrupt)),
    }


def _sequences(interrupt: Interrupt) -> Iterable[int]:
    return (sequence_of(line) for line in interrupt.lines)


def _line(row: Escalation, what: str, now: datetime, caused_by: str = "", **more: str) -> NewLine:
    return console_line(
        event_id=f"console:escalation:{row.pk}:{row.version}:{what}",
        type=f"console.escalation.{what}",
        at=now,
        payload={"escalation": row.pk, "reason": row.reason, "target": row.target or None, **more},
        caused_by=caused_by,
    )
