"""How a host answers over HTTP: the published v1 bodies, which the other dialects vary.

Source: OpenWOP rest-endpoints.md, interrupt.md, api/openapi.yaml.
"""

from collections.abc import Sequence
from typing import ClassVar

from openwop_console.demo.asgi import JsonObject, Refused
from openwop_console.demo.dialects.events import Events
from openwop_console.demo.interrupts import (
    ActionNotOffered,
    AnswerRefused,
    CorrelationMismatch,
)
from openwop_console.demo.store import Interrupt, InterruptState, Run, iso

_HIDDEN_FROM_UPDATES = ("node.started", "node.retried", "agent.", "runOrchestrator.", "core.")


class Replies:
    """The published v1 bodies."""

    key_conflict: ClassVar[str] = "idempotency_key_mismatch"
    """Error code when an Idempotency-Key comes back with another body."""
    honours_cursor: ClassVar[bool] = True
    """Poll and stream start after the sequence they are given."""
    checks_stream_mode: ClassVar[bool] = True
    shows_tokens: ClassVar[bool] = True
    """`GET /v1/interrupts/{token}` exists."""
    enforces_resume_schema: ClassVar[bool] = True
    opens_stream_with: ClassVar[bytes] = b""

    def __init__(self, events: Events) -> None:
        self.events = events

    def created(self, run: Run, origin: str) -> JsonObject:
        """The body of a 201."""
        path = f"/v1/runs/{run.run_id}"
        return {
            "runId": run.run_id,
            "status": "pending",
            "eventsUrl": f"{path}/events",
            "statusUrl": path,
        }

    def snapshot(self, run: Run, origin: str) -> JsonObject:
        """The run as it stands."""
        body: JsonObject = {
            "runId": run.run_id,
            "workflowId": run.workflow_id,
            "status": run.status,
            "startedAt": iso(run.started_at),
            "variables": {},
            **run.extras,
        }
        if run.current_node is not None:
            body["currentNodeId"] = run.current_node
        if run.ended_at is not None:
            body["completedAt"] = iso(run.ended_at)
        if run.error is not None:
            body["error"] = run.error
        if run.children:
            body["childRuns"] = [
                {"runId": child.run_id, "status": child.status} for child in run.children
            ]
        if run.open_interrupt is not None:
            body["interrupt"] = self.interrupt(run, run.open_interrupt, origin)
        return body

    def interrupt(self, run: Run, interrupt: Interrupt, origin: str) -> JsonObject:
        """The open interrupt inside a snapshot."""
        body: JsonObject = {
            "kind": self.events.kind(interrupt.ask),
            "nodeId": interrupt.ask.node_id,
            "interruptId": interrupt.interrupt_id,
            "interruptToken": interrupt.token,
            "callbackUrl": f"{origin}/v1/interrupts/{interrupt.token}",
            "data": self.events.spelled_data(run, interrupt.ask),
        }
        if interrupt.ask.resume_schema is not None:
            body["resumeSchema"] = dict(interrupt.ask.resume_schema)
        return body

    def inspected(self, run: Run, interrupt: Interrupt) -> JsonObject:
        """The body of `GET /v1/interrupts/{token}`."""
        body: JsonObject = {
            "kind": self.events.kind(interrupt.ask),
            "key": interrupt.interrupt_id,
            "data": self.events.spelled_data(run, interrupt.ask),
            "expiresAt": iso(interrupt.expires_at),
            "resolved": interrupt.state is not InterruptState.OPEN,
        }
        if interrupt.ask.resume_schema is not None:
            body["resumeSchema"] = dict(interrupt.ask.resume_schema)
        return body

    def resolved(self, run: Run, interrupt: Interrupt, *, was: str, by_token: bool) -> JsonObject:
        """The body of a 200 on resolve; `was` is the status before."""
        return {"runId": run.run_id, "nodeId": interrupt.ask.node_id, "status": run.status}

    def resume_value(self, body: JsonObject, *, by_token: bool) -> object:
        """The answer inside a resolve body, which is closed. Raises Refused (400)."""
        if set(body) != {"resumeValue"}:
            raise Refused(400, "validation_error", "The body holds resumeValue and nothing else.")
        return body["resumeValue"]

    def answer_refused(self, error: AnswerRefused) -> Refused:
        """What a misfit answer gets."""
        match error:
            case ActionNotOffered(allowed=allowed):
                details: JsonObject = {"allowed": allowed}
                return Refused(400, "validation_error", str(error), details)
            case CorrelationMismatch():
                return Refused(422, "correlation_mismatch", str(error))
            case _:
                return Refused(400, "validation_error", str(error))

    def no_interrupt(self, run_id: str, node_id: str) -> Refused:
        """What an unknown run, node or interrupt gets."""
        return Refused(404, "interrupt_not_found", "No interrupt for this node.")

    def no_token(self) -> Refused:
        """What an unknown token gets."""
        return Refused(404, "interrupt_not_found", "Unknown interrupt token.")

    def already_resolved(self, run_id: str, node_id: str) -> Refused:
        """What the second answer to one interrupt gets."""
        return Refused(409, "interrupt_already_resolved", "The interrupt is already resolved.")

    def invalidated(self, run: Run, node_id: str) -> Refused:
        """What an answer gets after the run was cancelled."""
        return Refused(422, "interrupt_cancelled", "The run ended before an answer came.")

    def token_spent(self, run: Run) -> Refused:
        """What a token gets once its interrupt is resolved or invalidated."""
        return Refused(409, "interrupt_already_resolved", "The interrupt is already resolved.")

    def polled(self, run: Run, events: Sequence[JsonObject]) -> JsonObject:
        """The body of a poll."""
        return {"events": list(events), "isComplete": run.is_terminal}

    def stream_item(self, event: JsonObject) -> JsonObject:
        """An event as it travels on the stream."""
        return event

    def streams(self, mode: str, event_type: str) -> bool:
        """Whether a stream in this mode shows an event of this type."""
        match mode:
            case "debug":
                return True
            case "updates":
                return not event_type.startswith(_HIDDEN_FROM_UPDATES)
            case "messages":
                return event_type == "output.chunk"
            case _:
                return event_type.startswith("run.")
