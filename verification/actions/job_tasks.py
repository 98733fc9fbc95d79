"""Brings a job's tasks up to what its history says, and tells each step on the runs they are.

Every task is a child run of the job's run. What it came to is merged into the job by
`output.harvested`, and only where its judges accepted it, a person let it through, or nobody was
asked to judge it: the gates that hosts are held to hold for us.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from verification.actions.job_runs import Told, begin_child, tell, tell_answer
from verification.domain.consensus.queue import ENDED, Task, TaskStatus
from verification.domain.consensus.result import Basis, GateVerdict
from verification.domain.jobs import told
from verification.domain.jobs.told import told_basis
from verification.domain.jobs.words import number_of
from verification.models import Job, JobTask

CHAIN = "core.workflowChain.event"
_KEPT = (
    "status", "verdict", "basis", "rounds", "is_withheld", "is_let_through", "ended_at",
)  # fmt: skip
"""What is saved here; leases change beside it, and events are counted where they are told."""


def keep_tasks(job: Job, tasks: Sequence[Task], now: datetime) -> Mapping[int, JobTask]:
    """Bring the rows of a locked job's tasks up to date, and return them by number."""
    rows = _rows(job, tasks)
    pairs = [(rows[number_of(task.id)], task) for task in tasks]
    begun = [(row, task) for row, task in pairs if row.run is None and _has_begun(task)]
    _keep_each(job, [pair for pair in pairs if pair not in begun], now)
    _begin(job, begun, now)
    _keep_each(job, begun, now)
    return rows


def _keep_each(job: Job, pairs: Iterable[tuple[JobTask, Task]], now: datetime) -> None:
    for row, task in pairs:
        if row.status not in ENDED:
            _keep(job, row, task, now)


def break_off_tasks(job: Job, now: datetime) -> None:
    """End the runs of tasks that are left open, because the job broke."""
    for row in _known(job).values():
        if row.run is not None and row.ended_at is None:
            _tell_child_end(job, row, "cancelled", [("run.cancelled", {})], now)
        if row.status not in ENDED:
            row.status, row.ended_at = TaskStatus.SKIPPED, row.ended_at or now
            row.save(update_fields=["status", "ended_at"])


def _rows(job: Job, tasks: Sequence[Task]) -> dict[int, JobTask]:
    known = _known(job)
    new = [number_of(task.id) for task in tasks if number_of(task.id) not in known]
    JobTask.objects.bulk_create(JobTask(job=job, number=number) for number in new)
    return _known(job) if new else known


def _known(job: Job) -> dict[int, JobTask]:
    rows = {row.number: row for row in JobTask.objects.filter(job=job).select_related("run")}
    for row in rows.values():
        row.job = job
    return rows


def _has_begun(task: Task) -> bool:
    return task.status is TaskStatus.IN_PROGRESS or task.usage is not None


def _begin(job: Job, pairs: Sequence[tuple[JobTask, Task]], now: datetime) -> None:
    """Tell that work on some tasks has begun, in one decision."""
    for row, task in pairs:
        row.assignee = task.assignee or ""
    if not pairs:
        return
    job.iterations += 1
    job.save(update_fields=["iterations"])
    workers = [_worker(row) for row, _ in pairs]
    next_ones = told.comes_next(workers, job.iterations)
    began = [(CHAIN, told.handed("dispatch.began", worker, str(job.uid))) for worker in workers]
    tell(job, [("runOrchestrator.decided", next_ones), *began], now)
    for row, _ in pairs:
        begin_child(task=row, now=now)
        row.status, row.started_at = TaskStatus.IN_PROGRESS, now
        row.save(update_fields=["run", "assignee", "status", "started_at"])
    tell(job, [_step(row, "dispatch.succeeded") for row, _ in pairs], now)


def _keep(job: Job, row: JobTask, task: Task, now: datetime) -> None:
    """Write down what became of a task: its verdict when there is one, its end when it has one."""
    before = [getattr(row, name) for name in _KEPT]
    if row.run is not None and row.ended_at is None:
        if task.verification is not None or task.status is TaskStatus.COMPLETED:
            _give_verdict(job, row, task, now)
        elif task.status in ENDED:
            _give_up(job, row, task, now)
    if task.status in ENDED:
        if task.status is TaskStatus.COMPLETED and not task.is_withheld:
            _merge(job, row, now)
        row.is_withheld, row.is_let_through = task.is_withheld, task.is_let_through
        row.ended_at = row.ended_at or now
    if task.status is not TaskStatus.BLOCKED:
        row.status = task.status.value
    if before != [getattr(row, name) for name in _KEPT]:
        row.save(update_fields=_KEPT)


def _give_verdict(job: Job, row: JobTask, task: Task, now: datetime) -> None:
    """Tell what the task came to and how its judges saw it, before anything is done with it."""
    if task.outcome is not None:
        tell_answer(of=row, agent=row.assignee, text=task.outcome.output, now=now)
    _tell_child_end(job, row, "completed", [("run.completed", {})], now)
    row.ended_at = now
    if task.verification is None:
        return
    basis = told_basis(task.verification.basis, job.stop)
    verdict = GateVerdict.PASS if basis is Basis.QUORUM else GateVerdict.FAIL
    row.verdict, row.basis, row.rounds = verdict.value, basis.value, task.verification.rounds
    assert row.run is not None  # noqa: S101  (see _keep)
    criteria = list(job.shape.get("criteria", []))
    payload = told.verified(row.run.run_id, row.verdict, criteria)
    tell(job, [("agent.verified", payload)], now)


def _give_up(job: Job, row: JobTask, task: Task, now: datetime) -> None:
    failure = None if task.outcome is None else task.outcome.failure
    if task.status is TaskStatus.SKIPPED or (failure is not None and failure.is_cancellation):
        _tell_child_end(job, row, "cancelled", [("run.cancelled", {})], now)
    else:
        code = (failure.code or failure.name) if failure is not None else "TASK_FAILED"
        failed = ("run.failed", {"error": told.error(code)})
        _tell_child_end(job, row, "failed", [failed], now)


def _tell_child_end(
    job: Job, row: JobTask, how: str, events: Sequence[Told], now: datetime
) -> None:
    tell(row, events, now)
    tell(job, [_step(row, f"child.{how}")], now)


def _merge(job: Job, row: JobTask, now: datetime) -> None:
    tell(job, [_step(row, "output.harvested", **told.merged(row.answer_sha256))], now)


def _step(row: JobTask, phase: str, **more: object) -> Told:
    assert row.run is not None  # noqa: S101  (only tasks that have begun are handed around)
    job = str(row.job.uid)
    return CHAIN, told.handed(phase, _worker(row), job, row.run.run_id, **more)


def _worker(row: JobTask) -> str:
    return told.worker_id(row.number, row.assignee)
