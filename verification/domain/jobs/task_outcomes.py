"""What a run of tasks comes to as a whole: its verdict rests on every task, the worst one first."""

from verification.domain.consensus.failures import PLAN_INVALID, PLAN_REFUSED, Status
from verification.domain.consensus.queue import TaskStatus
from verification.domain.consensus.result import GateVerdict
from verification.domain.consensus.team_result import TaskRecord, TeamResult
from verification.domain.jobs.states import JobBasis, Stop
from verification.domain.jobs.told import told_basis

_FORCED = {
    Status.BUDGET_EXHAUSTED: JobBasis.BUDGET,
    Status.CANCELLED: JobBasis.ABORTED,
}


def outcome_of(result: TeamResult, stop: str) -> JobBasis:
    """Return on what the verdict on a run of tasks rests.

    Args:
        result: how the run ended.
        stop: why it was stopped, if it was.
    """
    if result.failure in (PLAN_INVALID, PLAN_REFUSED):
        return JobBasis.NO_PLAN
    if stop:
        return JobBasis.BUDGET if stop == Stop.BUDGET else JobBasis.ABORTED
    if result.status in _FORCED:
        return _FORCED[result.status]
    rejected = [task for task in result.tasks if _is_rejected(task)]
    for task in rejected:
        if task.verification is not None:
            return JobBasis(told_basis(task.verification.basis, stop))
    is_done = all(task.status is TaskStatus.COMPLETED for task in result.tasks)
    summary = result.synthesis
    is_summed_up = summary is None or (summary.has_succeeded and summary.output != "")
    if rejected or not result.tasks or not is_done or not is_summed_up:
        return JobBasis.UNFINISHED
    return _of_done(result)


def _is_rejected(task: TaskRecord) -> bool:
    return task.is_withheld and not task.is_let_through


def _of_done(result: TeamResult) -> JobBasis:
    judged = [task for task in result.tasks if task.verification is not None]
    if any(task.is_let_through for task in judged):
        return JobBasis.OVERRIDDEN
    return JobBasis.QUORUM if judged else JobBasis.UNVERIFIED


def verdict_on_tasks(basis: JobBasis) -> GateVerdict | None:
    """Return the verdict that a basis carries; None where nobody was asked for one."""
    if basis is JobBasis.UNVERIFIED:
        return None
    passes = (JobBasis.QUORUM, JobBasis.OVERRIDDEN)
    return GateVerdict.PASS if basis in passes else GateVerdict.FAIL
