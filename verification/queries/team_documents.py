"""Runs of tasks and of teams as the API shows them."""

from typing import Any

from runs.domain.timestamps import written
from verification.domain.jobs.estimates import Progress, Span
from verification.domain.jobs.plan_changes import digest
from verification.queries.job_tasks import Memory, PlanView, TaskView, TeamView


def team_document(team: TeamView) -> dict[str, Any]:
    """Return `{tasks, plan, memory, answer, progress, waitsForPerson}`, with their words."""
    return {
        "tasks": [_task(task) for task in team.tasks],
        "plan": None if team.plan is None else plan_document(team.plan),
        "memory": [_memory(each) for each in team.memory],
        "answer": team.synthesis,
        "progress": _progress(team.progress),
        "waitsForPerson": team.waits_for_person,
    }


def _task(task: TaskView) -> dict[str, Any]:
    return {
        "number": task.number,
        "title": task.title,
        "assignee": task.assignee or None,
        "dependsOn": list(task.depends_on),
        "state": task.state,
        "verdict": task.verdict or None,
        "basis": task.basis or None,
        "letThrough": task.is_let_through,
        "rounds": task.rounds,
        "output": task.output or None,
        "failure": task.failure or None,
        "tokens": task.tokens,
        "workerTokens": task.worker_tokens,
        "costUsd": str(task.cost_usd),
        "runId": task.run_id or None,
        "escalation": task.escalation,
    }


def plan_document(plan: PlanView) -> dict[str, Any]:
    """Return `{proposed, seenDigest, resolved, awaitsApproval, resolution}`. Content."""
    made = plan.resolution
    return {
        "proposed": plan.proposed,
        "seenDigest": None if plan.proposed is None else digest(plan.proposed),
        "resolved": [
            {
                "title": each.title,
                "description": each.description,
                "assignee": each.assignee or None,
                "dependsOn": list(each.depends_on),
                "verify": each.verify,
            }
            for each in plan.resolved
        ],
        "awaitsApproval": plan.awaits_approval,
        "resolution": made
        and {
            "approved": made.is_approved,
            "changed": made.is_changed,
            "by": made.by,
            "at": written(made.at),
        },
    }


def _memory(memory: Memory) -> dict[str, Any]:
    newest = memory.history[-1]
    return {
        "key": f"{memory.namespace}/{memory.key}",
        "value": newest.value,
        "versions": len(memory.history),
    }


def _progress(progress: Progress) -> dict[str, Any]:
    return {
        "tasks": progress.tasks,
        "ended": progress.ended,
        "calls": progress.calls,
        "callsLeft": _span(progress.calls_left),
        "secondsLeft": None if progress.seconds_left is None else _span(progress.seconds_left),
    }


def _span(span: Span) -> dict[str, int]:
    return {"least": span.least, "most": span.most}
