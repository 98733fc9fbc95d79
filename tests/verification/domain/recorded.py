"""Interrupts as live hosts really ran them, read from the recordings."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.domain.log import LogLine, Origin

FOLDER = Path(__file__).parents[2] / "fixtures/captured_interrupts"
_PAUSES = {"node.suspended", "interrupt.requested"}


@dataclass(frozen=True)
class Recording:
    """One run of one host around its pause."""

    name: str
    node_id: str
    documents: tuple[dict[str, Any], ...]
    """What the host said about the pause: its own list's entry, the snapshot's, the events'."""
    exchanges: tuple[dict[str, Any], ...]
    lines: tuple[LogLine, ...]

    @property
    def pause(self) -> LogLine:
        return next(line for line in self.lines if line.type in _PAUSES)

    @property
    def interrupt_id(self) -> str | None:
        ids = [document.get("interruptId") for document in self.documents]
        return next((found for found in ids if isinstance(found, str)), None)

    def accepted(self) -> dict[str, Any] | None:
        """Return the first exchange by which the run was really answered, if one was."""
        answers = (one for one in self.exchanges if one["method"] == "POST")
        return next((one for one in answers if one["status"] == 200 and _value(one)), None)


def recordings() -> list[Recording]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        document = json.loads(path.read_text())
        for recording in document["recordings"]:
            found.append(_recording(f"{document['dialect']}:{recording['label']}", recording))
    return found


def resume_value(exchange: dict[str, Any]) -> Any:
    return _value(exchange)


def line(sequence: int, type: str, node: str | None = None, payload: Any = None) -> LogLine:
    return LogLine(
        position=sequence,
        origin=Origin.HOST,
        sequence=sequence,
        event_id=f"e{sequence}",
        type=type,
        node_id=node,
        payload=payload,
    )


def _recording(name: str, recording: dict[str, Any]) -> Recording:
    lines = tuple(_line(event) for event in recording["events"])
    waiting = (recording.get("waiting") or {}).get("interrupt") or {}
    listed = [
        entry
        for exchange in recording["exchanges"]
        if isinstance(exchange.get("response"), dict)
        for entry in exchange["response"].get("interrupts", [])
    ]
    said = [each.payload for each in lines if each.type in _PAUSES and each.payload]
    node = next(each.node_id for each in lines if each.type in _PAUSES)
    return Recording(
        name, node or "", (*listed, waiting, *said), tuple(recording["exchanges"]), lines
    )


def _line(event: dict[str, Any]) -> LogLine:
    return line(event["sequence"], event["type"], event.get("nodeId"), event.get("payload"))


def _value(exchange: dict[str, Any]) -> Any:
    body = exchange.get("body") or {}
    return body.get("resumeValue", body)
