"""A run of tasks: each is worked on when those before it are done, and verified where asked.

Source: open-multi-agent runTasks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from verification.domain.consensus import prompts
from verification.domain.consensus.agent_turns import Taken, Turn, take
from verification.domain.consensus.agents import Agent
from verification.domain.consensus.asks import PERSON, Ask, AskPerson, AskWorker
from verification.domain.consensus.budgets import EstimatorInvalid, Purchase, Purse
from verification.domain.consensus.context import DependencyUnusable, context_of
from verification.domain.consensus.failures import (
    BROKEN_OFF,
    CANCELLED,
    COST_UNKNOWN,
    Failure,
    Status,
)
from verification.domain.consensus.history import NO_USAGE, Phase, Reply
from verification.domain.consensus.ledger import Ledger, with_more
from verification.domain.consensus.observed import (
    AgentOutcome,
    Span,
    SpanKind,
    TaskOutcome,
    TraceEvent,
    Verification,
)
from verification.domain.consensus.queue import (
    LONGEST_WAIT_MS,
    EmptyTeam,
    Task,
    TaskSpec,
    TaskStatus,
    load,
)
from verification.domain.consensus.replay import Procedure, Replay, RunBroken, Several
from verification.domain.consensus.result import Basis, Verdict
from verification.domain.consensus.rules import Setting, Unaccepted
from verification.domain.consensus.team_result import TeamResult, summarise
from verification.domain.consensus.verify_hook import verify

LET_THROUGH = "override"
"""The ruling after which a result counts; every other one leaves it withheld."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRules:
    """Tasks and the team that works on them."""

    team: tuple[Agent, ...]
    tasks: tuple[TaskSpec, ...]
    setting: Setting = field(default_factory=Setting)

    def __post_init__(self) -> None:
        if not self.team:
            raise EmptyTeam


def run_tasks(replay: Replay, rules: TaskRules) -> Procedure[TeamResult]:
    """Work through the tasks, as many at a time as was agreed."""
    root = replay.open_root()
    ledger = Ledger(replay=replay, root=root, team=rules.team, purse=Purse(rules.setting.budgets))
    ledger.fill(load(rules.tasks, (agent.name for agent in rules.team)))
    yield from work_through(ledger)
    result = summarise(
        tuple(ledger.results.values()),
        ledger.queue.tasks,
        forced=ledger.stopped_by,
        metadata=rules.setting.metadata,
    )
    root.end(result.status, result.failure)
    return result


def work_through(ledger: Ledger) -> Procedure[None]:
    """Do every task that can be done; stop at a cancellation or an overdrawn budget."""
    lanes: list[_Lane] = []
    try:
        while True:
            _begin_what_may(ledger, lanes)
            if not lanes:
                break
            reply = yield Several(tuple(lane.asks for lane in lanes))
            for lane in _answered(lanes, reply):
                _advance(lanes, lane, reply)
    except RunBroken:
        ledger.skip_rest()
        raise
    if ledger.replay.is_aborted:
        ledger.stopped_by = CANCELLED
    if ledger.is_stopped:
        ledger.skip_rest()


@dataclass(slots=True, eq=False)
class _Lane:
    """A task being worked on, and what it waits for."""

    work: Procedure[None]
    waits_for: Ask | None = None

    @property
    def asks(self) -> Ask:
        """Return the ask it waits for; a lane without one has ended and is in no list."""
        assert self.waits_for is not None  # noqa: S101 - see _advance()
        return self.waits_for


def _begin_what_may(ledger: Ledger, lanes: list[_Lane]) -> None:
    """Begin ready tasks; whoever waits for a person takes up no place."""
    at_once = ledger.replay.setting.at_once
    while not ledger.is_stopped:
        at_work = sum(not isinstance(lane.asks, AskPerson) for lane in lanes)
        task = ledger.queue.next_ready() if at_work < at_once else None
        if task is None:
            return
        lane = _Lane(_do(ledger, task))
        lanes.append(lane)
        _advance(lanes, lane, None)


def _answered(lanes: list[_Lane], reply: Reply | None) -> Iterable[_Lane]:
    """Return the lanes that go on: one with its reply, or all where the run was cancelled."""
    return [lane for lane in lanes if reply is None or lane.asks.position == reply.position]


def _advance(lanes: list[_Lane], lane: _Lane, reply: Reply | None) -> None:
    try:
        asked = lane.work.send(reply)
    except StopIteration:
        lanes.remove(lane)
        return
    assert not isinstance(asked, Several)  # noqa: S101 - only work_through() asks for several
    lane.waits_for = asked


@dataclass(slots=True)
class _Work:
    """One task being worked on."""

    ledger: Ledger
    task: Task
    worker: Agent
    span: Span
    retries: int = 0

    def end(self, failure: Failure | None, outcome: AgentOutcome, *, is_counted: bool) -> None:
        """Close the task's span and tell the trace callback."""
        attributes: Mapping[str, object] = {"oma.task.retries": self.retries} if is_counted else {}
        self.span.end(outcome.status, failure, attributes)
        details = {"success": outcome.has_succeeded, "retries": self.retries}
        trace = TraceEvent("task", self.worker.name, details, self.task.id)
        self.ledger.replay.observed.trace.append(trace)

    def fail(self, outcome: AgentOutcome, *, is_counted: bool = True) -> None:
        """Record that the task failed, and with it what depends on it."""
        self.task.outcome = outcome
        self.ledger.record(self.task.id, self.worker.name, outcome)
        self.ledger.queue.fail(self.task, outcome.output)
        self.end(outcome.failure, outcome, is_counted=is_counted)
        self.ledger.replay.report("error", self.worker.name, self.task.id)


def _do(ledger: Ledger, task: Task) -> Procedure[None]:
    worker = ledger.next_agent() if task.assignee is None else ledger.agent(task.assignee)
    task.assignee, task.status = worker.name, TaskStatus.IN_PROGRESS
    attributes = {"oma.task.id": task.id, "oma.task.title": task.spec.title}
    attributes["oma.agent.name"] = worker.name
    if task.spec.role is not None:
        attributes["oma.task.role"] = task.spec.role
    span = ledger.replay.observed.start(SpanKind.TASK, "execute_task", ledger.root, attributes)
    work = _Work(ledger, task, worker, span)
    ledger.replay.report("task_start", worker.name, task.id)
    ledger.replay.report("agent_start", worker.name, task.id)
    try:
        yield from _work_on(work)
    except RunBroken:
        span.end(BROKEN_OFF.status, BROKEN_OFF)
        raise


def _work_on(work: _Work) -> Procedure[None]:
    ledger, task = work.ledger, work.task
    try:
        context = context_of(ledger, task)
    except DependencyUnusable as unusable:
        task.usage = NO_USAGE
        failed = AgentOutcome(str(unusable), unusable.failure.status, failure=unusable.failure)
        work.fail(failed, is_counted=False)
        return
    outcome = yield from _try(work, context)
    task.usage = outcome.usage
    ledger.record(task.id, work.worker.name, outcome)
    try:
        purchase = Purchase(work.worker.name, work.worker.model, "worker", task.id, outcome.usage)
        if ledger.charge(purchase):
            work.span.note("budget_exhausted")
    except EstimatorInvalid as error:
        work.span.note("budget_exhausted")
        unpriced = AgentOutcome(str(error), COST_UNKNOWN.status, outcome.usage, COST_UNKNOWN)
        work.fail(unpriced, is_counted=False)
        return
    if outcome.has_succeeded:
        yield from _deliver(work, outcome)
    else:
        _report_outcome(work, outcome, None)
        work.fail(outcome)


def _try(work: _Work, context: list[prompts.Quoted]) -> Procedure[AgentOutcome]:
    """Ask the worker, again where it failed and may yet succeed; all attempts are charged."""
    spec, spent, wait_ms = work.task.spec, NO_USAGE, 0.0
    while True:
        taken = yield from _attempt(work, context, wait_ms)
        may_retry = not taken.is_hopeless and work.retries < max(0, spec.max_retries)
        if taken.outcome.has_succeeded or not may_retry or work.ledger.replay.is_aborted:
            return with_more(taken.outcome, spent)
        spent += taken.outcome.usage
        work.retries += 1
        wait_ms = _wait_ms(spec, work.retries)
        _announce_retry(work, wait_ms)


def _wait_ms(spec: TaskSpec, retries: int) -> float:
    """Return how long to wait before a retry; a plan may name numbers that no clock can hold."""
    try:
        delay_ms = float(max(0.0, spec.retry_delay_ms)) * max(1.0, spec.retry_backoff) ** (
            retries - 1
        )
    except OverflowError:
        return LONGEST_WAIT_MS
    return delay_ms if delay_ms < LONGEST_WAIT_MS else LONGEST_WAIT_MS


def _announce_retry(work: _Work, wait_ms: float) -> None:
    work.span.note(
        "retry_scheduled",
        {
            "oma.retry.attempt": work.retries,
            "oma.retry.max_attempts": max(0, work.task.spec.max_retries) + 1,
            "oma.retry.delay_ms": wait_ms,
        },
    )
    work.ledger.replay.report("task_retry", work.worker.name, work.task.id)


def _attempt(work: _Work, context: list[prompts.Quoted], wait_ms: float) -> Procedure[Taken]:
    replay, spec, nonce = work.ledger.replay, work.task.spec, work.ledger.replay.nonce()
    ask = AskWorker(
        position=replay.position,
        agent=work.worker,
        phase=Phase.WORKER,
        prompt=prompts.working(spec.title, spec.description, context, nonce),
        attempt=work.retries + 1,
        wait_ms=wait_ms,
        task=work.task.id,
        nonce=nonce,
    )
    attributes = {"oma.agent.attempt": ask.attempt, "oma.task.id": work.task.id}
    turn = Turn(ask=ask, parent=work.span, attributes=attributes, is_traced=True)
    return (yield from take(replay, turn))


def _deliver(work: _Work, outcome: AgentOutcome) -> Procedure[None]:
    ledger, task, verification = work.ledger, work.task, None
    if task.spec.verify is not None and not ledger.purse.is_overdrawn:
        outcome, verification = yield from verify(
            ledger, task, task.spec.verify, work.worker, outcome, work.span
        )
    task.outcome = outcome
    ledger.record(task.id, work.worker.name, outcome)
    _report_outcome(work, outcome, verification)
    if (yield from _counts(work, verification)):
        ledger.replay.remember(work.worker.name, f"task:{task.id}:result", outcome.output)
        ledger.queue.complete(task, outcome.output)
    else:
        for skipped in ledger.queue.withhold(task, outcome.output):
            ledger.replay.report("task_skipped", task=skipped.id)
    ledger.replay.report("task_complete", work.worker.name, task.id, outcome)
    ledger.replay.report("agent_complete", work.worker.name, task.id, outcome)
    work.end(outcome.failure, outcome, is_counted=True)


def _counts(work: _Work, verification: Verification | None) -> Procedure[bool]:
    """Say whether what follows may build on the result."""
    ledger, task = work.ledger, work.task
    policy = ledger.replay.setting.unaccepted
    is_accepted = verification is not None and verification.basis is Basis.QUORUM
    if policy is Unaccepted.STANDS or task.spec.verify is None or is_accepted:
        return True
    if policy is Unaccepted.WITHHELD or verification is None or ledger.is_stopped:
        return False
    ask = AskPerson(
        position=ledger.replay.position,
        agent=PERSON,
        phase=Phase.RULING,
        prompt=prompts.Prompt(user=""),
        task=task.id,
    )
    reply = yield from ledger.replay.ask(ask)
    task.is_let_through = reply is not None and reply.text == LET_THROUGH
    return task.is_let_through and not ledger.replay.is_aborted


def _report_outcome(work: _Work, outcome: AgentOutcome, verification: Verification | None) -> None:
    """Tell a recovery policy what became of the task. It proposes nothing here."""
    replay, task = work.ledger.replay, work.task
    if not replay.setting.reports_outcomes:
        return
    if verification is not None and verification.verdict is Verdict.REJECTED:
        kind = "verification_rejected"
    else:
        kind = "success" if outcome.has_succeeded else "failure"
    span = replay.observed.start(
        SpanKind.CALLBACK,
        "recovery_policy_callback",
        work.span,
        {
            "oma.callback.name": "onTaskOutcome",
            "oma.task.id": task.id,
            "oma.plan.trigger": kind,
        },
    )
    replay.observed.outcomes.append(TaskOutcome(kind, task.id, outcome.output, verification))
    span.note("recovery_decision", {"oma.recovery.proposed": False})
    span.end(Status.OK)
    replay.report("recovery_decision", task=task.id)
