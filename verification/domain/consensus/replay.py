"""Follows a procedure along a history, up to the first thing that has not happened yet.

Procedures are written as if calls returned at once: each `ask` gives the reply that the history
holds. Where the history ends, the pending ask is the next step. So there is one description of how
a job runs, and starting it and resuming it are the same thing.
"""

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from verification.domain.consensus.asks import Ask
from verification.domain.consensus.budgets import Crossing, Purchase, Purse
from verification.domain.consensus.history import AbortRequested, History, HistoryMismatch, Reply
from verification.domain.consensus.observed import (
    AgentOutcome,
    MemoryWrite,
    Observed,
    ProgressEvent,
    Span,
    SpanKind,
)
from verification.domain.consensus.queue import Task
from verification.domain.consensus.rules import Setting
from verification.domain.errors import VerificationError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Several:
    """Asks of tasks that do not depend on each other; replies may come in any order."""

    asks: tuple[Ask, ...]


Procedure = Generator[Ask | Several, Reply | None, T]


class Cause(StrEnum):
    """Why a run broke instead of ending."""

    JUDGE_PROMPT_MISSING = "judge_prompt_missing"
    MEMORY_REFUSED = "memory_refused"
    PRICE_INVALID = "price_invalid"


class RunBroken(VerificationError):
    """The run cannot end properly. It has no result; whoever gates on it treats it as a fail."""

    def __init__(self, cause: Cause) -> None:
        self.cause = cause
        super().__init__(f"The run broke: {cause}.")


@dataclass(slots=True)
class Replay:
    """The state of one walk along a history; thrown away afterwards."""

    setting: Setting
    observed: Observed = field(default_factory=Observed)
    position: int = 0
    """Position of the next ask; an ask keeps its own however long its reply takes."""
    tasks: list[Task] = field(default_factory=list)
    """Of the run, once they are known."""
    proposed: Sequence[Mapping[str, Any]] | None = None
    """The coordinator's plan as it came, once it is one."""
    is_aborted: bool = False
    """The job was cancelled; nothing may be asked any more."""
    is_late: bool = False
    """The last reply came after the cancellation: it is paid for and shown, but decides nothing."""

    def nonce(self) -> str | None:
        """Return the nonce of the next ask, if this job fences its prompts."""
        return None if self.setting.nonce is None else self.setting.nonce(self.position)

    def ask(self, ask: Ask) -> Procedure[Reply | None]:
        """Give the reply to an ask, or None when the job was cancelled before there was one."""
        if self.is_aborted:
            return None
        self.position += 1
        return (yield ask)

    def open_root(self) -> Span:
        """Start the root span."""
        metadata = {f"oma.meta.{key}": value for key, value in self.setting.metadata.items()}
        attributes = {"oma.run.id": self.setting.run_id, "oma.run.attempt": 1, **metadata}
        return self.observed.start(SpanKind.RUN, "oma.run", None, attributes)

    def remember(self, agent: str, name: str, value: str) -> None:
        """Write to shared memory, if there is one. Raises RunBroken when it refuses the key."""
        if self.setting.remembers is None:
            return
        write = MemoryWrite(agent, name, value)
        if not self.setting.remembers(write.key):
            raise RunBroken(Cause.MEMORY_REFUSED)
        self.observed.memory.append(write)

    def price(self, purse: Purse, purchase: Purchase) -> Crossing | None:
        """Charge a call and note that its price was asked for. Raises EstimatorInvalid."""
        if purse.budgets.estimate is not None:
            self.observed.purchases.append(purchase)
        return purse.charge(purchase)

    def report(
        self,
        type_: str,
        agent: str | None = None,
        task: str | None = None,
        outcome: AgentOutcome | None = None,
    ) -> None:
        """Tell whoever is watching."""
        self.observed.progress.append(ProgressEvent(type_, agent, task, outcome))


def follow(replay: Replay, procedure: Procedure[T], history: History) -> Several | tuple[T]:
    """Walk a procedure along a history.

    Returns:
        The pending asks, or the procedure's value in a tuple of one.

    Raises:
        HistoryMismatch: a reply answers another ask, or more replies are recorded than were asked.
        RunBroken: the run cannot end properly.
    """
    entries = deque(history)
    _abort_if_nothing_is_in_flight(replay, entries)
    try:
        pending = _several(next(procedure))
        while True:
            reply = _next_reply(replay, pending, entries)
            if reply is None and not replay.is_aborted:
                return pending
            pending = _several(procedure.send(reply))
    except StopIteration as end:
        _expect_no_replies(entries)
        value: T = end.value
        return (value,)


def _several(pending: Ask | Several) -> Several:
    return pending if isinstance(pending, Several) else Several((pending,))


def _next_reply(
    replay: Replay, pending: Several, entries: deque[Reply | AbortRequested]
) -> Reply | None:
    while entries and isinstance(entries[0], AbortRequested):
        entries.popleft()
        replay.is_aborted = True
    if not entries:
        return None
    reply = entries.popleft()
    assert isinstance(reply, Reply)  # noqa: S101 - the loop above took everything else
    answered = (reply.position, reply.agent, reply.phase)
    if answered not in [(ask.position, ask.agent.name, ask.phase) for ask in pending.asks]:
        raise HistoryMismatch(reply.position)
    replay.is_late = replay.is_aborted
    _abort_if_nothing_is_in_flight(replay, entries)
    return reply


def _abort_if_nothing_is_in_flight(replay: Replay, entries: deque[Reply | AbortRequested]) -> None:
    """Learn of a cancellation that no reply follows, before anything else is begun.

    Where a reply follows, its call was under way when the job was cancelled, so it was begun.
    """
    if entries and not any(isinstance(entry, Reply) for entry in entries):
        replay.is_aborted = True


def _expect_no_replies(entries: deque[Reply | AbortRequested]) -> None:
    for entry in entries:
        if isinstance(entry, Reply):
            raise HistoryMismatch(entry.position)
