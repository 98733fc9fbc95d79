"""What came out of a run of tasks: one record a task, one summary an agent, one status for all.

Source: open-multi-agent TeamRunResult.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from verification.domain.consensus.failures import Failure, Status
from verification.domain.consensus.history import NO_USAGE, Usage
from verification.domain.consensus.observed import AgentOutcome, Verification
from verification.domain.consensus.queue import Task, TaskStatus
from verification.domain.consensus.rules import Panel

SEPARATOR = "\n\n---\n\n"
"""Stands between several outputs of one agent."""

_STATUS_ORDER = (Status.BUDGET_EXHAUSTED, Status.TIMEOUT, Status.CANCELLED)


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """How one task ended."""

    id: str
    title: str
    status: TaskStatus
    assignee: str | None
    verify: Panel | None
    usage: Usage | None
    """The worker's own tokens; verification is counted in `outcome.usage` only."""
    outcome: AgentOutcome | None
    """None for a task that was never tried. Content."""
    verification: Verification | None = None
    is_withheld: bool = False
    is_let_through: bool = False


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What one agent did in a run, stamped with the task it was for."""

    agent: str
    outcome: AgentOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamResult:
    """The end of a run of tasks."""

    status: Status
    failure: Failure | None
    tasks: tuple[TaskRecord, ...] = ()
    agents: Mapping[str, AgentOutcome] = field(default_factory=dict)
    """By agent name, several outputs merged. Content."""
    usage: Usage = NO_USAGE
    """All calls of the run."""
    synthesis: AgentOutcome | None = None
    """What the coordinator wrote last; None where nobody was asked to, or not any more. Content."""
    is_plan_only: bool = False
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def has_succeeded(self) -> bool:
        """True when nothing went wrong; a rejected verdict is not something that went wrong."""
        return self.status is Status.OK


def summarise(
    results: Sequence[AgentResult],
    tasks: Sequence[Task],
    *,
    forced: Failure | None = None,
    synthesis: AgentOutcome | None = None,
    is_plan_only: bool = False,
    metadata: Mapping[str, object],
) -> TeamResult:
    """Fold what happened into one result.

    Args:
        results: every agent's work, in the order it was begun.
        tasks: the queue's tasks, in order.
        forced: what stopped the run, where something did; it decides the status.
        synthesis: the final answer, where one was asked for.
        is_plan_only: the tasks were planned and not run, so that they are open says nothing.
        metadata: echoed.
    """
    status = forced.status if forced is not None else _status(results, tasks, is_plan_only)
    failure = forced if forced is not None else _first_failure(results, status)
    return TeamResult(
        status=status,
        failure=failure,
        tasks=tuple(_record(task) for task in tasks),
        agents=_by_agent(results),
        usage=sum((result.outcome.usage for result in results), NO_USAGE),
        synthesis=synthesis,
        is_plan_only=is_plan_only,
        metadata=metadata,
    )


def _status(results: Sequence[AgentResult], tasks: Sequence[Task], is_plan_only: bool) -> Status:
    seen = {result.outcome.status for result in results}
    for status in _STATUS_ORDER:
        if status in seen:
            return status
    states = {task.status for task in tasks}
    has_failed = Status.ERROR in seen or TaskStatus.FAILED in states
    unfinished = {TaskStatus.PENDING, TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED}
    is_unfinished = not is_plan_only and bool(states & unfinished)
    return Status.ERROR if has_failed or is_unfinished else Status.OK


def _first_failure(results: Sequence[AgentResult], status: Status) -> Failure | None:
    for result in results:
        if result.outcome.status is status and result.outcome.failure is not None:
            return result.outcome.failure
    return None


def _record(task: Task) -> TaskRecord:
    return TaskRecord(
        task.id,
        task.spec.title,
        task.status,
        task.assignee,
        task.spec.verify,
        task.usage,
        task.outcome,
        task.verification,
        task.is_withheld,
        task.is_let_through,
    )


def _by_agent(results: Sequence[AgentResult]) -> dict[str, AgentOutcome]:
    merged: dict[str, AgentOutcome] = {}
    for result in results:
        known = merged.get(result.agent)
        merged[result.agent] = result.outcome if known is None else _joined(known, result.outcome)
    return merged


def _joined(first: AgentOutcome, then: AgentOutcome) -> AgentOutcome:
    both_succeeded = first.has_succeeded and then.has_succeeded
    return AgentOutcome(
        output=SEPARATOR.join(text for text in (first.output, then.output) if text),
        status=Status.OK if both_succeeded else then.status,
        usage=first.usage + then.usage,
        failure=then.failure or first.failure,
        structured=first.structured if then.structured is None else then.structured,
    )
