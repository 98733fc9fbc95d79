"""Tells a job as a run of the Console's own host, through the log that every run is in.

Called in the transaction that records what is told, with the job's row locked, so that each event
is told once, in order, and never before it is true.
"""

import hashlib
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
from verification.actions.judge import judge
from verification.domain.jobs import told
from verification.domain.jobs.states import Stop
from verification.domain.signals import VERDICT_RECORDED
from verification.models import ConsoleHost, Content, Job, JudgeVote
from verification.situations import opaque_name


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


def tell_answer(*, job: Job, agent: str, content: Content, now: datetime) -> None:
    """Tell that there is an answer to be judged, by reference; later verdicts are about it."""
    payload = told.decided(agent, content.pk, content.sha256, job.rounds)
    (event_id,) = _tell(job, [("agent.decided", payload)], now)
    job.answer, job.answer_sha256, job.decided_event = content, content.sha256, event_id
    job.save(update_fields=["answer", "answer_sha256", "decided_event"])


def tell_vote(*, vote: JudgeVote, now: datetime) -> None:
    """Note on the job's run how a judge voted."""
    job = vote.job
    line = console_line(
        event_id=f"console:vote:{job.uid}:{vote.step.position}",
        type="console.judge.voted",
        at=now,
        payload=told.voted(
            vote.judge, vote.round, accepted=vote.accepted, call_failed=vote.call_failed
        ),
        caused_by=job.decided_event,
    )
    note(run=locked(job.run_id), lines=[line], now=now)


def tell_end(*, job: Job, now: datetime) -> None:
    """Give the verdict and end the run; where the job was about a host's run, say so there too."""
    target = job.decided_event or str(job.uid)
    verdict = told.verified(target, job.verdict, list(job.shape.get("criteria", [])))
    events: list[tuple[str, Mapping[str, Any]]] = [("agent.verified", verdict)]
    if job.stop == Stop.CANCELLED:
        events.append(("run.cancelled", {}))
    else:
        events.append(("runOrchestrator.decided", told.concluded(job.verdict)))
        events.append(("run.completed", {}))
    _tell(job, events, now)
    if job.about_run_id is not None:
        _tell_on_target(job, now)


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


def _tell(
    job: Job, events: Sequence[tuple[str, Mapping[str, Any]]], now: datetime
) -> tuple[str, ...]:
    """Append events to the job's run and return their ids."""
    run_id = str(job.uid)
    envelopes = [
        _envelope(run_id, sequence, type_, payload, now)
        for sequence, (type_, payload) in enumerate(events, job.events_emitted + 1)
    ]
    batch = Batch(list(enumerate(envelopes)))
    append(host=job.run.host, batches={run_id: batch}, now=now)
    job.events_emitted += len(events)
    job.save(update_fields=["events_emitted"])
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
