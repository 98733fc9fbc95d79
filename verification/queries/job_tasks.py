"""Reads runs of tasks and of teams for pages and the API: graph, plan, votes, memory, progress.

Titles, descriptions, plans and what was said are content: where it has been erased, or a job cannot
be read back any more, `team_view` still tells what the rows hold, with empty words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from verification.domain.consensus.asks import AskPerson
from verification.domain.consensus.history import Phase
from verification.domain.consensus.plan import Plan
from verification.domain.consensus.queue import ENDED, Task, TaskSpec, TaskStatus
from verification.domain.consensus.rules import Panel
from verification.domain.consensus.steps import Done, Standing, standing
from verification.domain.consensus.tasks import TaskRules
from verification.domain.consensus.team_result import TeamResult
from verification.domain.errors import VerificationError
from verification.domain.jobs import grid
from verification.domain.jobs.estimates import (
    Kind,
    Progress,
    Span,
    judging_for,
    less,
    seconds_left,
    total,
    work_for,
)
from verification.domain.jobs.states import SETTLED, Operation, StepState
from verification.domain.jobs.words import number_of
from verification.job_ledger import PlanResolution, load, plan_resolution
from verification.models import Content, Escalation, Job, JobStep, JobTask, JudgeVote, MemoryEntry


@dataclass(frozen=True, slots=True)
class Cast:
    """One vote on a task."""

    number: int
    """Of the vote, among all there are."""
    round: int
    judge: str
    accepted: bool
    call_failed: bool
    critique: str
    """Content."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """One task: what it is, how far it is, how its judges stand, what it cost."""

    number: int
    title: str
    """Content, like description, output and critiques."""
    description: str
    assignee: str
    depends_on: tuple[int, ...]
    state: str
    """pending, blocked, working, judging, revising, waiting (for a person), completed, withheld,
    failed or skipped."""
    verdict: str
    basis: str
    is_let_through: bool
    rounds: int
    judges: tuple[str, ...]
    """In roster order; empty where nobody was asked to judge."""
    quorum: int
    grid: tuple[grid.Row, ...]
    votes: tuple[Cast, ...]
    output: str
    """What it came to; a withheld result too."""
    failure: str
    """In closed words; empty when it did not fail."""
    tokens: int
    """Of all its calls, judges and revisions included."""
    worker_tokens: int
    cost_usd: Decimal
    calls: int
    run_id: str
    """Of its own run; empty before it has begun."""
    escalation: int | None
    """The open one about its verdict."""
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Edge:
    """The second task waits for the first."""

    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One task as it is run: what was planned, with the panel that was laid over it."""

    title: str
    description: str
    assignee: str
    depends_on: tuple[str, ...]
    verify: Mapping[str, Any] | None
    """`{judges, mode, quorum, maxRounds, onDissent}`, as they count; None: not verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """A team's plan."""

    proposed: Plan | None
    """As the coordinator gave it: tasks as mappings, in its own words. Content."""
    resolved: tuple[Planned, ...]
    """As it is run; empty before it may be."""
    awaits_approval: bool
    resolution: PlanResolution | None
    """What a person decided about it."""


@dataclass(frozen=True, slots=True)
class Written:
    """One value that a key of shared memory had. Content."""

    number: int
    value: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Memory:
    """One key of shared memory, with every value it had, the newest last."""

    namespace: str
    key: str
    history: tuple[Written, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamView:
    """A run of tasks or of a team."""

    operation: str
    goal: str
    """Content; empty for a run of tasks."""
    tasks: tuple[TaskView, ...]
    edges: tuple[Edge, ...]
    plan: PlanView | None
    """None for a run of tasks, whose plan is the request."""
    memory: tuple[Memory, ...]
    synthesis: str | None
    """The final answer. Content."""
    failure: str
    """Why the run as a whole failed, in closed words; empty when it did not."""
    replies: tuple[str, ...]
    """What the coordinator said when it was asked for a plan. Content."""
    progress: Progress
    waits_for_person: bool


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the tables hold of a job."""

    job: Job
    tasks: Mapping[int, JobTask]
    steps: Sequence[JobStep]
    votes: Sequence[JudgeVote]
    escalations: Mapping[str, int]
    """Open ones, by target."""


def team_view(job: Job) -> TeamView | None:
    """Return how a run of tasks or of a team stands; None for a consensus."""
    if job.operation == Operation.CONSENSUS:
        return None
    rows, goal, where = _rows(job), "", None
    try:
        ledger = load(job)
        goal = ledger.request.question
        where = standing(ledger.rules, ledger.history)
        rules = ledger.rules
    except VerificationError:
        rules = None
    tasks = () if where is None else where.tasks
    if where is None or not tasks:
        known: dict[int, Task] = {}
    else:
        known = {number_of(task.id): task for task in tasks}
    depends = _depends(rows, known)
    views = tuple(
        _task(rows, number, known.get(number), depends[number], where) for number in sorted(depends)
    )
    return TeamView(
        operation=job.operation,
        goal=goal,
        tasks=views,
        edges=tuple(Edge(each, number) for number in sorted(depends) for each in depends[number]),
        plan=None if isinstance(rules, TaskRules) or where is None else _plan(job, where),
        memory=_memory(job),
        synthesis=None if where is None else _synthesis(where),
        failure="" if where is None else _failure(where),
        replies=_replies(job),
        progress=_progress(rows, known),
        waits_for_person=job.paused_at is not None,
    )


def _rows(job: Job) -> _Rows:
    waiting = Escalation.objects.waiting().filter(run=job.run_id)
    votes = JudgeVote.objects.filter(job=job).select_related("critique")
    return _Rows(
        job=job,
        tasks={row.number: row for row in JobTask.objects.filter(job=job).select_related("run")},
        steps=list(JobStep.objects.filter(job=job).order_by("position")),
        votes=list(votes.order_by("pk")),
        escalations=dict(waiting.values_list("target", "pk")),
    )


def _depends(rows: _Rows, known: Mapping[int, Task]) -> dict[int, tuple[int, ...]]:
    if not known:
        return dict.fromkeys(rows.tasks, ())
    return {
        number: tuple(sorted(map(number_of, task.depends_on))) for number, task in known.items()
    }


def _task(
    rows: _Rows,
    number: int,
    task: Task | None,
    depends_on: tuple[int, ...],
    where: Standing | None,
) -> TaskView:
    name = f"task-{number}"
    row = rows.tasks.get(number) or JobTask(job=rows.job, number=number)
    steps = [step for step in rows.steps if step.task == name]
    votes = [vote for vote in rows.votes if vote.task == name]
    panel = None if task is None else task.spec.verify
    judges = () if panel is None else tuple(judge.name for judge in panel.judges)
    run_id = row.run.run_id if row.run is not None else ""
    outcome = None if task is None else task.outcome
    failure = None if outcome is None else outcome.failure
    return TaskView(
        number=number,
        title="" if task is None else task.spec.title,
        description="" if task is None else task.spec.description,
        assignee=row.assignee or ("" if task is None else task.assignee or ""),
        depends_on=depends_on,
        state=_state(row, task, steps, where),
        verdict=row.verdict,
        basis=row.basis,
        is_let_through=row.is_let_through,
        rounds=max((vote.round for vote in votes), default=row.rounds),
        judges=judges,
        quorum=0 if panel is None else _whole(panel.needed_accepts),
        grid=grid_of(
            judges,
            votes,
            steps,
            basis=row.basis,
            has_ended=row.ended_at is not None or row.job.has_ended,
        )
        if judges
        else (),
        votes=tuple(_cast(vote) for vote in votes),
        output="" if outcome is None else outcome.output,
        failure="" if failure is None else failure.code or failure.kind.value,
        tokens=sum(step.input_tokens + step.output_tokens for step in steps),
        worker_tokens=sum(
            step.input_tokens + step.output_tokens for step in steps if step.phase == Phase.WORKER
        ),
        cost_usd=sum((step.cost_usd or Decimal(0) for step in steps), Decimal(0)),
        calls=sum(step.state in SETTLED for step in steps),
        run_id=run_id,
        escalation=rows.escalations.get(run_id) if run_id else None,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


_DOING = {Phase.WORKER: "working", Phase.JUDGE: "judging", Phase.REVISION: "revising"}


def _state(
    row: JobTask, task: Task | None, steps: Sequence[JobStep], where: Standing | None
) -> str:
    """Return in one word how far a task is."""
    if row.job.has_ended or row.status in (TaskStatus.FAILED, TaskStatus.SKIPPED):
        if row.is_withheld:
            return "withheld"
        return row.status if row.status in ENDED else "skipped"
    if row.status == TaskStatus.COMPLETED:
        return "withheld" if row.is_withheld else "completed"
    asked = [each for each in (where.pending if where else ()) if task and each.task == task.id]
    if any(isinstance(each, AskPerson) for each in asked):
        return "waiting"
    is_begun = task is not None and task.status is TaskStatus.IN_PROGRESS
    if is_begun or row.status == TaskStatus.IN_PROGRESS:
        phase = asked[0].phase if asked else Phase(steps[-1].phase) if steps else Phase.WORKER
        return _DOING.get(phase, "working")
    return str(task.status.value) if task is not None else row.status


def _whole(accepts: float) -> int:
    return int(-(-accepts // 1))


def grid_of(
    judges: Sequence[str],
    votes: Iterable[JudgeVote],
    steps: Iterable[JobStep],
    *,
    basis: str,
    has_ended: bool,
) -> tuple[grid.Row, ...]:
    """Return how the judges of an answer stand, round by round.

    Args:
        judges: their names, in roster order.
        votes: on this answer.
        steps: the calls made for it.
        basis: on what its verdict rests; empty: there is none yet.
        has_ended: nobody will be asked any more.
    """
    return grid.grid(
        judges,
        [grid.Voted(each.round, each.judge, each.accepted, each.call_failed) for each in votes],
        [
            grid.Call(
                step.round or 1,
                step.agent,
                is_settled=step.state in SETTLED,
                is_waiting=step.state == StepState.WAITING,
            )
            for step in steps
            if step.phase == Phase.JUDGE
        ],
        basis=basis,
        has_ended=has_ended,
    )


def _cast(vote: JudgeVote) -> Cast:
    critique = _text(vote.critique)
    return Cast(vote.pk, vote.round, vote.judge, vote.accepted, vote.call_failed, critique, vote.at)


def _text(content: Content | None) -> str:
    if content is None or content.erased_at is not None:
        return ""
    return bytes(content.body).decode("utf-8", "replace")


def _plan(job: Job, where: Standing) -> PlanView:
    return PlanView(
        proposed=where.proposed,
        resolved=tuple(_planned(task) for task in where.tasks),
        awaits_approval=any(ask.phase is Phase.APPROVAL for ask in where.pending),
        resolution=plan_resolution(job) if job.shape.get("approvePlan") else None,
    )


def _planned(task: Task) -> Planned:
    return Planned(
        title=task.spec.title,
        description=task.spec.description,
        assignee=task.assignee or "",
        depends_on=task.spec.depends_on,
        verify=None if task.spec.verify is None else panel_document(task.spec.verify),
    )


def panel_document(panel: Panel) -> dict[str, Any]:
    """Return a panel as it counts, defaults and clamps applied."""
    return {
        "judges": [judge.name for judge in panel.judges],
        "mode": "lens" if panel.has_lenses else "refute",
        "quorum": _whole(panel.needed_accepts),
        "maxRounds": int(panel.round_limit),
        "onDissent": panel.dissent_policy.value,
    }


def _memory(job: Job) -> tuple[Memory, ...]:
    entries = MemoryEntry.objects.filter(job=job).select_related("value").order_by("number")
    found: dict[tuple[str, str], list[Written]] = {}
    for entry in entries:
        written = Written(entry.number, _text(entry.value), entry.at)
        found.setdefault((entry.namespace, entry.key), []).append(written)
    return tuple(Memory(*key, tuple(history)) for key, history in found.items())


def _synthesis(where: Standing) -> str | None:
    result = where.end.result if isinstance(where.end, Done) else None
    if not isinstance(result, TeamResult) or result.synthesis is None:
        return None
    return result.synthesis.output


def _failure(where: Standing) -> str:
    result = where.end.result if isinstance(where.end, Done) else None
    if not isinstance(result, TeamResult) or result.failure is None:
        return ""
    return result.failure.code or result.failure.kind.value


def _replies(job: Job) -> tuple[str, ...]:
    asked = JobStep.objects.filter(job=job, phase=Phase.DECOMPOSITION, reply__isnull=False)
    steps = asked.select_related("reply").order_by("position")
    return tuple(_text(step.reply) for step in steps)


def _progress(rows: _Rows, known: Mapping[int, Task]) -> Progress:
    settled = [step for step in rows.steps if step.state in SETTLED]
    open_ = [task for task in known.values() if task.status not in ENDED]
    work = _kind(open_, settled, work_for, (Phase.WORKER, Phase.REVISION))
    judging = _kind(open_, settled, judging_for, (Phase.JUDGE,))
    job = rows.job
    is_going = not job.has_ended and job.paused_at is None and bool(known)
    return Progress(
        tasks=len(known) or len(rows.tasks),
        ended=sum(row.status in ENDED for row in rows.tasks.values()),
        calls=len(settled),
        calls_left=Span(0, 0) if job.has_ended else total((work.left, judging.left)),
        seconds_left=seconds_left((work, judging), job.shape["atOnce"]) if is_going else None,
    )


def _kind(
    open_: Iterable[Task],
    settled: Sequence[JobStep],
    expected: Callable[[TaskSpec], Span],
    phases: Sequence[Phase],
) -> Kind:
    made = [step for step in settled if step.phase in phases]
    left = (less(expected(task.spec), sum(step.task == task.id for step in made)) for task in open_)
    took_s = [
        (step.ended_at - step.started_at).total_seconds()
        for step in made
        if step.ended_at is not None
    ]
    return Kind(total(left), took_s)
