"""The tasks that workers are rung for about judgements; how they are rung is `runs.bells`."""

from runs.bells import ring

__all__ = ["DELIVER", "LEARN", "NOTIFY", "RUN_JOB", "ring"]

DELIVER = "verification.tasks.deliver"
NOTIFY = "verification.tasks.notify"
LEARN = "verification.tasks.learn"
RUN_JOB = "verification.tasks.run_job"
