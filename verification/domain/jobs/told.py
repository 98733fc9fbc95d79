"""What a job tells of itself as a run: the payloads of its events, all of them free of content.

Source: OpenWOP run events; RFC 0090 §A for `agent.verified`, RFC 0006 for the orchestrator's end.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from verification.domain.consensus.result import Basis, GateVerdict
from verification.domain.jobs.states import Operation, Stop

CAPABILITIES: Mapping[str, Any] = {
    "protocolVersion": "1.0",
    "multiAgent": {
        "executionModel": {
            "supported": True,
            "version": 6,
            "verifier": {"supported": True, "gating": True},
        }
    },
}
"""What the built-in host does for its own runs."""

WORKFLOWS = {
    Operation.CONSENSUS: "console.consensus",
    Operation.TASKS: "console.tasks",
    Operation.TEAM: "console.team",
}
TASK_WORKFLOW = "console.task"
ORCHESTRATOR = "console.jobs"
"""Who says which tasks come next."""
VERIFIER = "console.consensus"
"""Who gives the verdict: the panel as a whole."""
CRITERION = "consensus"
"""The success criterion under which a consensus ends."""
TASKS_CRITERION = "tasks"
"""The one under which a run of tasks ends: all are done, and none but accepted results count."""


def started(operation: str, tenant: str, principal: str) -> dict[str, Any]:
    """Return the payload of `run.started`: what it is, and an opaque name of who wants it."""
    owner = {"tenant": tenant, "workspace": tenant, "principal": principal}
    return {"workflowId": WORKFLOWS[Operation(operation)], "operation": operation, "owner": owner}


def task_started(job: str, number: int) -> dict[str, Any]:
    """Return the payload of a task's `run.started`."""
    return {"workflowId": TASK_WORKFLOW, "parentRunId": job, "task": number}


def pauses() -> dict[str, str]:
    """Return the payload of `run.paused`: nothing goes on before a person has decided."""
    return {"reason": "waits-for-person"}


def comes_next(workers: Sequence[str], iteration: int) -> dict[str, Any]:
    """Return the payload of `runOrchestrator.decided`: which tasks are begun."""
    return {
        "agentId": ORCHESTRATOR,
        "decision": {"kind": "next-worker", "nextWorkerIds": list(workers)},
        "iteration": iteration,
    }


def ends(met: bool, iteration: int) -> dict[str, Any]:
    """Return the payload of `runOrchestrator.decided`: the end, and whether the goal is met."""
    return {
        "agentId": ORCHESTRATOR,
        "decision": {
            "kind": "terminate",
            "successCriteria": [{"key": TASKS_CRITERION, "met": met}],
        },
        "iteration": iteration,
    }


def worker_id(number: int, assignee: str) -> str:
    """Return the worker of a task: one of its own, so that no other task's run replaces its run."""
    return f"task-{number}:{assignee}"


def handed(phase: str, worker: str, job: str, child: str = "", **more: Any) -> dict[str, Any]:
    """Return the payload of `core.workflowChain.event`."""
    payload = {"phase": phase, "workerId": worker, "parentRunId": job, **more}
    return payload | ({"childRunId": child} if child else {})


def merged(sha256: str) -> dict[str, Any]:
    """Return what `output.harvested` says beside the usual: that the result counts, and which."""
    return {
        "harvestedKeys": ["result"],
        "attestation": {"checksum": sha256, "algorithm": "sha256"},
    }


def error(code: str) -> dict[str, str]:
    """Return what went wrong with a task, in closed words."""
    return {"code": code, "message": "The task could not be done."}


def written(agent: str, reference: str, number: int) -> dict[str, Any]:
    """Return the payload of `memory.written`."""
    return {"memoryRef": reference, "memoryId": str(number), "agentId": agent}


def decided(agent: str, content: int, sha256: str, round_: int) -> dict[str, Any]:
    """Return the payload of `agent.decided`: the answer by reference, never itself."""
    return {
        "agentId": agent,
        "decision": {"kind": "answer", "round": round_, "content": content, "sha256": sha256},
    }


def verified(target: str, verdict: str, criteria: list[str]) -> dict[str, Any]:
    """Return the payload of `agent.verified`, closed and content-free."""
    payload: dict[str, Any] = {"agentId": VERIFIER, "target": target, "verdict": verdict}
    if criteria:
        payload["criteria"] = criteria
    return payload


def concluded(verdict: str) -> dict[str, Any]:
    """Return the payload of `runOrchestrator.decided`: the end, and whether the goal is met."""
    met = verdict == GateVerdict.PASS
    return {
        "decision": {"kind": "terminate", "successCriteria": [{"key": CRITERION, "met": met}]},
        "agentId": VERIFIER,
        "iteration": 1,
    }


def voted(judge: str, round_: int, *, accepted: bool, call_failed: bool) -> dict[str, Any]:
    """Return the payload of `console.judge.voted`."""
    word = "accept" if accepted else "error" if call_failed else "dissent"
    return {"agentId": judge, "round": round_, "vote": word}


def told_basis(basis: Basis, stop: str) -> Basis:
    """Return on what a verdict rests, given why the job was stopped."""
    if basis is Basis.ABORTED and stop == Stop.BUDGET:
        return Basis.BUDGET
    return basis
