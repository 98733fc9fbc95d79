"""openwop-app, the reference application: counts from 1, closes pauses in words of its own.

`node.suspended` carries only id and kind (twice for a low confidence), `node.interrupt.resolved` is
its sign that an answer was taken, the run's output is the answer, and a rejection completes the run
unless a quorum rejected. The answer to a resolve still shows the status before it.
"""

from collections.abc import Mapping
from typing import ClassVar

import orjson

from openwop_console.demo.asgi import JsonObject, Refused
from openwop_console.demo.dialects.events import Draft, Events, with_links
from openwop_console.demo.dialects.replies import Replies
from openwop_console.demo.interrupts import (
    ActionNotOffered,
    AnswerRefused,
    Ask,
    CorrelationMismatch,
    Habits,
    Kind,
    Outcome,
)
from openwop_console.demo.store import Interrupt, Run, iso


class AppEvents(Events):
    """What openwop-app writes."""

    first_sequence: ClassVar[int] = 1
    habits: ClassVar[Habits] = Habits(reads_event_payload=False, names_questions=False)
    waiting: ClassVar[Mapping[Kind, str]] = {
        **Events.waiting,
        Kind.CONVERSATION: "waiting-input",
    }

    def run_id(self) -> str:
        """A bare UUID."""
        return self.ids.uuid()

    def interrupt_id(self) -> str:
        """32 hex digits."""
        return self.ids.token()[:32]

    def event_id(self, run: Run, sequence: int) -> str:
        """A bare UUID."""
        return self.ids.uuid()

    def event(self, run: Run, draft: Draft, sequence: int, at: str) -> JsonObject:
        """The event without schemaVersion."""
        event: JsonObject = {
            "eventId": self.event_id(run, sequence),
            "runId": run.run_id,
            "sequence": sequence,
            "type": draft.type,
            "payload": self.payload(run, draft),
            "timestamp": at,
        }
        return with_links(event, draft)

    def payload(self, run: Run, draft: Draft) -> object:
        """Short lifecycle payloads; `output` where the schema says `outputs`."""
        payload = draft.payload or {}
        match draft.type:
            case "run.started":
                return {"workflowId": run.workflow_id}
            case "node.started":
                return {}
            case "node.completed":
                return {"outputs": payload.get("outputs", {})}
            case "run.completed":
                return {"output": payload.get("outputs", {})}
            case _:
                return payload

    def kind(self, ask: Ask) -> str:
        """A low confidence is an approval here."""
        return "approval" if ask.kind is Kind.LOW_CONFIDENCE else ask.kind.value

    def suspended(self, interrupt: Interrupt) -> list[Draft]:
        """Id and kind; a low confidence is told first with its reason, then as an approval."""
        ask = interrupt.ask
        opened: JsonObject = {"interruptId": interrupt.interrupt_id, "kind": self.kind(ask)}
        drafts = [Draft("node.suspended", opened, ask.node_id)]
        if ask.kind is Kind.LOW_CONFIDENCE:
            reason: JsonObject = {"reason": "low-confidence", **ask.data}
            drafts.insert(0, Draft("node.suspended", reason, ask.node_id))
        return drafts

    def voted(self, interrupt: Interrupt) -> list[Draft]:
        """`interrupt.vote.recorded`, a type of its own, with the ledger."""
        ledger: JsonObject = {"accepts": [], "rejects": []}
        for vote in interrupt.votes:
            side = "rejects" if vote.action == "reject" else "accepts"
            ledger[side].append(vote.voter)
        payload: JsonObject = {"interruptId": interrupt.interrupt_id, "kind": "approval"}
        payload["ledger"] = ledger
        return [Draft("interrupt.vote.recorded", payload, interrupt.ask.node_id)]

    def resumed(self, interrupt: Interrupt) -> list[Draft]:
        """Only a quorum's rejection fails the run."""
        node = interrupt.ask.node_id
        is_quorum = int(interrupt.ask.data.get("requiredApprovals", 1)) > 1
        if is_quorum and interrupt.outcome is Outcome.REJECTED:
            message = "Quorum gate failed: majority rejected."
            error: JsonObject = {"error": {"code": "approval_rejected", "message": message}}
            return [Draft("run.failed", error, node)]
        closed: JsonObject = {
            "interruptId": interrupt.interrupt_id,
            "kind": self.kind(interrupt.ask),
        }
        output: JsonObject = {"outputs": {"output": interrupt.resume_value}}
        return [
            Draft("node.interrupt.resolved", closed, node),
            Draft("run.resumed", {"resumedAtNode": node}),
            Draft("node.completed", output, node),
        ]

    def ended(self, run: Run, interrupt: Interrupt) -> list[Draft]:
        """A summary in memory, then the end with the answer as output."""
        tags = ["run-summary", f"run-id:{run.run_id}", f"workflow:{run.workflow_id}"]
        memory: JsonObject = {
            "memoryRef": "tenant-memory",
            "memoryId": f"mem_{self.ids.uuid()[:12]}",
            "tags": tags,
        }
        return [
            Draft("memory.written", memory),
            Draft("run.completed", {"outputs": interrupt.resume_value}),
        ]

    def spelled_data(self, run: Run, ask: Ask) -> JsonObject:
        """The question with a title called prompt and two ids of its own."""
        recorded = dict(ask.recorded_data or {})
        if not recorded:
            recorded = {("prompt" if k == "title" else k): v for k, v in ask.data.items()}
        key = f"{run.run_id}:{ask.node_id}"
        return {**recorded, "artifactId": f"run-event:{key}", "revisionId": f"{key}:1"}


class AppReplies(Replies):
    """What openwop-app answers."""

    key_conflict: ClassVar[str] = "idempotency_key_replay_mismatch"
    enforces_resume_schema: ClassVar[bool] = False
    opens_stream_with: ClassVar[bytes] = b": open\n\n"

    def created(self, run: Run, origin: str) -> JsonObject:
        """With absolute addresses."""
        body = super().created(run, origin)
        for key in ("eventsUrl", "statusUrl"):
            body[key] = f"{origin}{body[key]}"
        return body

    def interrupt(self, run: Run, interrupt: Interrupt, origin: str) -> JsonObject:
        """No id: that is what its own listing is for."""
        body = super().interrupt(run, interrupt, origin)
        for key in ("interruptId", "resumeSchema"):
            body.pop(key, None)
        return body

    def listed(self, run: Run) -> JsonObject:
        """The body of its own listing of open interrupts."""
        interrupts = []
        if run.open_interrupt is not None:
            interrupts.append(self._listed(run, run.open_interrupt))
        return {"runId": run.run_id, "interrupts": interrupts}

    def _listed(self, run: Run, interrupt: Interrupt) -> JsonObject:
        item: JsonObject = {
            "interruptId": interrupt.interrupt_id,
            "nodeId": interrupt.ask.node_id,
            "kind": self.events.kind(interrupt.ask),
            "token": interrupt.token,
            "data": self.events.spelled_data(run, interrupt.ask),
            "createdAt": iso(interrupt.created_at),
            "expiresAt": iso(interrupt.expires_at),
        }
        if interrupt.ask.resume_schema is not None:
            item["resumeSchema"] = dict(interrupt.ask.resume_schema)
        return item

    def resolved(
        self,
        run: Run,
        interrupt: Interrupt,
        *,
        was: str,
        by_token: bool,
    ) -> JsonObject:
        """The status is the one from before."""
        return {"runId": run.run_id, "nodeId": interrupt.ask.node_id, "status": was}

    def resume_value(self, body: JsonObject, *, by_token: bool) -> object:
        """By token the body itself is the answer; wrapped is understood as well."""
        if by_token and set(body) != {"resumeValue"}:
            return body
        return super().resume_value(body, by_token=by_token)

    def answer_refused(self, error: AnswerRefused) -> Refused:
        """What was received is repeated."""
        match error:
            case ActionNotOffered(allowed=allowed, received=received):
                shown = orjson.dumps(received).decode()
                message = f"resumeValue.action MUST be one of [{', '.join(allowed)}]"
                details: JsonObject = {"allowed": allowed, "received": received}
                return Refused(400, "validation_error", f"{message}; received {shown}.", details)
            case CorrelationMismatch():
                found = "undefined" if error.is_absent else orjson.dumps(error.received).decode()
                expected = orjson.dumps(error.expected).decode()
                mismatch = f"correlation.{error.key} expected {expected}, got {found}"
                message = f"External event correlation mismatch: {mismatch}"
                return Refused(422, "validation_error", message, {"mismatch": mismatch})
            case _:
                return super().answer_refused(error)

    def no_interrupt(self, run_id: str, node_id: str) -> Refused:
        """Also what a second answer gets."""
        return Refused(404, "interrupt_not_found", "no open interrupt for this node")

    def already_resolved(self, run_id: str, node_id: str) -> Refused:
        """A resolved interrupt is not found any more."""
        return self.no_interrupt(run_id, node_id)

    def invalidated(self, run: Run, node_id: str) -> Refused:
        """Gone with its run."""
        message = f"interrupt invalidated — run was {run.status}"
        return Refused(410, "interrupt_gone", message)

    def token_spent(self, run: Run) -> Refused:
        """Says why when the run was cancelled."""
        if run.status != "cancelled":
            return Refused(409, "interrupt_already_resolved", "interrupt already resolved")
        message = "interrupt token invalidated — owning run is cancelled"
        return Refused(409, "interrupt_already_resolved", message, {"runStatus": run.status})

    def streams(self, mode: str, event_type: str) -> bool:
        """Only `messages` is filtered."""
        return mode != "messages" or event_type == "output.chunk"
