"""A run's log as it grows: server-sent events and long polls.

A reader that comes back with the last sequence it saw gets what came after, and nothing twice.
Source: OpenWOP stream-modes.md.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from openwop_console.demo.asgi import JsonObject, Line, Refused
from openwop_console.demo.dialects import Replies
from openwop_console.demo.store import Run

MODES = ("values", "updates", "messages", "debug")


def modes_from(text: str, *, is_checked: bool) -> tuple[str, ...]:
    """The stream modes of a query. Raises Refused (400) for unknown ones and bad mixes."""
    modes = tuple(text.split(","))
    unknown = [mode for mode in modes if mode not in MODES]
    mixes_values = len(modes) > 1 and "values" in modes
    if is_checked and (unknown or mixes_values):
        details: JsonObject = {"supported": list(MODES), "requested": list(modes)}
        message = f"Unsupported streamMode value(s): {text}"
        raise Refused(400, "unsupported_stream_mode", message, details)
    return modes


def cursor_from(text: str | None) -> int | None:
    """A sequence from a query or header. Raises Refused (400) when it is not a number."""
    if text is None or text == "":
        return None
    try:
        return int(text)
    except ValueError as error:
        raise Refused(400, "validation_error", "The cursor must be a sequence.") from error


def events_after(run: Run, cursor: int | None) -> Sequence[JsonObject]:
    """The events of a run above a sequence; all of them without one."""
    return [event for event in run.events if cursor is None or event["sequence"] > cursor]


async def poll(run: Run, cursor: int | None, timeout_s: float, closing: asyncio.Event) -> None:
    """Return when there is something above the cursor, the run has ended, or time is up."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s
    while not (events_after(run, cursor) or run.is_terminal or closing.is_set()):
        if not await run.news(deadline - loop.time()):
            return


@dataclass(frozen=True, slots=True)
class EventStream:
    """One reader of a run's stream."""

    run: Run
    replies: Replies
    modes: tuple[str, ...]
    cursor: int | None
    heartbeat_s: float
    closing: asyncio.Event
    origin: str

    async def pump(self, line: Line) -> None:
        """Write events as they come; a comment when there is nothing; end with the run."""
        if self.replies.opens_stream_with:
            await line.write(self.replies.opens_stream_with)
        if self.modes == ("values",) and self.replies.checks_stream_mode:
            await line.write(self._snapshot())
        told = len(self.run.events) - len(events_after(self.run, self.cursor))
        while not self.closing.is_set():
            while told < len(self.run.events):
                await self._tell(line, told)
                told += 1
            if self.run.is_terminal:
                return
            if not await self.run.news(self.heartbeat_s):
                await line.write(b": keep-alive\n\n")

    async def _tell(self, line: Line, index: int) -> None:
        event = self.run.events[index]
        event_type = self.run.types[index]
        shown_in = [mode for mode in self.modes if self.replies.streams(mode, event_type)]
        if not shown_in:
            return
        name = shown_in[0] if len(self.modes) > 1 else event_type
        item = orjson.dumps(self.replies.stream_item(event)).decode()
        await line.write(f"id: {event['sequence']}\nevent: {name}\ndata: {item}\n\n".encode())

    def _snapshot(self) -> bytes:
        body = orjson.dumps(self.replies.snapshot(self.run, self.origin)).decode()
        return f"event: state.snapshot\ndata: {body}\n\n".encode()
