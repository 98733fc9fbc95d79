"""Plays workflows: starts runs, writes their logs, pauses them for a person, resumes, cancels.

One event loop and no waiting between a check and its effect: two answers to one interrupt can
never both be taken. What a workflow does is a script's business, how it is told the dialect's.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from openwop_console.demo.asgi import JsonObject
from openwop_console.demo.dialects import Dialect, Draft
from openwop_console.demo.interrupts import Ask, Outcome, judge
from openwop_console.demo.store import (
    TERMINAL,
    Ids,
    Interrupt,
    InterruptState,
    Run,
    Store,
    iso,
    utc_now,
)
from openwop_console.demo.turn import Turn

Script = Callable[[Turn], Awaitable[None]]
Outlet = Callable[[JsonObject], None]
"""Takes each event as it is written; must not block."""

log = logging.getLogger(__name__)


class RunIsTerminal(Exception):
    """The run has ended, so there is nothing to cancel."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast scripts play."""

    beat_s: float = 0.0
    interrupt_ttl_s: float = 86_400.0


class Engine:
    """The host's runs and what moves them."""

    def __init__(
        self, dialect: Dialect, workflows: Mapping[str, Script], ids: Ids, pace: Pace | None = None
    ) -> None:
        self.dialect = dialect
        self.workflows = workflows
        self.store = Store()
        self.applied: list[JsonObject] = []
        """Every answer that took effect, once each: what tests count."""
        self._ids = ids
        self._pace = pace or Pace()
        self._outlets: list[Outlet] = []
        self._playing: dict[str, asyncio.Task[None]] = {}

    def add_outlet(self, outlet: Outlet) -> None:
        """Let somebody hear every event."""
        self._outlets.append(outlet)

    def start(self, workflow_id: str, inputs: JsonObject, parent: Run | None = None) -> Run:
        """Create a run and begin to play it. Raises KeyError for an unknown workflow."""
        script = self.workflows[workflow_id]
        run = Run(self.dialect.events.run_id(), workflow_id, inputs, utc_now(), parent)
        self.store.add_run(run)
        if parent is not None:
            parent.children.append(run)
        self._playing[run.run_id] = asyncio.ensure_future(self._play(run, script))
        return run

    async def _play(self, run: Run, script: Script) -> None:
        turn = Turn(self, run)
        started: JsonObject = {"workflowId": run.workflow_id, "transport": "rest"}
        if run.inputs:
            started["inputs"] = run.inputs
        try:
            run.status = "running"
            await turn.emit("run.started", started)
            await script(turn)
            if not run.is_terminal:
                self.append(run, [Draft("run.completed", {"outputs": {}})])
        except Exception as error:  # the outermost edge of a script: only its run fails
            place = traceback.extract_tb(error.__traceback__)[-1]
            log.error(  # noqa: TRY400 - the message could repeat what a person answered
                "A script broke off: %s at %s:%s",
                type(error).__name__,
                place.filename,
                place.lineno,
            )
            failure = {"code": "internal_error", "message": "The workflow broke off."}
            if not run.is_terminal:
                self.append(run, [Draft("run.failed", {"error": failure})])
        finally:
            self._playing.pop(run.run_id, None)

    async def beat(self, length: float) -> None:
        """Let time pass between two events."""
        await asyncio.sleep(self._pace.beat_s * length)

    def append(self, run: Run, drafts: Iterable[Draft]) -> list[JsonObject]:
        """Write events to a run's log and tell everybody."""
        written = []
        for draft in drafts:
            sequence = self.dialect.events.first_sequence + len(run.events)
            event = self.dialect.events.event(run, draft, sequence, iso(utc_now()))
            run.events.append(event)
            run.types.append(draft.type)
            self._note_state(run, draft)
            written.append(event)
        for event in written:
            for outlet in self._outlets:
                outlet(event)
        run.ring()
        return written

    def _note_state(self, run: Run, draft: Draft) -> None:
        if draft.type == "node.started":
            run.current_node = draft.node_id
        subject, _, what = draft.type.partition(".")
        if subject != "run" or what not in TERMINAL:
            return
        run.status = what
        run.ended_at = utc_now()
        if what == "failed":
            run.error = dict((draft.payload or {})["error"])
        elif what == "cancelled":
            run.error = {"code": "cancelled", "message": (draft.payload or {}).get("reason", "")}
        for interrupt in run.interrupts:
            if interrupt.state is InterruptState.OPEN:
                interrupt.state = InterruptState.INVALIDATED

    async def pause(self, run: Run, ask: Ask) -> Interrupt:
        """Suspend a run until a person has answered; returns the resolved interrupt."""
        events = self.dialect.events
        created_at = utc_now()
        interrupt = Interrupt(
            ask=ask,
            interrupt_id=events.interrupt_id(),
            token=self._ids.token(),
            created_at=created_at,
            expires_at=created_at + timedelta(seconds=self._pace.interrupt_ttl_s),
        )
        if events.records(ask):
            run.current_node = ask.node_id
            self.store.add_interrupt(run, interrupt)
        else:
            run.current_node = None
        run.status = events.waiting_status(ask)
        self.append(run, events.suspended(interrupt))
        await interrupt.answered.wait()
        return interrupt

    def resolve(self, run: Run, interrupt: Interrupt, value: object) -> Outcome:
        """Take a person's answer to an open interrupt.

        Raises:
            AnswerRefused: the answer does not fit; the interrupt stays open.
        """
        events = self.dialect.events
        at = iso(utc_now())
        judged = judge(interrupt.ask, value, votes=interrupt.votes, at=at, habits=events.habits)
        interrupt.votes = list(judged.votes)
        interrupt.outcome = judged.outcome
        node = interrupt.ask.node_id
        self.applied.append({"runId": run.run_id, "nodeId": node, "resumeValue": value})
        if judged.outcome is Outcome.PENDING:
            self.append(run, events.voted(interrupt))
            return judged.outcome
        interrupt.state = InterruptState.RESOLVED
        interrupt.resume_value = value
        run.status = "running"
        self.append(run, events.resumed(interrupt))
        if run.is_terminal:
            self._stop_playing(run)
        interrupt.answered.set()
        return judged.outcome

    def cancel(self, run: Run, reason: str | None, *, parent: Run | None = None) -> None:
        """End a run and its children. Raises RunIsTerminal when it has ended already."""
        if run.is_terminal:
            raise RunIsTerminal(run.run_id)
        self._stop_playing(run)
        payload: JsonObject = {} if reason is None else {"reason": reason}
        if parent is not None:
            payload = {"reason": "parent-cancelled", "parentRunId": parent.run_id}
        self.append(run, [Draft("run.cancelled", payload)])
        for child in run.children:
            if not child.is_terminal:
                self.cancel(child, None, parent=run)

    def _stop_playing(self, run: Run) -> None:
        playing = self._playing.get(run.run_id)
        if playing is not None and playing is not asyncio.current_task():
            playing.cancel()

    async def finished(self, run: Run) -> None:
        """Return when a run has ended."""
        while not run.is_terminal:
            await run.bell.wait()

    async def close(self) -> None:
        """Stop all scripts where they are; no more events are written."""
        playing: Sequence[asyncio.Task[None]] = list(self._playing.values())
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
