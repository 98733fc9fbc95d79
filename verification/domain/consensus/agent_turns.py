"""One agent's turn: its call, its own budget, and one repair if its reply must have a form.

Used for every agent of every kind of job, so a call is charged, traced and judged failed in one
place only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from verification.domain.consensus import prompts
from verification.domain.consensus.agents import Agent
from verification.domain.consensus.asks import Ask
from verification.domain.consensus.failures import (
    CANCELLED,
    OUTPUT_INVALID,
    TOKEN_BUDGET_EXCEEDED,
    Failure,
    Status,
    seen_after_abort,
)
from verification.domain.consensus.history import Reply, Usage
from verification.domain.consensus.json_text import NotJson, find
from verification.domain.consensus.observed import AgentOutcome, Span, SpanKind, TraceEvent
from verification.domain.consensus.replay import Procedure, Replay
from verification.domain.consensus.schemas import OutputSchema, SchemaMismatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An agent's turn to be taken."""

    ask: Ask
    parent: Span
    attributes: Mapping[str, object] = field(default_factory=dict)
    """Of the span, beside the agent's name."""
    is_traced: bool = False
    """Whether the older trace callback hears of it; judges and revisions are left out there."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A turn that was taken."""

    outcome: AgentOutcome
    turns: int
    """Replies that came; 0 for a call that failed or was never made."""
    is_cut_off: bool = False
    """The job was cancelled before this turn's last reply came, so it decides nothing."""
    was_raised: bool = False
    """It failed because a call failed, not because of what a reply said."""

    @property
    def is_hopeless(self) -> bool:
        """True when another attempt could not do better."""
        failure = self.outcome.failure
        return self.was_raised and failure is not None and not failure.is_retryable


def take(replay: Replay, turn: Turn) -> Procedure[Taken]:
    """Let an agent have its turn; its span and trace are written either way."""
    agent = turn.ask.agent
    span = replay.observed.start(
        SpanKind.AGENT,
        "invoke_agent",
        turn.parent,
        {"oma.agent.name": agent.name, **turn.attributes},
    )
    taken = yield from _call(replay, turn)
    if agent.output_schema is not None and taken.outcome.has_succeeded:
        taken = yield from _read_or_repair(replay, turn, taken, agent.output_schema)
    _close(replay, turn, span, taken)
    return taken


def _call(replay: Replay, turn: Turn) -> Procedure[Taken]:
    reply = yield from replay.ask(turn.ask)
    if reply is None:
        return Taken(AgentOutcome("", Status.CANCELLED, failure=CANCELLED), 0, is_cut_off=True)
    if reply.failure is not None:
        return _failed(reply, reply.failure, is_late=replay.is_late)
    _trace_call(replay, turn, reply)
    failure = _own_budget_failure(turn.ask.agent, reply.usage)
    status = Status.OK if failure is None else failure.status
    outcome = AgentOutcome(reply.text, status, reply.usage, failure)
    return Taken(outcome, 1, is_cut_off=replay.is_late)


def _failed(reply: Reply, failure: Failure, *, is_late: bool) -> Taken:
    if is_late:
        failure = seen_after_abort(failure)
    outcome = AgentOutcome(reply.text, failure.status, failure=failure)
    return Taken(outcome, 0, is_cut_off=is_late, was_raised=True)


def _own_budget_failure(agent: Agent, usage: Usage) -> Failure | None:
    if agent.max_tokens is not None and usage.total > agent.max_tokens:
        return TOKEN_BUDGET_EXCEEDED
    return None


def _read_or_repair(
    replay: Replay, turn: Turn, first: Taken, schema: OutputSchema
) -> Procedure[Taken]:
    read = _read(first, schema)
    if read is not None:
        return read
    prompt = prompts.repairing(turn.ask.prompt, first.outcome.output, turn.ask.nonce)
    ask = replace(turn.ask, position=replay.position, prompt=prompt, is_repair=True)
    second = yield from _call(replay, replace(turn, ask=ask))
    if second.was_raised:
        return second
    usage = first.outcome.usage + second.outcome.usage
    merged = replace(
        second,
        outcome=replace(second.outcome, usage=usage),
        turns=first.turns + second.turns,
    )
    if not merged.outcome.has_succeeded:
        return merged
    read = _read(merged, schema)
    if read is not None:
        return read
    invalid = replace(merged.outcome, status=OUTPUT_INVALID.status, failure=OUTPUT_INVALID)
    return replace(merged, outcome=invalid)


def _read(taken: Taken, schema: OutputSchema) -> Taken | None:
    """Return the turn with its output understood, or None where it misses the schema."""
    try:
        structured = schema.read(find(taken.outcome.output).value)
    except (NotJson, SchemaMismatch):
        return None
    return replace(taken, outcome=replace(taken.outcome, structured=structured))


def _trace_call(replay: Replay, turn: Turn, reply: Reply) -> None:
    if not turn.is_traced or replay.is_late:
        return
    details = {
        "model": turn.ask.agent.model,
        "phase": "turn",
        "turn": 1,
        "tokens": reply.usage,
    }
    replay.observed.trace.append(
        TraceEvent("llm_call", turn.ask.agent.name, details, turn.ask.task)
    )


def _close(replay: Replay, turn: Turn, span: Span, taken: Taken) -> None:
    outcome = taken.outcome
    span.end(
        outcome.status,
        outcome.failure,
        {
            "oma.agent.turns": taken.turns,
            "oma.agent.tool_calls": 0,
            "oma.usage.input_tokens": outcome.usage.input_tokens,
            "oma.usage.output_tokens": outcome.usage.output_tokens,
        },
    )
    if turn.is_traced:
        details = {"turns": taken.turns, "tokens": outcome.usage, "toolCalls": 0}
        replay.observed.trace.append(
            TraceEvent("agent", turn.ask.agent.name, details, turn.ask.task)
        )
