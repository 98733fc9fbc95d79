"""How far a run of tasks is, in words that claim no more than is known."""

from typing import Any

from verification.domain.jobs.estimates import Span
from verification.models import Job
from verification.queries.job_tasks import TeamView


def progress_words(team: TeamView, job: Job) -> dict[str, Any]:
    """Return `{ended, tasks, counted, calls, time}`; texts are empty where nothing is known."""
    progress = team.progress
    return {
        "ended": progress.ended,
        "tasks": progress.tasks,
        "counted": f"{progress.ended} of {progress.tasks} tasks ended" if progress.tasks else "",
        "calls": _calls(progress.calls, progress.calls_left, has_ended=job.has_ended),
        "time": "" if job.has_ended else _time(team),
    }


def _calls(made: int, left: Span, *, has_ended: bool) -> str:
    said = f"{made} call{'' if made == 1 else 's'} made"
    if has_ended or not left.most:
        return said
    if left.least == left.most:
        return f"{said}, {left.most} more in the tasks"
    return f"{said}, {left.least} to {left.most} more in the tasks"


def _time(team: TeamView) -> str:
    if team.waits_for_person:
        return "it goes on when a person has decided"
    if not team.progress.tasks:
        return "how long it takes can be told once there is a plan"
    left = team.progress.seconds_left
    if left is None:
        return "too early to say how long it takes"
    if left.most < 2:
        return "seconds left"
    if _duration(left.least) == _duration(left.most):
        return f"about {_duration(left.most)} left"
    return f"{_duration(left.least)} to {_duration(left.most)} left, by how long calls took so far"


def _duration(seconds: int) -> str:
    if seconds < 90:
        return f"{seconds} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h"
