"""Sends again what was given up: the same bytes with the same key, because a person says so."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs.actions.log import console_line
from runs.actions.runs import locked, note
from verification import bells
from verification.actions.audit import actor_of, record
from verification.domain import lifecycle
from verification.domain.delivery import GIVEN_UP, State
from verification.domain.errors import VerificationError
from verification.domain.lifecycle import Move
from verification.models import Delivery
from verification.situations import person_of


class NotRedrivable(VerificationError):
    """The delivery is not one that was given up."""

    def __init__(self, state: str) -> None:
        self.state = state
        super().__init__(f"A delivery that is {state} is not sent again.")


@transaction.atomic
def redrive(*, delivery: int, by: User, now: datetime | None = None) -> Delivery:
    """Put a delivery that is dead, stopped or undeliverable on its way again.

    Raises:
        NotRedrivable: it is on its way, or arrived.
        NotAllowed: the person's role does not include deciding.
    """
    now = now or timezone.now()
    run = locked(Delivery.objects.get(pk=delivery).run_id)
    found = Delivery.objects.select_for_update().get(pk=delivery)
    lifecycle.check_role(person_of(by, run.workspace_id), Move.RESOLVE)
    state = State(found.state)
    if state not in GIVEN_UP:
        raise NotRedrivable(found.state)
    found.state, found.next_attempt_at, found.started_at = State.WAITING, now, now
    found.words, found.lease_until = "", None
    found.save(update_fields=["state", "next_attempt_at", "started_at", "words", "lease_until"])
    line = console_line(
        event_id=f"console:delivery:{found.pk}:{found.attempts}:redriven",
        type="console.delivery.redriven",
        at=now,
        payload={"delivery": found.pk, "by": by.get_username()},
    )
    note(run=run, lines=[line], now=now)
    bells.ring(bells.DELIVER, found.pk)
    record(
        workspace=run.workspace_id,
        actor=actor_of(by),
        action="delivery.redriven",
        subject=f"delivery:{found.pk}",
        detail={"was": state.value, "attempts": found.attempts},
    )
    return found
