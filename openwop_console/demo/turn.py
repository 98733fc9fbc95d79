"""The words a script is written in: what agents, critics and orchestrators do, one call each.

Each call writes the events that a v1 host writes for it, with the payload of the published schema
(RFC 0002, 0024, 0037, 0090). A script reads as a story; the wire is here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from openwop_console.demo.actor import Actor
from openwop_console.demo.asgi import JsonObject
from openwop_console.demo.dialects import Draft

if TYPE_CHECKING:
    from openwop_console.demo.engine import Engine
    from openwop_console.demo.interrupts import Ask
    from openwop_console.demo.store import Interrupt, Run

Verdict = Literal["pass", "fail", "revise"]


class Turn:
    """One run, as its script sees it."""

    def __init__(self, engine: Engine, run: Run) -> None:
        self._engine = engine
        self.run = run
        self._iteration = 0

    async def emit(
        self,
        event_type: str,
        payload: JsonObject | None,
        *,
        node: str | None = None,
        cause: str | None = None,
        beat: float = 1.0,
        is_spelled: bool = False,
    ) -> str:
        """Write one event after `beat` beats; returns its eventId."""
        await self._engine.beat(beat)
        draft = Draft(event_type, payload, node, cause, is_spelled)
        (event,) = self._engine.append(self.run, [draft])
        return str(event["eventId"])

    @asynccontextmanager
    async def at(
        self, node: str, agent: str, *, type_id: str = "core.agent", attempt: int = 0
    ) -> AsyncIterator[Actor]:
        """A node in which one agent is invoked."""
        started: JsonObject = {"typeId": type_id, "attempt": attempt}
        await self.emit("node.started", started, node=node)
        actor = Actor(self, node, agent, f"inv-{self.run.run_id[-12:]}-{len(self.run.events)}")
        await actor.begins()
        yield actor
        await actor.ends()
        outputs: JsonObject = {} if actor.artifact is None else {"artifactId": actor.artifact}
        await self.emit("node.completed", {"outputs": outputs}, node=node)

    async def orchestrates(
        self, agent: str, decision: JsonObject, *, node: str = "supervisor"
    ) -> str:
        """An orchestrator decides what happens next; returns the eventId (RFC 0006)."""
        self._iteration += 1
        payload: JsonObject = {
            "agentId": agent,
            "decision": decision,
            "iteration": self._iteration,
        }
        return await self.emit("runOrchestrator.decided", payload, node=node)

    async def sends(self, agent: str, worker: str, confidence: float) -> str:
        """The orchestrator picks the next worker; returns the eventId."""
        decision: JsonObject = {"kind": "next-worker", "nextWorkerIds": [worker]}
        return await self.orchestrates(agent, {**decision, "confidence": confidence})

    async def asks_user(self, agent: str, prompt: str) -> str:
        """The orchestrator asks a person; returns the eventId."""
        return await self.orchestrates(agent, {"kind": "ask-user", "prompt": prompt})

    async def terminates(
        self, agent: str, reason: str, met: Mapping[str, bool], confidence: float = 0.92
    ) -> str:
        """The orchestrator ends the work and says which criteria are met; returns the eventId."""
        criteria = [{"key": key, "met": is_met} for key, is_met in met.items()]
        decision: JsonObject = {"kind": "terminate", "reason": reason, "confidence": confidence}
        return await self.orchestrates(agent, {**decision, "successCriteria": criteria})

    async def verifies(
        self,
        critic: str,
        *,
        target: str,
        verdict: Verdict,
        criteria: Sequence[str],
        confidence: float,
    ) -> str:
        """A critic gives its verdict on a target: content-free and closed (RFC 0090)."""
        payload: JsonObject = {
            "agentId": critic,
            "target": target,
            "verdict": verdict,
            "criteria": list(criteria),
            "confidence": confidence,
        }
        return await self.emit("agent.verified", payload, beat=2.0)

    async def dispatches(
        self, worker: str, workflow: str, inputs: JsonObject, *, cause: str, node: str = "dispatch"
    ) -> Handoff:
        """Hand work to a child run and wait for its end; nothing is harvested yet (RFC 0037)."""
        handoff = Handoff(self, worker, node)
        began = await handoff.phase("dispatch.began", cause)
        handoff.child = self._engine.start(workflow, inputs, parent=self.run)
        dispatched: JsonObject = {
            "childRunId": handoff.child.run_id,
            "childWorkflowId": workflow,
            "childStatus": "running",
        }
        await self.emit("node.dispatched", dispatched, node=node)
        succeeded = await handoff.phase("dispatch.succeeded", began)
        await self._engine.finished(handoff.child)
        handoff.ended = await handoff.phase(f"child.{handoff.child.status}", succeeded)
        return handoff

    async def asks(self, ask: Ask, *, title: str = "core.openwop.human-review") -> Interrupt:
        """Open a node that waits for a person; returns the interrupt with the answer."""
        await self.emit("node.started", {"typeId": title}, node=ask.node_id)
        return await self.pauses(ask)

    async def pauses(self, ask: Ask) -> Interrupt:
        """Wait for a person in a node that has started; returns the interrupt with the answer."""
        return await self._engine.pause(self.run, ask)

    async def ends_as_recorded(self, interrupt: Interrupt) -> None:
        """Go on to the end as the host that is played does after such an answer."""
        await self._engine.beat(1.0)
        self._engine.append(self.run, self._engine.dialect.events.ended(self.run, interrupt))

    async def completes(self, outputs: JsonObject) -> None:
        """The run's end."""
        await self.emit("run.completed", {"outputs": outputs})


class Handoff:
    """Work that was given to a child run."""

    child: Run

    def __init__(self, turn: Turn, worker: str, node: str) -> None:
        self._turn = turn
        self._worker = worker
        self._node = node
        self.ended = ""
        """eventId of the child's end in the parent's log."""

    async def phase(self, phase: str, cause: str, **more: object) -> str:
        """One step of the hand-over; returns the eventId."""
        payload: JsonObject = {
            "phase": phase,
            "workerId": self._worker,
            "parentRunId": self._turn.run.run_id,
        }
        if phase != "dispatch.began":
            payload["childRunId"] = self.child.run_id
        return await self._turn.emit(
            "core.workflowChain.event", payload | more, node=self._node, cause=cause
        )

    async def is_harvested(self, *keys: str) -> str:
        """The parent takes over the child's output: the merge that a gate guards."""
        return await self.phase("output.harvested", self.ended, harvestedKeys=list(keys))
