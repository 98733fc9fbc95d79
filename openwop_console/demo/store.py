"""What the demo host remembers: its runs, their logs, their interrupts, in memory alone.

A run's log holds events as they went out, in the dialect's own shape, so that poll, stream, sender
and webhooks all tell the same story. Whoever waits for a run waits for its bell.
"""

import asyncio
import hashlib
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from openwop_console.demo.asgi import JsonObject
from openwop_console.demo.interrupts import Ask, Outcome, Vote

TERMINAL = frozenset({"completed", "failed", "cancelled"})


def utc_now() -> datetime:
    """The host's clock."""
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds, as the reference hosts write it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Ids:
    """Ids that repeat for the same seed and cannot be guessed without it."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._made = 0

    def uuid(self) -> str:
        """The next id in UUID form."""
        return str(uuid.UUID(hex=self.token()[:32], version=4))

    def token(self) -> str:
        """The next id as 64 hex digits."""
        self._made += 1
        return hashlib.sha256(f"{self._seed}/{self._made}".encode()).hexdigest()


class InterruptState(StrEnum):
    """Whether an interrupt still waits for a person."""

    OPEN = "open"
    RESOLVED = "resolved"
    INVALIDATED = "invalidated"


@dataclass(slots=True)
class Interrupt:
    """One pause of a run."""

    ask: Ask
    interrupt_id: str
    token: str
    created_at: datetime
    expires_at: datetime
    state: InterruptState = InterruptState.OPEN
    votes: list[Vote] = field(default_factory=list)
    resume_value: Any = None
    outcome: Outcome = Outcome.PENDING
    answered: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class Run:
    """One run with its whole log."""

    run_id: str
    workflow_id: str
    inputs: JsonObject
    started_at: datetime
    parent: "Run | None" = None
    status: str = "pending"
    events: list[JsonObject] = field(default_factory=list)
    """As sent, in order."""
    types: list[str] = field(default_factory=list)
    """The type of each event, beside `events`."""
    current_node: str | None = None
    interrupts: list[Interrupt] = field(default_factory=list)
    children: "list[Run]" = field(default_factory=list)
    artifacts: dict[str, JsonObject] = field(default_factory=dict)
    extras: JsonObject = field(default_factory=dict)
    """Further snapshot fields, from a recording."""
    error: JsonObject | None = None
    ended_at: datetime | None = None
    bell: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_terminal(self) -> bool:
        """Whether the run has ended."""
        return self.status in TERMINAL

    @property
    def open_interrupt(self) -> Interrupt | None:
        """The interrupt the run waits on, if any."""
        waiting = [item for item in self.interrupts if item.state is InterruptState.OPEN]
        return waiting[-1] if waiting else None

    def interrupt_at(self, node_id: str) -> Interrupt | None:
        """The latest interrupt of a node, whatever its state."""
        found = [item for item in self.interrupts if item.ask.node_id == node_id]
        return found[-1] if found else None

    def ring(self) -> None:
        """Wake everybody who waits for news of this run."""
        bell, self.bell = self.bell, asyncio.Event()
        bell.set()

    async def news(self, timeout_s: float) -> bool:
        """Wait for the next bell; False when `timeout_s` passes first."""
        try:
            async with asyncio.timeout(timeout_s):
                await self.bell.wait()
        except TimeoutError:
            return False
        return True


class Store:
    """All runs of the host, findable by run id and by interrupt token."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}
        self._tokens: dict[str, tuple[Run, Interrupt]] = {}

    def add_run(self, run: Run) -> None:
        """Keep a run."""
        self.runs[run.run_id] = run

    def add_interrupt(self, run: Run, interrupt: Interrupt) -> None:
        """Keep an interrupt and let its token find it."""
        run.interrupts.append(interrupt)
        self._tokens[interrupt.token] = (run, interrupt)

    def by_token(self, token: str) -> tuple[Run, Interrupt] | None:
        """The run and interrupt a token belongs to."""
        return self._tokens.get(token)
