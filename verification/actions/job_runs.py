"""Tells a job as a run of the Console's own host, through the log that every run is in.

Called in the transaction that records what is told, with the job's row locked, so that each event
is told once, in order, and never before it is true.
"""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import rfc8785
from django.db import IntegrityError, transaction

from runs.actions.append import Batch, append
from runs.actions.hosts import advertise
from runs.actions.log import console_line
from runs.actions.runs import locked, note
from runs.domain.log import Envelope
from runs.models import Host, Run, Workspace
from verification.actions.content import digest_of, keep
from verification.actions.judge import judge
from verification.domain.consensus.result import GateVerdict
from verification.domain.jobs import told
from verification.domain.jobs.states import JobBasis, Operation, Stop
from verification.domain.signals import VERDICT_RECORDED
from verification.models import ConsoleHost, Job, JobTask, JudgeVote
from verification.situations import opaque_name

Told = tuple[str, Mapping[str, Any]]
"""Type and payload of an event."""


def console_host(workspace: Workspace) -> Host:
    """Return the built-in host of a workspace, made when it is first needed."""
    found = ConsoleHost.objects.select_related("host").filter(workspace=workspace).first()
    if found is not None:
        return found.host
    try:
        with transaction.atomic():
            host = Host.objects.create(
                workspace=workspace, slug=_free_slug(workspace), name="Console", is_own=True
            )
            ConsoleHost.objects.create(workspace=workspace, host=host)
    except IntegrityError:  # somebody else was first
        return ConsoleHost.objects.select_related("host").get(workspace=workspace).host
    advertise(host=host, document=told.CAPABILITIES)
    return host


def _free_slug(workspace: Workspace) -> str:
    first = "console" if workspace.slug == "default" else f"console-{workspace.slug}"[:60]
    taken = set(Host.objects.filter(slug__startswith=first).values_list("slug", flat=True))
    return next(
        each
        for each in (first if n == 1 else f"{first}-{n}" for n in range(1, len(taken) + 2))
        if each not in taken
    )


def tell_start(*, host: Host, run_id: str, operation: str, asked_by: str, now: datetime) -> Run:
    """Begin the run of a job that is about to be created; its row comes after."""
    payload = told.started(operation, host.workspace.slug, opaque_name(asked_by))
    envelope = _envelope(run_id, 0, "run.started", payload, now)
    outcome = append(host=host, batches={run_id: Batch([(0, envelope)])}, now=now)
    return outcome.runs[0]


def tell_answer(*, of: Job | JobTask, agent: str, text: str, now: datetime) -> None:
    """Tell of an answer, by reference, unless it is the one told last; later verdicts are about it.

    Args:
        of: the locked job, or a task of one.
        agent: whose answer it is.
        text: the answer. Content.
        now: our clock.
    """
    body = text.encode("utf-8", "surrogatepass")
    if digest_of(body) == of.answer_sha256:
        return
    job = of if isinstance(of, Job) else of.job
    content = keep(workspace=job.workspace_id, kind="job.answer", body=body)
    payload = told.decided(agent, content.pk, content.sha256, of.rounds)
    (event_id,) = tell(of, [("agent.decided", payload)], now)
    of.answer, of.answer_sha256, of.decided_event = content, content.sha256, event_id
    of.save(update_fields=["answer", "answer_sha256", "decided_event"])


def tell_vote(*, vote: JudgeVote, task: JobTask | None, now: datetime) -> None:
    """Note on the run of the job, or of its task, how a judge voted."""
    job = vote.job
    of = job if task is None else task
    assert of.run_id is not None  # noqa: S101  (nobody is judged before it has begun)
    line = console_line(
        event_id=f"console:vote:{job.uid}:{vote.step.position}",
        type="console.judge.voted",
        at=now,
        payload=told.voted(
            vote.judge, vote.round, accepted=vote.accepted, call_failed=vote.call_failed
        ),
        caused_by=of.decided_event,
    )
    note(run=locked(of.run_id), lines=[line], now=now)


def tell_end(*, job: Job, now: datetime) -> None:
    """Give the verdict and end the run; where the job was about a host's run, say so there too."""
    if job.operation != Operation.CONSENSUS:
        _tell_end_of_tasks(job, now)
        return
    target = job.decided_event or str(job.uid)
    verdict = told.verified(target, job.verdict, list(job.shape.get("criteria", [])))
    events: list[tuple[str, Mapping[str, Any]]] = [("agent.verified", verdict)]
    if job.stop == Stop.CANCELLED:
        events.append(("run.cancelled", {}))
    else:
        events.append(("runOrchestrator.decided", told.concluded(job.verdict)))
        events.append(("run.completed", {}))
    tell(job, events, now)
    if job.about_run_id is not None:
        _tell_on_target(job, now)


def _tell_end_of_tasks(job: Job, now: datetime) -> None:
    """End the run of a job of tasks; the verdicts on its tasks have been told."""
    if job.stop == Stop.CANCELLED:
        tell(job, [("run.cancelled", {})], now)
        return
    job.iterations += 1
    is_met = job.verdict == GateVerdict.PASS or job.basis == JobBasis.UNVERIFIED
    end = told.ends(is_met, job.iterations)
    tell(job, [("runOrchestrator.decided", end), ("run.completed", {})], now)
    job.save(update_fields=["iterations"])


def tell_pause(*, job: Job, now: datetime) -> None:
    """Stop a job's clock, and say on its run that nothing goes on before a person has decided."""
    job.paused_at = now
    job.save(update_fields=["paused_at"])
    tell(job, [("run.paused", told.pauses())], now)


def tell_going_on(*, job: Job, now: datetime) -> None:
    """Let a job's clock go on, which may not have run for others than those who decide."""
    assert job.paused_at is not None  # noqa: S101  (the caller has looked)
    job.deadline_at += now - job.paused_at
    job.paused_at = None
    job.save(update_fields=["deadline_at", "paused_at"])
    tell(job, [("run.resumed", {})], now)


def begin_child(*, task: JobTask, now: datetime) -> None:
    """Begin the run of a task; the job's own run says so before and after."""
    job = task.job
    run_id = str(uuid.uuid5(job.uid, f"task-{task.number}"))
    started = told.task_started(str(job.uid), task.number)
    envelope = _envelope(run_id, 0, "run.started", started, now)
    outcome = append(host=job.run.host, batches={run_id: Batch([(0, envelope)])}, now=now)
    task.run = outcome.runs[0]


def _tell_on_target(job: Job, now: datetime) -> None:
    assert job.about_run_id is not None  # noqa: S101  (the caller has looked)
    run = locked(job.about_run_id)
    said = told.verified(job.about_target, job.verdict, list(job.shape.get("criteria", [])))
    at = -1 if run.last_sequence is None else run.last_sequence
    line = console_line(
        event_id=f"console:verdict:{job.uid}",
        type=VERDICT_RECORDED,
        at=now,
        payload={**said, "atSequence": at, "job": str(job.uid)},
    )
    note(run=run, lines=[line], now=now)
    judge(run=run, now=now)


def tell(of: Job | JobTask, events: Sequence[Told], now: datetime) -> tuple[str, ...]:
    """Append events to the run of a locked job, or of its task, and return their ids."""
    job = of if isinstance(of, Job) else of.job
    assert of.run is not None  # noqa: S101  (nothing is told of what has not begun)
    run_id = of.run.run_id
    envelopes = [
        _envelope(run_id, sequence, type_, payload, now)
        for sequence, (type_, payload) in enumerate(events, of.events_emitted + 1)
    ]
    batch = Batch(list(enumerate(envelopes)))
    append(host=job.run.host, batches={run_id: batch}, now=now)
    of.events_emitted += len(events)
    of.save(update_fields=["events_emitted"])
    return tuple(each.event_id for each in envelopes)


def _envelope(
    run_id: str, sequence: int, type_: str, payload: Mapping[str, Any], now: datetime
) -> Envelope:
    return Envelope(
        run_id=run_id,
        event_id=f"{run_id}.{sequence}",
        sequence=sequence,
        type=type_,
        wire_type=type_,
        timestamp=now,
        payload=dict(payload),
        digest=hashlib.sha256(rfc8785.dumps({"type": type_, "payload": dict(payload)})).digest(),
    )
