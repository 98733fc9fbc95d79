"""A run of tasks or of a team: its plan, its tasks and how each was judged, what it came to."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from openwop_console.pages.job_graph import graph
from openwop_console.pages.job_parts import dollars, ledger_of, parts, readable
from openwop_console.pages.job_plan_view import plan_shown
from openwop_console.pages.job_progress import progress_words
from runs.domain.run_ids import to_segment
from runs.models import Viewer
from verification.domain.consensus.result import GateVerdict
from verification.domain.gates import GateState
from verification.domain.jobs.outcome_words import tasks_sentence
from verification.domain.jobs.states import Operation
from verification.models import Job, JobStep
from verification.queries.job_tasks import Cast, Memory, TaskView, TeamView, team_view

_TITLES = {Operation.TASKS: "Tasks", Operation.TEAM: "Team"}
_OPEN = ("pending", "blocked", "working", "judging", "revising", "waiting")


def content(job: Job, viewer: Viewer) -> dict[str, Any]:
    """Gather what the page shows.

    Args:
        job: with its run and host; a run of tasks or of a team.
        viewer: who looks.
    """
    team = team_view(job)
    assert team is not None  # noqa: S101  (a consensus has a page of its own)
    steps = list(JobStep.objects.filter(job=job).order_by("position"))
    ledger = ledger_of(job)
    models = {each["name"]: each["model"] for each in job.shape["judges"]}
    return {
        **parts(job, viewer, steps),
        "title": _TITLES[Operation(job.operation)],
        "is_team": job.operation == Operation.TEAM,
        "goal": team.goal,
        "is_erased": ledger is None,
        "tasks": [_task(task, team, job, models) for task in team.tasks],
        "graph": graph(team.tasks),
        "asked": [_asked(task, team, job) for task in team.tasks if task.state == "waiting"],
        "plan": plan_shown(team, job),
        "progress": progress_words(team, job),
        "namespaces": _namespaces(team.memory),
        "synthesis": team.synthesis,
        "outcome": _outcome(job, team) if job.has_ended else None,
        "request_json": readable(ledger),
    }


def _task(task: TaskView, team: TeamView, job: Job, models: dict[str, str]) -> dict[str, Any]:
    numbers = {(vote.round, vote.judge): vote.number for vote in task.votes}
    return {
        "it": task,
        "name": task.title or f"Task {task.number}",
        "waits_for": [_named(number, team) for number in task.depends_on],
        "needed_by": [_named(number, team) for number in _followers(task, team)],
        "judges": [{"name": name, "model": models.get(name, "")} for name in task.judges],
        "rounds": [
            {
                "number": row.number,
                "accepts": row.accepts,
                "cells": [
                    {"judge": name, "cell": cell.value, "vote": numbers.get((row.number, name))}
                    for name, cell in zip(task.judges, row.cells, strict=True)
                ],
            }
            for row in task.grid
        ],
        "votes": [_vote(vote) for vote in task.votes],
        "judge_tokens": task.tokens - task.worker_tokens,
        "share": round(task.tokens / job.max_tokens, 3) if job.max_tokens else None,
        "cost": dollars(task.cost_usd),
        "run_url": f"/runs/{job.run.host.slug}/{to_segment(task.run_id)}" if task.run_id else "",
        "escalation_url": _escalation(task),
        "is_open": task.state in ("waiting", "withheld", "failed"),
    }


def _named(number: int, team: TeamView) -> dict[str, Any]:
    title = next((task.title for task in team.tasks if task.number == number), "")
    return {"number": number, "title": title}


def _followers(task: TaskView, team: TeamView) -> list[int]:
    return [edge.after for edge in team.edges if edge.before == task.number]


def _vote(vote: Cast) -> dict[str, Any]:
    word = "accept" if vote.accepted else "error" if vote.call_failed else "dissent"
    return {
        "pk": vote.number,
        "judge": vote.judge,
        "round": vote.round,
        "word": word,
        "text": vote.critique,
    }


def _escalation(task: TaskView) -> str:
    return reverse("escalation", args=[task.escalation]) if task.escalation else ""


def _asked(task: TaskView, team: TeamView, job: Job) -> dict[str, Any]:
    """Return what a person is asked about a task, why, and what hangs on it."""
    last = [vote for vote in task.votes if vote.round == task.rounds]
    after = _all_after(task, team)
    going_on = [each for each in team.tasks if each.state in _OPEN and each.number not in after]
    return {
        "number": task.number,
        "title": task.title,
        "basis": task.basis,
        "accepts": sum(vote.accepted for vote in last),
        "judges": len(task.judges),
        "quorum": task.quorum,
        "rounds": task.rounds,
        "critiques": [_vote(vote) for vote in last if not vote.accepted],
        "after": [_named(number, team) for number in after],
        "others": len(going_on) - 1,
        "url": _escalation(task),
    }


def _all_after(task: TaskView, team: TeamView) -> list[int]:
    """Return every task that cannot be done without this one, in order."""
    found: set[int] = set()
    todo = [task.number]
    while todo:
        before = todo.pop()
        todo += [e.after for e in team.edges if e.before == before and e.after not in found]
        found |= {edge.after for edge in team.edges if edge.before == before}
    return sorted(found)


def _namespaces(memory: Sequence[Memory]) -> list[dict[str, Any]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in memory:
        *earlier, newest = entry.history
        shown = {"key": entry.key, "newest": newest, "earlier": earlier[::-1]}
        found.setdefault(entry.namespace, []).append(shown)
    return [{"name": name, "entries": entries} for name, entries in found.items()]


def _outcome(job: Job, team: TeamView) -> dict[str, Any]:
    waiting = next((_escalation(task) for task in team.tasks if task.escalation), "")
    # Gates that passed say nothing of a job that failed for another reason than a verdict.
    is_unfinished = job.verdict != GateVerdict.PASS and job.run.standing == GateState.PASSED
    return {
        "sentence": tasks_sentence(job.basis, stop=job.stop, broken=job.broken_because),
        "failure": team.failure,
        "gate": "" if is_unfinished else job.run.standing,
        "escalation_url": waiting,
    }
