"""The sqlite and postgres reference hosts: one family, alias keys, no interrupt ids.

Every event carries `seq` beside `sequence` and `data` beside `payload`; `nodeId` is null where
there is none; lifecycle payloads are null. A pause is a `node.suspended` with a `config`. The order
after an answer is `node.resumed`, `node.completed`, `run.resumed`. A second answer gets 404.
"""

from typing import ClassVar

from openwop_console.demo.asgi import JsonObject, Refused
from openwop_console.demo.dialects.events import Draft, Events
from openwop_console.demo.dialects.replies import Replies
from openwop_console.demo.interrupts import (
    AnswerRefused,
    Ask,
    CorrelationMismatch,
    Habits,
    Kind,
    Outcome,
    Vote,
)
from openwop_console.demo.store import Interrupt, Run, iso

_EMPTY = frozenset({"run.started", "node.started", "node.completed", "run.completed"})


class ReferenceEvents(Events):
    """What both reference hosts write."""

    habits: ClassVar[Habits] = Habits(counts_repeat_votes=True, reads_event_payload=False)

    def event_id(self, run: Run, sequence: int) -> str:
        """Run id and number."""
        return f"evt-{run.run_id}-{sequence}"

    def event(self, run: Run, draft: Draft, sequence: int, at: str) -> JsonObject:
        """The event with its alias keys."""
        payload = self.payload(run, draft)
        event: JsonObject = {
            "eventId": self.event_id(run, sequence),
            "seq": sequence,
            "sequence": sequence,
            "runId": run.run_id,
            "type": draft.type,
            "nodeId": draft.node_id,
            "data": payload,
            "payload": payload,
            "timestamp": at,
        }
        if draft.cause is not None:
            event["causationId"] = draft.cause
        return event

    def payload(self, run: Run, draft: Draft) -> object:
        """Null for lifecycle events, otherwise as drafted."""
        return None if draft.type in _EMPTY and not draft.is_spelled else draft.payload

    def kind(self, ask: Ask) -> str:
        """One word for all turns of a talk."""
        return ask.kind.value

    def suspended(self, interrupt: Interrupt) -> list[Draft]:
        """One `node.suspended`; only external events carry a token."""
        ask = interrupt.ask
        if ask.kind is Kind.LOW_CONFIDENCE:
            payload: JsonObject = {"reason": "low-confidence", **ask.data}
        else:
            payload = self.question(ask) | token_of(interrupt)
        return [Draft("node.suspended", payload, ask.node_id, ask.cause, is_spelled=True)]

    def question(self, ask: Ask) -> JsonObject:
        """What is asked, in event and snapshot alike."""
        config = dict(ask.recorded_data or ask.data)
        return {"kind": self.kind(ask), "nodeId": ask.node_id, "config": config}

    def voted(self, interrupt: Interrupt) -> list[Draft]:
        """`interrupt.vote`, a type of their own, with all votes so far."""
        payload: JsonObject = {"votes": spelled_votes(interrupt.votes)}
        return [Draft("interrupt.vote", payload, interrupt.ask.node_id)]

    def resumed(self, interrupt: Interrupt) -> list[Draft]:
        """A rejection ends the run; anything else resumes it."""
        node = interrupt.ask.node_id
        if interrupt.outcome is Outcome.REJECTED:
            outcome: JsonObject = {"outcome": "rejected"}
            error = {"code": "interrupt_rejected", "message": "Approval gate rejected by quorum."}
            return [
                Draft("node.completed", outcome, node, is_spelled=True),
                Draft("run.failed", {**error, "error": error}),
            ]
        return [
            Draft("node.resumed", {"action": interrupt.votes[-1].action}, node),
            Draft("node.completed", None, node),
            Draft("run.resumed", {"resumedBy": self.host_id}),
        ]

    def ended(self, run: Run, interrupt: Interrupt) -> list[Draft]:
        """A summary in memory, then the end."""
        tags = ["run-summary", f"run-id:{run.run_id}", f"workflow:{run.workflow_id}"]
        memory: JsonObject = {
            "memoryRef": "run-summaries",
            "memoryId": f"mem-{run.run_id}-summary",
            "tags": tags,
        }
        return [Draft("memory.written", memory), Draft("run.completed", None)]


class PostgresEvents(ReferenceEvents):
    """The postgres host keeps no interrupt for a low confidence: such a run waits for ever."""

    def records(self, ask: Ask) -> bool:
        """Everything but low confidence."""
        return ask.kind is not Kind.LOW_CONFIDENCE


class ReferenceReplies(Replies):
    """What both reference hosts answer."""

    shows_tokens: ClassVar[bool] = False
    enforces_resume_schema: ClassVar[bool] = False
    events: ReferenceEvents

    def __init__(self, events: ReferenceEvents) -> None:
        self.events = events

    def created(self, run: Run, origin: str) -> JsonObject:
        """With the workflow and the time."""
        extra = {"workflowId": run.workflow_id, "startedAt": iso(run.started_at)}
        return {**super().created(run, origin), **extra}

    def snapshot(self, run: Run, origin: str) -> JsonObject:
        """`endedAt` is always there; the node only while the run waits for a recorded interrupt."""
        body = super().snapshot(run, origin)
        body.pop("completedAt", None)
        if run.open_interrupt is None:
            body.pop("currentNodeId", None)
        ended_at = None if run.ended_at is None else iso(run.ended_at)
        return {**body, "inputs": run.inputs, "endedAt": ended_at}

    def interrupt(self, run: Run, interrupt: Interrupt, origin: str) -> JsonObject:
        """The question as its event put it."""
        ask = interrupt.ask
        body: JsonObject = {"kind": self.events.kind(ask), "nodeId": ask.node_id}
        return {**body, "payload": self.events.question(ask), **token_of(interrupt)}

    def resolved(self, run: Run, interrupt: Interrupt, *, was: str, by_token: bool) -> JsonObject:
        """The run-scoped answer lists the votes."""
        if by_token:
            return super().resolved(run, interrupt, was=was, by_token=by_token)
        seen: JsonObject = {
            "kind": self.events.kind(interrupt.ask),
            "nodeId": interrupt.ask.node_id,
        }
        if interrupt.outcome is not Outcome.PENDING:
            was_rejected = interrupt.outcome is Outcome.REJECTED
            seen["outcome"] = "rejected" if was_rejected else "accepted"
        seen["votes"] = spelled_votes(interrupt.votes)
        return {"runId": run.run_id, "status": run.status, "interrupt": seen}

    def answer_refused(self, error: AnswerRefused) -> Refused:
        """The mismatch is spelled out."""
        if not isinstance(error, CorrelationMismatch):
            return super().answer_refused(error)
        found = "undefined" if error.is_absent else f'"{error.received}"'
        message = f'External event correlation key "{error.key}" expected "{error.expected}"'
        return Refused(422, "correlation_mismatch", f"{message}, got {found}.")

    def no_interrupt(self, run_id: str, node_id: str) -> Refused:
        """Both ids are repeated."""
        message = f"No active interrupt at (runId={run_id}, nodeId={node_id})."
        return Refused(404, "interrupt_not_found", message)

    def no_token(self) -> Refused:
        """Spent tokens are unknown tokens."""
        return Refused(404, "interrupt_not_found", "Unknown or expired interrupt token.")

    def already_resolved(self, run_id: str, node_id: str) -> Refused:
        """A resolved interrupt is not found any more."""
        return self.no_interrupt(run_id, node_id)

    def invalidated(self, run: Run, node_id: str) -> Refused:
        """Nor is one whose run ended."""
        return self.no_interrupt(run.run_id, node_id)

    def token_spent(self, run: Run) -> Refused:
        """The same for its token."""
        return self.no_token()

    def streams(self, mode: str, event_type: str) -> bool:
        """Every mode shows everything."""
        return True


class SqliteReplies(ReferenceReplies):
    """The sqlite host ends its polls in its own words."""

    def polled(self, run: Run, events: list[JsonObject]) -> JsonObject:  # type: ignore[override]
        """With the last sequence and the status."""
        return {"runId": run.run_id, "events": events, **poll_tail(run)}


def poll_tail(run: Run) -> JsonObject:
    """The end of a poll body on the hosts that name sequence and status."""
    return {
        "lastEventSeq": run.events[-1]["sequence"] if run.events else -1,
        "runStatus": run.status,
        "isTerminal": run.is_terminal,
    }


def token_of(interrupt: Interrupt) -> JsonObject:
    """Token and callback path, for external events only."""
    if interrupt.ask.kind is not Kind.EXTERNAL_EVENT:
        return {}
    path = f"/v1/interrupts/{interrupt.token}"
    return {"interruptToken": interrupt.token, "callbackUrl": path}


def spelled_votes(votes: list[Vote]) -> list[JsonObject]:
    """Votes without their voters."""
    return [{"action": vote.action, "timestamp": vote.at} for vote in votes]
