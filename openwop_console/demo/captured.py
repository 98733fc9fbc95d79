"""Replays runs that real hosts were recorded to suspend, as workflows of the demo host.

A recording says what happened before the pause, what was asked, and how the run ended on which
answer. Before the pause the events are played as recorded; what follows an answer is the dialect's
rule, which the tests hold against the recording. In another dialect the same story is respelled.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from openwop_console.demo.asgi import JsonObject
from openwop_console.demo.engine import Script
from openwop_console.demo.interrupts import Ask, Kind
from openwop_console.demo.store import Run
from openwop_console.demo.turn import Turn

_EVENT = re.compile(r"^\{event:(\d+)\}$")


@dataclass(frozen=True, slots=True)
class Recording:
    """One workflow of one host, up to the moment it waits for a person."""

    name: str
    dialect: str
    workflow_id: str
    ask: Ask
    before: Sequence[JsonObject]
    """Events after `run.started` and before the pause; ids stand as `{runId}` and the like."""
    extras: Mapping[str, Any]
    """Snapshot fields this run had on its host."""

    def script(self, played_as: str) -> Script:
        """The recording as a script for a host that speaks `played_as`."""
        is_at_home = played_as == self.dialect
        ask = self.ask if is_at_home else replace(self.ask, recorded_data=None, waiting_status=None)

        async def play(turn: Turn) -> None:
            if is_at_home:
                turn.run.extras = _filled(dict(self.extras), turn.run)
            for event in self.before:
                step = _filled(event, turn.run)
                await turn.emit(
                    step["type"],
                    step["payload"],
                    node=step.get("nodeId"),
                    cause=step.get("causationId"),
                )
            here = _filled({"data": dict(ask.data), "cause": ask.cause}, turn.run)
            interrupt = await turn.pauses(replace(ask, data=here["data"], cause=here["cause"]))
            await turn.ends_as_recorded(interrupt)

        return play


def recordings_in(folder: Path) -> Iterator[Recording]:
    """Every recording of a folder, by file name."""
    for path in sorted(folder.glob("*.json")):
        yield recording_from(path.stem, orjson.loads(path.read_bytes()))


def recording_from(name: str, document: JsonObject) -> Recording:
    """A recording read from its file."""
    asked = document["interrupt"]
    events = document["recordings"][0]["events"]
    pause = next(i for i, event in enumerate(events) if event["type"] == "node.suspended")
    return Recording(
        name=name,
        dialect=document["dialect"],
        workflow_id=document["workflowId"],
        ask=Ask(
            kind=Kind(asked["kind"]),
            node_id=asked["nodeId"],
            data=asked["data"],
            resume_schema=asked.get("resumeSchema"),
            recorded_data=asked.get("recordedData"),
            waiting_status=asked.get("waitingStatus"),
            cause=asked.get("cause"),
        ),
        before=events[1:pause],
        extras=document.get("snapshotExtras", {}),
    )


def workflows_from(recordings: Sequence[Recording], dialect: str) -> dict[str, Script]:
    """Recordings as workflows of a host that speaks `dialect`.

    Each can be started as `captured:<file name>`; under its own workflow id the host's own
    recording is preferred to one of another host.
    """
    workflows: dict[str, Script] = {}
    for recording in sorted(recordings, key=lambda item: item.dialect == dialect):
        script = recording.script(dialect)
        workflows[recording.workflow_id] = script
        workflows[f"captured:{recording.name}"] = script
    return workflows


def _filled(value: Any, run: Run) -> Any:
    """The value with this run's ids where the recording has placeholders."""
    match value:
        case dict():
            return {key: _filled(item, run) for key, item in value.items()}
        case list():
            return [_filled(item, run) for item in value]
        case str():
            return _filled_text(value, run)
        case _:
            return value


def _filled_text(text: str, run: Run) -> str:
    event = _EVENT.match(text)
    if event is not None:
        return str(run.events[int(event.group(1))]["eventId"])
    child_id = str(uuid.uuid5(uuid.NAMESPACE_OID, run.run_id))
    return text.replace("{runId}", run.run_id).replace("{childRunId}", child_id)
