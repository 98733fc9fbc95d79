"""Writes what people decided into the outbox, as bytes that will not change again.

Called with the run locked, in the transaction that records the decision. Nothing is sent here.
"""

import uuid
from datetime import datetime

from runs.models import Run
from verification import bells
from verification.actions.content import keep
from verification.domain.delivery import Door, State
from verification.domain.frozen import FrozenBody, resume_body
from verification.domain.outgoing import Resolved, review_resolved
from verification.domain.resume import Resume
from verification.models import Comment, Delivery, Escalation, Resolution, ReviewWebhook, Vote

Source = Resolution | Comment | Vote | None
"""What a delivery carries: a decision, a turn, one vote of several; None: the time ran out."""


def post(
    *, escalation: Escalation, run: Run, value: Resume, source: Source, now: datetime, at: datetime
) -> Delivery:
    """Put a resume value on its way to the host's interrupt.

    Args:
        escalation: what it is about; its pause is open.
        run: locked.
        value: what the host is sent.
        source: whose word it is.
        now: our clock.
        at: when the first attempt is due.
    """
    body = resume_body(value.value)
    return _write(escalation, run, body, source, Door.INTERRUPT, now, at)


def tell_by_webhook(
    *,
    escalation: Escalation,
    run: Run,
    resolution: Resolution,
    told: Resolved,
    now: datetime,
    at: datetime,
) -> Delivery | None:
    """Tell a host that has a webhook, and no pause that takes the decision; None: it has none."""
    if not ReviewWebhook.objects.filter(host=run.host_id).exists():
        return None
    return _write(escalation, run, review_resolved(told), resolution, Door.WEBHOOK, now, at)


def _write(
    escalation: Escalation,
    run: Run,
    body: FrozenBody,
    source: Source,
    door: Door,
    now: datetime,
    at: datetime,
) -> Delivery:
    content = keep(workspace=run.workspace_id, kind="resume", body=body.content)
    delivery = Delivery.objects.create(
        escalation=escalation,
        resolution=source if isinstance(source, Resolution) else None,
        comment=source if isinstance(source, Comment) else None,
        vote=source if isinstance(source, Vote) else None,
        door=door,
        run=run,
        host_id=run.host_id,
        node_id=(escalation.interrupt or {}).get("nodeId", ""),
        after_sequence=-1 if run.last_sequence is None else run.last_sequence,
        idempotency_key=str(uuid.uuid4()),
        content=content,
        sha256=body.sha256,
        created_at=now,
        state=State.WAITING,
        next_attempt_at=at,
    )
    bells.ring(bells.DELIVER, delivery.pk)
    return delivery
