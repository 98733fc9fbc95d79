"""Demo hosts that replay what real hosts were recorded to write, each in its own dialect."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from openwop_console.demo.dialects import Draft
from openwop_console.demo.store import Run
from tests.remote import RunningHost

FOLDER = Path(__file__).parent / "fixtures" / "captures"
DIALECTS = ("in-memory", "openwop-app", "postgres", "python", "sqlite")


@dataclass(frozen=True)
class Recorded:
    """A run of a real host, as its poll endpoint gave it."""

    dialect: str
    label: str
    status: str
    events: tuple[dict[str, Any], ...]
    """Type, payload, node, time and number; ids are the replaying host's."""


def recorded(dialect: str) -> Iterator[Recorded]:
    """Every recorded run of a host."""
    for text in (FOLDER / f"{dialect}.jsonl").read_text().splitlines():
        row = json.loads(text)
        yield Recorded(dialect, row["label"], row["status"], tuple(row["events"]))


class RecordedHost(RunningHost):
    """A host whose runs are played from recordings, as fast or as slowly as a test wants."""

    def __init__(self, dialect: str, **options: Any) -> None:
        super().__init__(dialect=dialect, **options)

    @property
    def runs(self) -> dict[str, Run]:
        return self.host.engine.store.runs

    def begin(self, recording: Recorded, run_id: str = "") -> Run:
        """Have a run without any event yet."""
        run_id = run_id or f"run-{recording.label}"
        run = Run(run_id, recording.label, {}, datetime.now(UTC), status="running")
        self.host.engine.store.add_run(run)
        return run

    def go_on(self, run: Run, recording: Recorded, upto: int | None = None) -> None:
        """Let the run come to its event number `upto`, or to its end."""
        events = recording.events[:upto]
        for event in events[len(run.events) :]:
            run.events.append(self.spelled(run, event))
            run.types.append(event["type"])
        if len(run.events) == len(recording.events):
            run.status = recording.status
        self.loop.call_soon_threadsafe(run.ring)

    def play(self, recording: Recorded, run_id: str = "") -> Run:
        """Have a run with all of its events."""
        run = self.begin(recording, run_id)
        self.go_on(run, recording)
        return run

    def spelled(self, run: Run, event: dict[str, Any]) -> dict[str, Any]:
        """The event in the dialect's keys with the recorded values."""
        draft = Draft(event["type"], event["payload"], event.get("nodeId"), is_spelled=True)
        events = self.host.engine.dialect.events
        made = events.event(run, draft, event["sequence"], event["timestamp"])
        made["payload"] = event["payload"]
        return made | ({"data": event["payload"]} if "data" in made else {})


class RecordedHosts:
    """Hosts that tests share; each is started once and stopped at the end."""

    def __init__(self) -> None:
        self._hosts: dict[str, RecordedHost] = {}

    def __call__(self, dialect: str) -> RecordedHost:
        if dialect not in self._hosts:
            self._hosts[dialect] = RecordedHost(dialect)
        host = self._hosts[dialect]
        host.runs.clear()
        host.host.faults.clear()
        return host

    def stop(self) -> None:
        for host in self._hosts.values():
            host.stop()
