"""Keeps what a job shows of itself: spans, votes, memory. Derived from its history, row by row."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from verification.actions.content import keep
from verification.actions.job_runs import Told, tell, tell_vote
from verification.domain.consensus import observed as seen
from verification.domain.consensus.failures import Status
from verification.domain.consensus.result import Result
from verification.domain.jobs import told
from verification.domain.jobs.states import Operation
from verification.domain.jobs.words import number_of
from verification.models import Job, JobStep, JobTask, JudgeVote, MemoryEntry, Span

_CONTENT = frozenset({"oma.task.title", "oma.task.role"})
"""Attributes that somebody wrote: they stay out of spans."""


def keep_observed(job: Job, shown: seen.Observed, now: datetime) -> None:
    """Bring spans and memory up to what the job has shown; clocks are ours, order is its own."""
    _keep_spans(job, shown, now)
    _keep_memory(job, shown, now)


def _keep_spans(job: Job, shown: seen.Observed, now: datetime) -> None:
    held = {row.number: row for row in Span.objects.filter(job=job)}
    new: list[Span] = []
    changed: list[Span] = []
    for span in shown.spans:
        row = held.get(span.number)
        if row is None:
            row = Span(job=job, number=span.number, parent=span.parent, started_at=now)
            row.kind, row.name = span.kind.value, span.name
            new.append(row)
        elif row.ended_at is None and _has_changed(row, span):
            changed.append(row)
        else:
            continue
        row.attributes, row.events = _plain(span.attributes), _events(row, span, now)
        if span.status is not None:
            row.status, row.ended_at = span.status.value, now
    Span.objects.bulk_create(new)
    Span.objects.bulk_update(changed, ["attributes", "events", "status", "ended_at"])


def _has_changed(row: Span, span: seen.Span) -> bool:
    return span.has_ended or len(span.events) > len(row.events)


def _events(row: Span, span: seen.Span, now: datetime) -> list[dict[str, Any]]:
    known: list[dict[str, Any]] = list(row.events)
    new = [
        {"name": event.name, "attributes": _plain(event.attributes), "at": now.isoformat()}
        for event in span.events[len(known) :]
    ]
    return known + new


def _plain(attributes: Mapping[str, object]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, bool | int | float) else str(value)
        for name, value in attributes.items()
        if name not in _CONTENT
    }


def _keep_memory(job: Job, shown: seen.Observed, now: datetime) -> None:
    known = MemoryEntry.objects.filter(job=job).count()
    written: list[Told] = []
    for number, write in enumerate(shown.memory[known:], known):
        body = write.value.encode("utf-8", "surrogatepass")
        written.append(("memory.written", told.written(write.agent, write.key, number)))
        MemoryEntry.objects.create(
            job=job,
            number=number,
            namespace=write.agent,
            key=write.name,
            value=keep(workspace=job.workspace_id, kind="job.memory", body=body),
            at=now,
        )
    if written and job.operation != Operation.CONSENSUS:
        tell(job, written, now)


def keep_vote(job: Job, step: JobStep, shown: seen.Observed, now: datetime) -> None:
    """Record the vote that a judge's reply was, unless the reply was void, and tell it."""
    said = [event for event in shown.trace if event.type == "consensus"]
    if len(said) <= JudgeVote.objects.filter(job=job).count():
        return
    task = task_named(job, step.task) if step.task else None
    details = said[-1].details
    critique = str(details.get("dissent", "")).encode("utf-8", "surrogatepass")
    vote = JudgeVote.objects.create(
        job=job,
        task=step.task,
        round=int(str(details["round"])),
        judge=said[-1].agent,
        accepted=details["accepted"] is True,
        call_failed=step.failure is not None,
        critique=keep(workspace=job.workspace_id, kind="job.critique", body=critique)
        if critique
        else None,
        step=step,
        fence=step.fence,
        at=now,
    )
    of = job if task is None else task
    of.rounds = max(of.rounds, vote.round)
    of.save(update_fields=["rounds"])
    tell_vote(vote=vote, task=task, now=now)


def task_named(job: Job, name: str) -> JobTask:
    """Return the row of a task by the name that the rules give it: `task-3`."""
    found = JobTask.objects.select_related("run").get(job=job, number=number_of(name))
    found.job = job
    return found


def keep_criteria(job: Job, result: Result) -> None:
    """Add to the votes what their judges say they went by."""
    for vote in result.votes:
        if vote.criteria:
            JudgeVote.objects.filter(job=job, round=vote.round, judge=vote.judge).update(
                criteria=list(vote.criteria)
            )


def close_spans(job: Job, now: datetime) -> None:
    """End what is still open, because the job broke."""
    Span.objects.filter(job=job, ended_at=None).update(ended_at=now, status=Status.ERROR.value)
