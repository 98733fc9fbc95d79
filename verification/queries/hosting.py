"""Reads the Console's own runs as an OpenWOP client is shown them."""

from typing import Any

from django.conf import settings

from runs.domain.timestamps import written
from runs.models import Event, Viewer
from runs.queries.api import event_document
from verification.domain.consensus.result import GateVerdict
from verification.domain.gates import LETS_THROUGH, GateState
from verification.domain.hosting import approvals, spelling
from verification.domain.hosting.majors import Major
from verification.domain.jobs.states import JobBasis, Operation
from verification.models import Escalation, Gate, Job, JobTask
from verification.situations import choices_of, opaque_name

MOST_EVENTS = 1000
"""In one answer; a job has some tens."""


def job_named(viewer: Viewer, run: str) -> Job | None:
    """Return the job whose run has this id, as far as the viewer may know of it.

    Args:
        viewer: who asks.
        run: bare, or with its tenant in front, which then must be the right one.
    """
    tenant, bare = spelling.parts_of(run)
    seen = Job.objects.visible_to(viewer).select_related("workspace", "run__host")
    if tenant:
        seen = seen.filter(workspace__slug=tenant)
    found: Job | None = seen.filter(run__run_id=bare).first()
    return found


def id_of(job: Job, major: Major) -> str:
    """Return the id of a job's run as a major spells it."""
    return spelling.run_id(job.run.run_id, job.workspace.slug, major)


def snapshot(job: Job, major: Major) -> dict[str, Any]:
    """Return the run as its snapshot.

    Its status is what its log adds up to. Whether the result may be used is said beside it: where a
    person is asked, `interrupt` says what for.

    Source: OpenWOP run-snapshot.schema.json (v1 and v2).
    """
    asked = next(iter(asked_of(job).items()), None)
    document: dict[str, Any] = {
        "runId": id_of(job, major),
        "workflowId": job.run.workflow_id,
        "status": job.run.status,
        "owner": _owner(job).document(major),
        "eventLogSchemaVersion": spelling.ERA[major],
        "startedAt": written(job.run.started_at),
        "metadata": {
            "operation": job.operation,
            "verdict": job.verdict or None,
            "basis": job.basis or None,
            "outcome": outcome_of(job),
        },
    }
    if job.run.ended_at is not None:
        document["completedAt"] = written(job.run.ended_at)
    if asked is not None:
        node, request = asked
        document["currentNodeId"] = node
        document["interrupt"] = _interrupt(job, node, request)
    return document


def outcome_of(job: Job) -> str:
    """Return what became of a job's result: `pending`, `committed` or `withheld`."""
    if not job.has_ended:
        return "pending"
    if job.operation != Operation.CONSENSUS:
        is_done = job.verdict == GateVerdict.PASS or job.basis == JobBasis.UNVERIFIED
        return "committed" if is_done else "withheld"
    gate = Gate.objects.filter(run=job.run_id, target=target_of(job)).first()
    is_open = gate is not None and GateState(gate.state) in LETS_THROUGH
    return "committed" if is_open else "withheld"


def target_of(job: Job) -> str:
    """Return what a job's verdict is about: its answer, or the job where there is none."""
    return job.decided_event or str(job.uid)


def asked_of(job: Job) -> dict[str, Escalation]:
    """Return the open requests for a person, by the node that asks, the oldest first.

    Each task asks at a node of its own: what was said of one must not be heard for the next.
    """
    waiting = Escalation.objects.waiting().filter(run=job.run_id).select_related("run", "queue")
    tasks, found = _tasks(job), dict[str, Escalation]()
    for each in waiting.order_by("pk"):
        found.setdefault(approvals.node(tasks.get(each.target)), each)
    return found


def was_asked(job: Job, node: str) -> bool:
    """Say whether a person was ever asked at a node."""
    tasks, asked = _tasks(job), Escalation.objects.filter(run=job.run_id)
    targets = asked.values_list("target", flat=True)
    return any(approvals.node(tasks.get(each)) == node for each in targets)


def _tasks(job: Job) -> dict[str, int]:
    """Return the numbers of a job's tasks by the ids of their runs, which verdicts are about."""
    begun = JobTask.objects.filter(job=job, run__isnull=False)
    return dict(begun.values_list("run__run_id", "number"))


def events_of(job: Job, major: Major, above: int) -> list[dict[str, Any]]:
    """Return the run's events above a sequence, in order, as a major spells them."""
    rows = Event.objects.filter(run=job.run_id, origin="host", sequence__gt=above)
    owner = _owner(job)
    return [
        spelling.event(event_document(job.run, row), owner, major)
        for row in rows.order_by("sequence")[:MOST_EVENTS]
    ]


def poll_page(job: Job, major: Major, above: int) -> dict[str, Any]:
    """Return a poll answer: what came after a sequence, and whether more can come.

    Source: OpenWOP openapi.yaml (v1: `{events, isComplete}`), api/v2/openapi.yaml.
    """
    events = events_of(job, major, above)
    last = -1 if job.run.last_sequence is None else job.run.last_sequence
    is_whole = not events or events[-1]["sequence"] >= last
    if major is Major.V1:
        return {"events": events, "isComplete": job.run.is_terminal and is_whole}
    return {
        "runId": id_of(job, major),
        "events": events,
        "lastSequence": events[-1]["sequence"] if events else max(above, -1),
        "status": job.run.status,
        "isTerminal": job.run.is_terminal and is_whole,
    }


def proof_document(job: Job) -> dict[str, Any]:
    """Return what a conformance run came to: the verdict that was told, and what the gate did.

    Source: OpenWOP conformance, verifier-gating: events are flat there.
    """
    told = Event.objects.filter(run=job.run_id, type="agent.verified").order_by("sequence")
    outcome = outcome_of(job)
    is_committed = outcome == "committed"
    return {
        "runId": job.run.run_id,
        "status": "completed" if is_committed else "escalated",
        "committed": is_committed,
        "outcome": outcome,
        "verdict": job.verdict or GateVerdict.FAIL.value,
        "events": [{"type": each.type, **each.payload} for each in told],
    }


def _interrupt(job: Job, node: str, asked: Escalation) -> dict[str, Any]:
    task = JobTask.objects.filter(job=job, run__run_id=asked.target).first()
    about = job if task is None else task
    return approvals.interrupt(
        interrupt_id=f"{job.uid}.{asked.pk}",
        node=node,
        title=approvals.title(about.verdict, None if task is None else task.number),
        artifact=target_of(job) if task is None else asked.target,
        choices=approvals.offered(choices_of(asked, None)),
    )


def _owner(job: Job) -> spelling.Owner:
    return spelling.Owner(
        tenant=job.workspace.slug,
        name=opaque_name(job.asked_by),
        is_person=job.asked_by.startswith("person:"),
        issuer=settings.CONSOLE_URL,
    )
