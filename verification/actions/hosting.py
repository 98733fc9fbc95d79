"""What an OpenWOP client may do with the Console's own runs: answer one, and prove the gate."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from verification.actions import escalations, jobs
from verification.actions.job_leases import take
from verification.actions.job_loop import work_under
from verification.actions.jobs import Asker
from verification.domain.consensus.result import GateVerdict
from verification.domain.errors import VerificationError
from verification.domain.hosting import approvals
from verification.domain.hosting.proofs import proof
from verification.domain.jobs.request import read_request
from verification.domain.lifecycle import State
from verification.models import Escalation, Job
from verification.situations import choices_of


class ProofPending(VerificationError):
    """A conformance run did not end at once."""

    def __init__(self) -> None:
        super().__init__("The run goes on; send again after a moment.")


@transaction.atomic
def answer(*, asked: Escalation, by: User, value: object) -> None:
    """Decide about a console run by an OpenWOP resume value, as on the queue's page.

    The escalation is claimed for whoever answers, unless they hold it; all or nothing.

    Args:
        asked: open; which.
        by: who decides.
        value: `resumeValue`, as sent.

    Raises:
        UnreadableDecision: the value states no decision that is offered.
        VerificationError: as `escalations.claim` and `escalations.resolve`.
    """
    decision = approvals.decision_in(value, approvals.offered(choices_of(asked, None)))
    if not (asked.state == State.CLAIMED and asked.claimed_by_id == by.pk):
        escalations.claim(escalation=asked.pk, by=by)
    escalations.resolve(escalation=asked.pk, by=by, decision=decision, seen=None)


def prove_gate(*, asker: Asker, verdict: GateVerdict, task: str = "") -> Job:
    """Run a job that comes to a verdict, through ledger, log and gate like any other.

    It is worked on here: rules judge it, which takes no time. Nobody else can take it, since it is
    committed with its lease, so that there is nothing to wait for.

    Raises:
        JobRefused: the task is too long.
        DayIsSpent: as for any job.
        ProofPending: it did not end.
    """
    with transaction.atomic():
        started = jobs.start(request=read_request(proof(verdict, task)), asker=asker).job
        lease = take(job=started.pk, now=timezone.now())
    if lease is not None:
        work_under(lease)
    job = Job.objects.select_related("workspace", "run__host").get(pk=started.pk)
    if not job.has_ended:
        raise ProofPending
    return job
