"""One agent at work in one node: it thinks, calls tools, spends tokens, writes, decides.

Source: OpenWOP RFC 0002, 0024, 0077; `artifact.created` and `provider.usage` of the event schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from openwop_console.demo.asgi import JsonObject

if TYPE_CHECKING:
    from openwop_console.demo.turn import Turn


class Actor:
    """One invocation of an agent in a node."""

    def __init__(self, turn: Turn, node: str, agent: str, invocation: str) -> None:
        self._turn = turn
        self._node = node
        self._agent = agent
        self._invocation = invocation
        self._deltas = 0
        self._calls = 0
        self._confidence: float | None = None
        self.artifact: str | None = None

    async def _emit(self, event_type: str, payload: JsonObject, beat: float = 1.0) -> str:
        payload = {"agentId": self._agent, **payload}
        return await self._turn.emit(event_type, payload, node=self._node, beat=beat)

    async def begins(self) -> None:
        """The invocation starts."""
        payload: JsonObject = {"invocationId": self._invocation, "source": "workflow-node"}
        await self._emit("agent.invocation.started", payload)

    async def reasons(self, *thoughts: str) -> None:
        """Thinks aloud, a piece at a time, then as a whole."""
        for thought in thoughts:
            payload: JsonObject = {"delta": thought, "sequence": self._deltas}
            await self._emit("agent.reasoning.delta", payload, beat=0.4)
            self._deltas += 1
        await self._emit("agent.reasoned", {"reasoning": " ".join(thoughts)})

    async def calls(
        self,
        tool: str,
        inputs: JsonObject,
        *,
        returns: object = None,
        status: Literal["ok", "error", "forbidden", "rate_limited"] = "ok",
    ) -> str:
        """Calls a tool and gets its outcome, or an error; returns the callId."""
        self._calls += 1
        call_id = f"call-{self._invocation[4:]}-{self._calls}"
        call: JsonObject = {"toolName": tool, "callId": call_id}
        await self._emit("agent.toolCalled", {**call, "inputs": inputs, "transport": "mcp"})
        result: JsonObject = {"status": status, "durationMs": 180 + 40 * self._calls}
        if status == "ok":
            result["outcome"] = returns
        else:
            result["error"] = {"code": status, "message": f"{tool} did not answer."}
        await self._emit("agent.toolReturned", {**call, **result}, beat=1.5)
        return call_id

    async def spends(self, model: str, tokens_in: int, tokens_out: int, usd: float) -> None:
        """Model usage, as the provider reports it."""
        provider, _, name = model.partition("/")
        usage: JsonObject = {
            "provider": provider,
            "model": name,
            "inputTokens": tokens_in,
            "outputTokens": tokens_out,
            "totalTokens": tokens_in + tokens_out,
            "costEstimateUsd": usd,
            "currency": "USD",
            "nodeId": self._node,
        }
        await self._turn.emit("provider.usage", usage, node=self._node, beat=0.2)

    async def writes(self, artifact_type: str, content: object, summary: str) -> str:
        """Leaves a result that can be fetched from the host; returns the artifactId."""
        artifacts = self._turn.run.artifacts
        self.artifact = f"{self._node}-{self._turn.run.run_id[-6:]}-v{len(artifacts) + 1}"
        artifacts[self.artifact] = {
            "artifactId": self.artifact,
            "artifactType": artifact_type,
            "content": content,
        }
        created: JsonObject = {
            "artifactId": self.artifact,
            "artifactType": artifact_type,
            "nodeId": self._node,
            "version": str(len(artifacts)),
            "summary": summary,
        }
        await self._turn.emit("artifact.created", created, node=self._node)
        return self.artifact

    async def decides(self, decision: JsonObject, confidence: float) -> str:
        """Commits to a result; returns the eventId, which is what verdicts are about."""
        self._confidence = confidence
        return await self._emit("agent.decided", {"decision": decision, "confidence": confidence})

    async def ends(self) -> None:
        """The invocation is over."""
        payload: JsonObject = {"invocationId": self._invocation, "outcome": "completed"}
        if self._confidence is not None:
            payload["confidence"] = self._confidence
        await self._emit("agent.invocation.completed", payload)
