"""Short ways to say rules and replies in tests."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.consensus.drive import Entry, drive
from verification.domain.consensus import failures
from verification.domain.consensus.agents import Agent
from verification.domain.consensus.asks import AskAgent, AskJudge
from verification.domain.consensus.failures import Failure
from verification.domain.consensus.history import Usage
from verification.domain.consensus.result import Result
from verification.domain.consensus.rules import ConsensusRules, Panel, Setting
from verification.domain.consensus.steps import Done

QUESTION = "What is the boiling point of compound X-17?"
FIVE = Usage(3, 2)
BOOM = failures.raised()

Says = str | Failure


def accept(**more: Any) -> str:
    return json.dumps({"accept": True, **more})


def dissent(critique: str = "not so") -> str:
    return json.dumps({"accept": False, "critique": critique})


def agents(*names: str) -> tuple[Agent, ...]:
    return tuple(Agent(name, "fake-model") for name in names)


def rules(
    *judges: str,
    proposers: tuple[str, ...] = ("solver",),
    setting: Setting | None = None,
    **panel: Any,
) -> ConsensusRules:
    return ConsensusRules(
        question=QUESTION,
        proposers=agents(*proposers),
        panel=Panel(judges=agents(*(judges or ("ja",))), **panel),
        setting=setting or Setting(),
    )


def saying(lines: Mapping[str, list[Says]]) -> Callable[[AskAgent], list[Entry]]:
    """Answer each agent's asks with its lines, one after another; a failure fails the call."""
    left = {name: list(said) for name, said in lines.items()}

    def answer(ask: AskAgent) -> list[Entry]:
        return [reply(ask, left[ask.agent.name].pop(0))]

    return answer


def reply(ask: AskAgent, said: Says) -> Entry:
    return ask.failed(said) if isinstance(said, Failure) else ask.answered(said, FIVE)


def judged(ask: AskAgent) -> bool:
    return isinstance(ask, AskJudge)


def result_of(asked: ConsensusRules, **lines: list[Says]) -> Result:
    """Run a consensus on scripted lines and return its result."""
    step, _ = drive(asked, saying(lines))
    assert isinstance(step, Done)
    assert isinstance(step.result, Result)
    return step.result
