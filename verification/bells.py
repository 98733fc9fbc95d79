"""The tasks that workers are rung for about judgements; how they are rung is `runs.bells`."""

from runs.bells import ring

__all__ = ["CONNECT", "DELIVER", "EXPORT", "LEARN", "MOVE_MANY", "NOTIFY", "RUN_JOB", "ring"]

DELIVER = "verification.tasks.deliver"
EXPORT = "verification.tasks.export"
NOTIFY = "verification.tasks.notify"
LEARN = "verification.tasks.learn"
RUN_JOB = "verification.tasks.run_job"
MOVE_MANY = "verification.tasks.move_many"
CONNECT = "verification.tasks.test_connection"
