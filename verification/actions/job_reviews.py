"""Sends a job's pass to a person: what the judges accepted is looked at by somebody."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from runs.actions.runs import locked, note
from verification.actions.asking import SAMPLE, ask_about_pass
from verification.actions.audit import record
from verification.actions.queues import queue_for
from verification.domain.errors import VerificationError
from verification.domain.gates import GateState
from verification.domain.routing import Matter
from verification.models import Escalation, Gate, Job


class NothingToReview(VerificationError):
    """Only a pass can be sent to a person; whatever else a job came to waits for one already."""

    def __init__(self) -> None:
        super().__init__("Only a job that has passed can be sent to a person.")


@transaction.atomic
def send_to_person(*, job: Job, by: str, now: datetime | None = None) -> Escalation:
    """Ask a person whether a job's pass was right; once asked, the same escalation is returned.

    Raises:
        NothingToReview: the job has not passed, or a person has overruled it.
    """
    now = now or timezone.now()
    run = locked(job.run_id)
    gate = Gate.objects.filter(run=run, state=GateState.PASSED.value).first()
    if gate is None:
        raise NothingToReview
    asked = Escalation.objects.filter(run=run, reason=SAMPLE, target=gate.target)
    if not asked.exists():
        matter = Matter((SAMPLE,), run.host.slug, run.workflow_id, gate.actor)
        queue = queue_for(run.workspace_id, matter)
        line = ask_about_pass(run, gate.target, queue, run.last_position, now)
        note(run=run, lines=[line], now=now)
        run.open_escalations = Escalation.objects.waiting().filter(run=run).count()
        run.save(update_fields=["open_escalations"])
        record(
            workspace=run.workspace_id,
            actor=by,
            action="job.sent_to_person",
            subject=f"job:{job.uid}",
            now=now,
        )
    found: Escalation = asked.order_by("-pk")[0]
    return found
