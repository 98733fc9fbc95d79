"""What a job tells of itself as a run: the payloads of its events, all of them free of content.

Source: OpenWOP run events; RFC 0090 §A for `agent.verified`, RFC 0006 for the orchestrator's end.
"""

from collections.abc import Mapping
from typing import Any

from verification.domain.consensus.result import Basis, GateVerdict
from verification.domain.jobs.states import Stop

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

WORKFLOW = "console.consensus"
VERIFIER = "console.consensus"
"""Who gives the verdict: the panel as a whole."""
CRITERION = "consensus"
"""The success criterion under which a job ends."""


def started(operation: str, tenant: str, principal: str) -> dict[str, Any]:
    """Return the payload of `run.started`: what it is, and an opaque name of who wants it."""
    owner = {"tenant": tenant, "workspace": tenant, "principal": principal}
    return {"workflowId": WORKFLOW, "operation": operation, "owner": owner}


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
