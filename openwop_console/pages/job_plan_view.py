"""A team's plan on its page: as proposed, as run, and why a reply was no plan."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse

from verification.domain.consensus.json_text import NotJson, find
from verification.domain.jobs.plan_changes import Change, Line, Task, lines
from verification.domain.jobs.plan_faults import Fault, faults_in
from verification.models import Job
from verification.queries.job_tasks import TeamView
from verification.queries.team_documents import plan_document


def plan_shown(team: TeamView, job: Job) -> dict[str, Any] | None:
    """Return a team's plan; None for a run of tasks, whose plan is the request."""
    if team.plan is None:
        return None
    proposed, resolved = team.plan.proposed, plan_document(team.plan)["resolved"]
    found = lines(proposed or (), resolved)
    is_changed = any(
        line.change in (Change.CHANGED, Change.ADDED, Change.REMOVED) for line in found
    )
    return {
        "is_known": proposed is not None,
        "is_resolved": bool(resolved),
        "awaits": team.plan.awaits_approval,
        "is_changed": bool(resolved) and is_changed,
        "resolution": team.plan.resolution,
        "lines": [_line(line) for line in found],
        "replies": [] if proposed else [_reply(text, members(job)) for text in team.replies],
        "url": reverse("job-plan", args=[job.uid]),
    }


def members(job: Job) -> Sequence[str]:
    """Return the names of a job's team."""
    return [each["name"] for each in job.shape["team"]]


def lines_shown(before: Sequence[Task], after: Sequence[Task]) -> list[dict[str, Any]]:
    """Return what became of each task from one plan to another."""
    return [_line(line) for line in lines(before, after)]


def _line(line: Line) -> dict[str, Any]:
    fields = {field.name: field for field in line.fields}
    return {"title": line.title, "change": line.change.value, **fields}


def _reply(text: str, team: Sequence[str]) -> Mapping[str, Any]:
    """Return what the coordinator said instead of a plan, with what is wrong with it."""
    try:
        faults = faults_in(find(text).value, team)
    except NotJson:
        faults = [Fault(None, "", "There is no JSON in it.")]
    return {"text": text, "faults": [fault_words(each) for each in faults]}


def fault_words(fault: Fault) -> dict[str, str]:
    """Return where a fault is, and what it is."""
    where = "" if fault.task is None else f"Task {fault.task + 1}"
    if fault.field:
        where += f", {fault.field}"
    return {"where": where, "sentence": fault.sentence}
