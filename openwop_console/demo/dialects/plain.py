"""The in-memory and python reference hosts: small hosts that run workflows and never pause.

Their events, polls, streams and webhooks are played as recorded. Neither can suspend a run; where
a script or recording does, the pause is told in the published words inside their envelopes.
"""

from collections.abc import Sequence
from typing import ClassVar

from openwop_console.demo.asgi import JsonObject
from openwop_console.demo.dialects.events import Draft, Events, with_links
from openwop_console.demo.dialects.reference import poll_tail
from openwop_console.demo.dialects.replies import Replies
from openwop_console.demo.store import Run

_LIFECYCLE = frozenset({"run.started", "node.started", "node.completed", "run.completed"})


class InMemoryEvents(Events):
    """Null lifecycle payloads, ids made of run id and number."""

    def event_id(self, run: Run, sequence: int) -> str:
        """Run id and number."""
        return f"{run.run_id}-{sequence}"

    def event(self, run: Run, draft: Draft, sequence: int, at: str) -> JsonObject:
        """The event without schemaVersion."""
        event = super().event(run, draft, sequence, at)
        del event["schemaVersion"]
        return event

    def payload(self, run: Run, draft: Draft) -> object:
        """Null for lifecycle events."""
        return None if draft.type in _LIFECYCLE else super().payload(run, draft)


class InMemoryReplies(Replies):
    """Ignores cursors and stream modes."""

    key_conflict: ClassVar[str] = "idempotency_key_conflict"
    honours_cursor: ClassVar[bool] = False
    checks_stream_mode: ClassVar[bool] = False
    enforces_resume_schema: ClassVar[bool] = False

    def polled(self, run: Run, events: Sequence[JsonObject]) -> JsonObject:
        """With the last sequence and the status."""
        return {"runId": run.run_id, "events": list(events), **poll_tail(run)}

    def stream_item(self, event: JsonObject) -> JsonObject:
        """`seq` for `sequence`; neither id nor payload."""
        item: JsonObject = {
            "seq": event["sequence"],
            "runId": event["runId"],
            "type": event["type"],
            "timestamp": event["timestamp"],
        }
        if "nodeId" in event:
            item["nodeId"] = event["nodeId"]
        return item

    def streams(self, mode: str, event_type: str) -> bool:
        """Every mode shows everything."""
        return True


class PythonEvents(Events):
    """Empty lifecycle payloads, UUIDs for ids."""

    def event_id(self, run: Run, sequence: int) -> str:
        """A bare UUID."""
        return self.ids.uuid()

    def event(self, run: Run, draft: Draft, sequence: int, at: str) -> JsonObject:
        """Node and cause come last."""
        event: JsonObject = {
            "eventId": self.event_id(run, sequence),
            "runId": run.run_id,
            "type": draft.type,
            "payload": self.payload(run, draft),
            "timestamp": at,
            "sequence": sequence,
        }
        return with_links(event, draft)

    def payload(self, run: Run, draft: Draft) -> object:
        """Empty for lifecycle events."""
        return {} if draft.type in _LIFECYCLE else super().payload(run, draft)


class PythonReplies(Replies):
    """Says `isComplete: false` beside `isTerminal: true`, as recorded."""

    enforces_resume_schema: ClassVar[bool] = False

    def polled(self, run: Run, events: Sequence[JsonObject]) -> JsonObject:
        """Two flags that disagree at the end."""
        body: JsonObject = {"runId": run.run_id, "events": list(events)}
        return {**body, **poll_tail(run), "isComplete": False}

    def streams(self, mode: str, event_type: str) -> bool:
        """`values` shows the end, `messages` nothing here, the rest everything."""
        match mode:
            case "values":
                return event_type in ("run.completed", "run.failed", "run.cancelled")
            case "messages":
                return event_type == "output.chunk"
            case _:
                return True
