"""Brings the open escalations of a run in line with what the run wants a person for."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

from django.conf import settings

from runs.actions.log import NewLine, console_line
from runs.domain.interrupts import Interrupt
from runs.domain.projection import Outcome
from runs.models import Run
from verification import bells
from verification.actions import notifying
from verification.actions.moves import settle
from verification.actions.queues import default_queue, queue_for
from verification.domain.conclude import Conclusions
from verification.domain.escalations import Escalation as Wanted
from verification.domain.gates import GateState
from verification.domain.lifecycle import Move, State
from verification.domain.notifying import Note
from verification.domain.routing import Matter, risk_of
from verification.domain.sampling import is_sampled
from verification.models import Escalation, Gate, Queue
from verification.situations import (
    due_at_of,
    interrupt_of,
    matter_digest,
    matter_of,
    tells_enough,
    view_digest,
)

SAMPLE = "audit_sample"
_SETTLED_WITHOUT_A_WORD = (State.EXPIRED.value, State.MOOT.value)


def settle_escalations(run: Run, conclusions: Conclusions, now: datetime) -> list[NewLine]:
    """Open what is new, join reasons to what is known, close what nobody needs any more."""
    known = list(Escalation.objects.waiting().filter(run=run).order_by("pk"))
    lines = []
    for row in known:
        row.run = run
    for wanted in conclusions.escalations:
        row = next((each for each in known if each.key in wanted.aliases), None)
        if row is None:
            lines += _open(run, wanted, conclusions, now)
        else:
            known.remove(row)
            _join(row, wanted, conclusions, now)
    sampled = [row for row in known if row.reason == SAMPLE and _still_passes(row, conclusions)]
    gone = [row for row in known if row not in sampled]
    return [
        *lines,
        *(_close(row, conclusions, now) for row in gone),
        *_sample(run, conclusions, now),
    ]


def _open(run: Run, wanted: Wanted, conclusions: Conclusions, now: datetime) -> list[NewLine]:
    row = _row(run, wanted, now)
    row.matter = _matter(row, conclusions)
    if _is_closed_for_good(row, wanted):
        return []
    asks = interrupt_of(row)
    row.due_at = due_at_of(row, now, asks)
    row.ask_host_at = None if tells_enough(asks) else now
    row.save()
    notifying.tell(escalation=row, note=Note.OPENED, now=now)
    if row.ask_host_at is not None:
        bells.ring(bells.LEARN, row.pk)
    return [_line(row, "opened", now, caused_by=wanted.opened_by.event_id)]


def _is_closed_for_good(row: Escalation, wanted: Wanted) -> bool:
    """Say whether the same matter expired, or an admin closed it, and nothing is new since."""
    last = Escalation.objects.filter(run=row.run_id, key__in=wanted.aliases).order_by("-pk").first()
    if last is None or last.state not in _SETTLED_WITHOUT_A_WORD:
        return False
    is_ours = last.state == State.EXPIRED or last.closed_because == "closed_by_admin"
    return bool(is_ours and last.matter == row.matter)


def _row(run: Run, wanted: Wanted, now: datetime) -> Escalation:
    reasons = [reason.value for reason in wanted.reasons]
    actor = Gate.objects.filter(run=run, target=wanted.target or "").values_list("actor", flat=True)
    matter = Matter(tuple(reasons), run.host.slug, run.workflow_id, actor.first() or "")
    return _placed(
        queue_for(run.workspace_id, matter),
        now,
        Escalation(
            workspace_id=run.workspace_id,
            run=run,
            key=wanted.key,
            target=wanted.target or "",
            reason=wanted.reason.value,
            reasons=reasons,
            interrupt=_pause(wanted.interrupt),
            opened_position=wanted.opened_by.position,
        ),
    )


def _placed(queue: Queue, now: datetime, row: Escalation) -> Escalation:
    row.queue, row.risk, row.state = queue, risk_of(row.reasons).value, State.OPEN
    row.opened_at, row.due_at = now, due_at_of(row, now, None)
    return row


def _sample(run: Run, conclusions: Conclusions, now: datetime) -> list[NewLine]:
    """Ask about a share of the passes, so that false passes are not invisible."""
    shares = Queue.objects.filter(workspace=run.workspace_id, sample_percent__gt=0)
    if not shares.exists():
        return []

    @cache
    def place(actor: str) -> tuple[Queue, float]:
        matter = Matter((SAMPLE,), run.host.slug, run.workflow_id, actor)
        queue = queue_for(run.workspace_id, matter)
        return queue, queue.sample_percent or default_queue(run.workspace_id).sample_percent

    sampled = Escalation.objects.filter(run=run, key__startswith=_key_of_pass(""))
    keys = set(sampled.values_list("key", flat=True))
    lines = []
    for target, gate in conclusions.gates.items():
        if gate.state is not GateState.PASSED:
            continue
        queue, share = place(gate.subject.actor or "")
        if not is_sampled(f"{run.host_id}:{run.run_id}:{target}", share, settings.CONSOLE_UUID):
            continue
        if _key_of_pass(target) in keys:
            continue
        position = max(each.line.position for each in gate.standing)
        lines.append(ask_about_pass(run, target, queue, position, now))
    return lines


def ask_about_pass(run: Run, target: str, queue: Queue, position: int, now: datetime) -> NewLine:
    """Ask a person whether a pass was right, and return the line that says so."""
    row = _placed(
        queue,
        now,
        Escalation(
            workspace_id=run.workspace_id,
            run=run,
            key=_key_of_pass(target),
            target=target,
            reason=SAMPLE,
            reasons=[SAMPLE],
            interrupt=None,
            opened_position=position,
        ),
    )
    row.matter = matter_of(row)
    row.save()
    notifying.tell(escalation=row, note=Note.OPENED, now=now)
    return _line(row, "opened", now)


def _key_of_pass(target: str) -> str:
    return f"sample:{target}"


def _still_passes(row: Escalation, conclusions: Conclusions) -> bool:
    return conclusions.state_of(row.target) is GateState.PASSED


def _matter(row: Escalation, conclusions: Conclusions) -> str:
    """Return what `matter_of` does, from what was just concluded instead of from the tables."""
    gate = conclusions.gates.get(row.target)
    subject = gate.subject.line if gate else None
    standing = [each.line.event_id for each in gate.standing] if gate else []
    return matter_digest(view_digest(row, subject.event_id if subject else ""), standing)


def _join(row: Escalation, wanted: Wanted, conclusions: Conclusions, now: datetime) -> None:
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
    matter = _matter(row, conclusions)
    if matter != row.matter:
        row.matter = matter
        changed.append("matter")
    if "interrupt" in changed:
        asks = interrupt_of(row)
        row.due_at = min(row.due_at, due_at_of(row, now, asks))
        changed.append("due_at")
        if not tells_enough(asks):
            row.ask_host_at = now
            changed.append("ask_host_at")
            bells.ring(bells.LEARN, row.pk)
    if changed:
        row.version += 1
        row.save(update_fields=[*changed, "version"])


def _close(row: Escalation, conclusions: Conclusions, now: datetime) -> NewLine:
    settle(row, Move.CLOSE, _why_moot(row, conclusions), now)
    notifying.stop(escalation=row, because="moot")
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
        "sequence": int(interrupt.opened_at),
        "sequences": list(_sequences(interrupt)),
    }


def _sequences(interrupt: Interrupt) -> Iterable[int]:
    return (line.sequence for line in interrupt.lines if line.sequence is not None)


def _line(row: Escalation, what: str, now: datetime, caused_by: str = "", **more: str) -> NewLine:
    return console_line(
        event_id=f"console:escalation:{row.pk}:{row.version}:{what}",
        type=f"console.escalation.{what}",
        at=now,
        payload={"escalation": row.pk, "reason": row.reason, "target": row.target or None, **more},
        caused_by=caused_by,
    )
