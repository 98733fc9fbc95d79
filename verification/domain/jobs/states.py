"""The words in which jobs and their steps are stored. Add, never repurpose."""

from enum import StrEnum


class Operation(StrEnum):
    """What kind of job it is."""

    CONSENSUS = "runConsensus"
    TASKS = "runTasks"
    TEAM = "runTeam"


class JobState(StrEnum):
    """How far a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    """It came to a result."""
    BROKEN = "broken"
    """It could not end properly; whoever gates on it treats it as a fail."""


class JobBasis(StrEnum):
    """On what a job's verdict rests: as for one consensus, and what only a run of tasks can be."""

    QUORUM = "quorum"
    KEPT = "kept"
    DISSENT = "dissent"
    JUDGE_ERROR = "judge_error"
    BUDGET = "budget"
    ABORTED = "aborted"
    NO_ANSWER = "no_answer"
    SUSPECTED = "suspected"
    OVERRIDDEN = "overridden"
    """Every task's result counts, one of them because a person said so."""
    UNFINISHED = "unfinished"
    """A task failed, or was skipped, for another reason than a verdict."""
    UNVERIFIED = "unverified"
    """Everything was done and nobody was asked to judge any of it."""
    NO_PLAN = "no_plan"
    """The coordinator gave no plan that can be run, or a person refused it."""


class StepState(StrEnum):
    """How far a call is."""

    ASKING = "asking"
    WAITING = "waiting"
    """It failed in a way that another attempt may mend."""
    ANSWERED = "answered"
    FAILED = "failed"


class Stop(StrEnum):
    """Why a job was stopped before it had decided."""

    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    BUDGET = "budget"
    """The next call could have cost more than what is left."""


UNFINISHED = (JobState.QUEUED, JobState.RUNNING)
"""Jobs that somebody still has to work on."""
SETTLED = (StepState.ANSWERED, StepState.FAILED)
"""Steps that the procedure counts as having happened."""
