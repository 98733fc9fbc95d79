"""The door to this package: what to do next, and what has been observed so far.

Both are functions of the rules and the history and of nothing else. A worker asks, does the one
thing, records the reply, and asks again; when it is killed, another one does the same.
"""

from dataclasses import dataclass
from typing import assert_never

from verification.domain.consensus.asks import (
    Ask,
    AskCoordinator,
    AskJudge,
    AskProposer,
    AskWorker,
)
from verification.domain.consensus.consensus_run import run_consensus
from verification.domain.consensus.history import History
from verification.domain.consensus.observed import Observed
from verification.domain.consensus.replay import Cause, Replay, RunBroken, follow
from verification.domain.consensus.result import Result
from verification.domain.consensus.rules import ConsensusRules
from verification.domain.consensus.tasks import TaskRules, run_tasks
from verification.domain.consensus.team import TeamRules, run_team
from verification.domain.consensus.team_result import TeamResult

Rules = ConsensusRules | TaskRules | TeamRules


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing is left to do."""

    result: Result | TeamResult


@dataclass(frozen=True, slots=True)
class Broken:
    """The job cannot end properly and has no result. A gate that waits for it gets a fail."""

    cause: Cause


Step = AskProposer | AskJudge | AskWorker | AskCoordinator | Done | Broken


def next_step(rules: Rules, history: History) -> Step:
    """Say what must happen next, given all that has happened.

    A consensus by itself asks proposers and judges only; workers and coordinators are asked in runs
    of tasks and teams.

    Raises:
        HistoryMismatch: the history belongs to other rules.
    """
    step, _ = _replayed(rules, history)
    return step


def observed(rules: Rules, history: History) -> Observed:
    """Return everything the job has shown so far; work that still goes on has open spans.

    Raises:
        HistoryMismatch: the history belongs to other rules.
    """
    _, shown = _replayed(rules, history)
    return shown


def _replayed(rules: Rules, history: History) -> tuple[Step, Observed]:
    replay = Replay(rules.setting)
    try:
        ended = _follow(replay, rules, history)
    except RunBroken as broken:
        replay.observed.close_all()
        return Broken(broken.cause), replay.observed
    if isinstance(ended, tuple):
        return Done(ended[0]), replay.observed
    return ended, replay.observed


def _follow(
    replay: Replay, rules: Rules, history: History
) -> Ask | tuple[Result] | tuple[TeamResult]:
    match rules:
        case ConsensusRules():
            return follow(replay, run_consensus(replay, rules), history)
        case TaskRules():
            return follow(replay, run_tasks(replay, rules), history)
        case TeamRules():
            return follow(replay, run_team(replay, rules), history)
        case _:
            assert_never(rules)
