"""How a host spells what happened: the published v1 spelling, which the other dialects vary.

A script says what happened as a `Draft` with the payload of the published schema. `Events` turns
drafts into events as they travel, and knows which events a pause and its end are made of.
Source: OpenWOP run-event.schema.json, run-event-payloads.schema.json, interrupt.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from openwop_console.demo.asgi import JsonObject
from openwop_console.demo.interrupts import Ask, Habits, Kind, Outcome
from openwop_console.demo.store import Ids, Interrupt, Run


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before a dialect has spelled it."""

    type: str
    payload: JsonObject | None = field(default_factory=dict)
    node_id: str | None = None
    cause: str | None = None
    is_spelled: bool = False
    """The payload is already in the dialect's words, or recorded: leave it alone."""


class Events:
    """The published v1 spelling."""

    first_sequence: ClassVar[int] = 0
    habits: ClassVar[Habits] = Habits()
    waiting: ClassVar[Mapping[Kind, str]] = {
        Kind.APPROVAL: "waiting-approval",
        Kind.CLARIFICATION: "waiting-input",
        Kind.EXTERNAL_EVENT: "waiting-external",
        Kind.CONVERSATION: "waiting-approval",
        Kind.LOW_CONFIDENCE: "waiting-approval",
    }

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.host_id = f"host-{ids.token()[:8]}"

    def run_id(self) -> str:
        """A new run id."""
        return f"run-{self.ids.uuid()}"

    def interrupt_id(self) -> str:
        """A new interrupt id."""
        return f"int-{self.ids.uuid()}"

    def event_id(self, run: Run, sequence: int) -> str:
        """The id of a run's next event."""
        return f"evt-{self.ids.uuid()}"

    def event(self, run: Run, draft: Draft, sequence: int, at: str) -> JsonObject:
        """The event as it travels."""
        event: JsonObject = {
            "eventId": self.event_id(run, sequence),
            "runId": run.run_id,
            "type": draft.type,
            "payload": self.payload(run, draft),
            "timestamp": at,
            "sequence": sequence,
            "schemaVersion": 1,
        }
        return with_links(event, draft)

    def payload(self, run: Run, draft: Draft) -> object:
        """The payload in this dialect's words."""
        payload = dict(draft.payload or {})
        if draft.node_id and draft.type.startswith("node.") and not draft.is_spelled:
            payload.setdefault("nodeId", draft.node_id)
        if draft.type == "node.dispatched":  # closed: its node is named by the envelope
            payload.pop("nodeId", None)
        if draft.type == "node.started":
            payload.setdefault("typeId", "core.node")
        if draft.type == "run.started":
            payload.setdefault("workflowId", run.workflow_id)
        return payload

    def kind(self, ask: Ask) -> str:
        """The interrupt kind in this dialect's words; published is one kind per turn of a talk."""
        is_talk = ask.kind is Kind.CONVERSATION
        return "conversation.exchange" if is_talk else ask.kind.value

    def records(self, ask: Ask) -> bool:
        """Whether the pause gets an interrupt record that can be resolved."""
        return True

    def waiting_status(self, ask: Ask) -> str:
        """The run status while the pause lasts."""
        return ask.waiting_status or self.waiting[ask.kind]

    def suspended(self, interrupt: Interrupt) -> list[Draft]:
        """What happens when a run starts to wait."""
        ask = interrupt.ask
        request: JsonObject = {
            "kind": self.kind(ask),
            "key": interrupt.interrupt_id,
            "data": dict(ask.data),
        }
        if ask.resume_schema is not None:
            request["resumeSchema"] = dict(ask.resume_schema)
        node: JsonObject = {"interruptId": interrupt.interrupt_id, "kind": self.kind(ask)}
        if ask.kind is Kind.LOW_CONFIDENCE:
            node |= {"reason": "low-confidence", **ask.data}
        return [
            Draft("interrupt.requested", request, ask.node_id, ask.cause),
            Draft("node.suspended", node, ask.node_id, ask.cause),
        ]

    def voted(self, interrupt: Interrupt) -> list[Draft]:
        """What happens on a vote that does not decide; the registry has no event for it."""
        return []

    def resumed(self, interrupt: Interrupt) -> list[Draft]:
        """What happens at once when a person's answer is accepted."""
        node, value = interrupt.ask.node_id, interrupt.resume_value
        answer: JsonObject = {"interruptId": interrupt.interrupt_id, "resumeValue": value}
        resolved = {**answer, "nodeId": node, "kind": self.kind(interrupt.ask)}
        return [
            Draft("interrupt.resolved", resolved, node),
            Draft("node.resumed", answer, node),
            Draft("run.resumed", {}),
            Draft("node.completed", {"outputs": {"answer": value}}, node),
        ]

    def ended(self, run: Run, interrupt: Interrupt) -> list[Draft]:
        """How a recorded run goes on to its end after the answer."""
        if interrupt.outcome is Outcome.REJECTED:
            error = {"code": "approval_rejected", "message": "The approval was rejected."}
            return [Draft("run.failed", {"error": error, "failedNodeId": interrupt.ask.node_id})]
        return [Draft("run.completed", {"outputs": {"answer": interrupt.resume_value}})]

    def spelled_data(self, run: Run, ask: Ask) -> JsonObject:
        """The question's data in this dialect's words."""
        return dict(ask.recorded_data or ask.data)


def with_links(event: JsonObject, draft: Draft) -> JsonObject:
    """The event with the ids that tie it to a node and to its cause, where it has them."""
    if draft.node_id is not None:
        event["nodeId"] = draft.node_id
    if draft.cause is not None:
        event["causationId"] = draft.cause
    return event
