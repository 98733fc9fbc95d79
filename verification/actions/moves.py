"""What every move of an escalation does: lock, change the row, tell the log and the audit chain.

Every action locks the run first and the escalation second, as the judging side does.
"""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from runs.actions.log import console_line
from runs.actions.runs import locked, note
from runs.models import Run
from verification.actions.audit import actor_of, record
from verification.domain import lifecycle
from verification.domain.lifecycle import Move, State
from verification.models import Escalation

TIMEOUT = "system:timeout"
"""Who acts when a queue's time is over."""


def lock(pk: int) -> tuple[Run, Escalation]:
    """Return the run and the escalation, both locked until the transaction ends."""
    run = locked(Escalation.objects.get(pk=pk).run_id)
    found = Escalation.objects.select_for_update(of=("self",))
    escalation = found.select_related("claimed_by", "queue").get(pk=pk)
    escalation.run = run
    return run, escalation


def move(found: Escalation, step: Move, fields: list[str]) -> None:
    """Take a step of the table and save the named fields with it."""
    found.state = lifecycle.next_state(State(found.state), step)
    found.version += 1
    found.save(update_fields=["state", "version", *fields])


def open_again(found: Escalation, step: Move) -> None:
    """Take away the claim."""
    found.claimed_by = found.claimed_at = found.claim_until = None
    move(found, step, ["claimed_by", "claimed_at", "claim_until"])


def settle(found: Escalation, step: Move, because: str, now: datetime) -> None:
    """Take a step after which nobody has to decide any more, and say why."""
    found.claim_until, found.closed_at, found.closed_because = None, now, because
    move(found, step, ["claim_until", "closed_at", "closed_because"])


def tell_log(
    run: Run, found: Escalation, what: str, now: datetime, by: User | None = None, **more: Any
) -> None:
    """Add the Console's own line about it to the run's log.

    What may be done again without moving the escalation on, as saying something is, tells with `n`
    which time it was.
    """
    payload = {"escalation": found.pk, "target": found.target, **more}
    if by is not None:
        payload["by"] = by.get_username()
    which = [found.pk, found.version, what, *([more["n"]] if "n" in more else [])]
    line = console_line(
        event_id=":".join(["console:escalation", *map(str, which)]),
        type=f"console.escalation.{what}",
        at=now,
        payload=payload,
    )
    note(run=run, lines=[line], now=now)


def put_on_record(found: Escalation, what: str, by: User | str, **detail: Any) -> None:
    """Append it to the audit chain; last in a transaction."""
    record(
        workspace=found.workspace_id,
        actor=by if isinstance(by, str) else actor_of(by),
        action=f"escalation.{what}",
        subject=f"escalation:{found.pk}",
        detail={"version": found.version, **detail},
    )
