"""Scripted models: each agent has a list of replies, and a call takes the next one."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.consensus.drive import Entry
from verification.domain.consensus import failures
from verification.domain.consensus.asks import AskAgent, AskJudge, AskProposer
from verification.domain.consensus.failures import Failure, FailureKind, Status
from verification.domain.consensus.history import AbortRequested, Reply, Usage

AGENT_TIMEOUT = Failure(Status.TIMEOUT, FailureKind.TIMEOUT, True, name="TimeoutError")
"""All calls of one agent together took longer than they may."""


class ScriptExhausted(AssertionError):
    """An agent was asked more often than its script has replies."""


@dataclass
class Call:
    """A call that reached a model."""

    agent: str
    phase: str
    round: int | None
    task: str | None
    is_repair: bool
    system: str
    user: str


@dataclass
class World:
    """Answers asks from a vector's script. Position-keyed, so it can go on from any history."""

    script: dict[str, list[dict[str, Any]]]
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    taken: Counter[str] = field(default_factory=Counter)

    def answer(self, ask: AskAgent) -> list[Entry]:
        name = ask.agent.name
        items = self.script.get(name, [])
        if self.taken[name] >= len(items):
            raise ScriptExhausted(name)
        item = items[self.taken[name]]
        self.taken[name] += 1
        self.calls.append(_call(ask))
        entries: list[Entry] = [AbortRequested()] if item.get("abort") else []
        return [*entries, self._reply(ask, item)]

    def _reply(self, ask: AskAgent, item: dict[str, Any]) -> Reply:
        if "reply" in item:
            usage = Usage(item["usage"]["input_tokens"], item["usage"]["output_tokens"])
            return ask.answered(item["reply"], usage)
        if "error" in item:
            error = item["error"]
            failure = failures.raised(error.get("name", "Error"), error.get("status"))
            return ask.failed(failure, error["message"])
        return ask.failed(self._hang(ask.agent.name, item))

    def _hang(self, name: str, item: dict[str, Any]) -> Failure:
        if item.get("abort"):
            return failures.CANCELLED
        limits = self.agents.get(name, {})
        call_ms, agent_ms = limits.get("callTimeoutMs"), limits.get("timeoutMs")
        if agent_ms is None or (call_ms is not None and call_ms <= agent_ms):
            return failures.CALL_TIMEOUT
        return AGENT_TIMEOUT

    def unconsumed(self) -> dict[str, int]:
        left = {name: len(items) - self.taken[name] for name, items in self.script.items()}
        return {name: count for name, count in left.items() if count}


def _call(ask: AskAgent) -> Call:
    round_ = ask.round if isinstance(ask, AskJudge | AskProposer) else None
    return Call(
        ask.agent.name,
        ask.phase.value,
        round_,
        ask.task,
        ask.is_repair,
        ask.prompt.system,
        ask.prompt.user,
    )
