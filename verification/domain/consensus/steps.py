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
    AskPerson,
    AskProposer,
    AskWorker,
)
from verification.domain.consensus.consensus_run import run_consensus
from verification.domain.consensus.history import History
from verification.domain.consensus.observed import Observed
from verification.domain.consensus.plan import Plan
from verification.domain.consensus.queue import Task
from verification.domain.consensus.replay import Cause, Replay, RunBroken, Several, follow
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


Step = AskProposer | AskJudge | AskWorker | AskCoordinator | AskPerson | Done | Broken


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a job is."""

    pending: tuple[Ask, ...]
    """What may be asked now, in any order and at the same time; empty once it has ended."""
    end: Done | Broken | None
    observed: Observed
    tasks: tuple[Task, ...]
    """Of a run of tasks, as far as they are known."""
    proposed: Plan | None
    """The coordinator's plan as it came."""


def next_step(rules: Rules, history: History) -> Step:
    """Say what must happen next, given all that has happened.

    A consensus by itself asks proposers and judges only; workers and coordinators are asked in runs
    of tasks and teams.

    Raises:
        HistoryMismatch: the history belongs to other rules.
    """
    where = standing(rules, history)
    return where.pending[0] if where.end is None else where.end


def observed(rules: Rules, history: History) -> Observed:
    """Return everything the job has shown so far; work that still goes on has open spans.

    Raises:
        HistoryMismatch: the history belongs to other rules.
    """
    return standing(rules, history).observed


def standing(rules: Rules, history: History) -> Standing:
    """Say how far a job is: all that may be asked now, and all that it has shown.

    Raises:
        HistoryMismatch: the history belongs to other rules.
    """
    replay = Replay(rules.setting)
    pending: tuple[Ask, ...] = ()
    end: Done | Broken | None = None
    try:
        ended = _follow(replay, rules, history)
        if isinstance(ended, Several):
            pending = ended.asks
        else:
            end = Done(ended[0])
    except RunBroken as broken:
        replay.observed.close_all()
        end = Broken(broken.cause)
    return Standing(
        pending=pending,
        end=end,
        observed=replay.observed,
        tasks=tuple(replay.tasks),
        proposed=replay.proposed,
    )


def _follow(
    replay: Replay, rules: Rules, history: History
) -> Several | tuple[Result] | tuple[TeamResult]:
    match rules:
        case ConsensusRules():
            return follow(replay, run_consensus(replay, rules), history)
        case TaskRules():
            return follow(replay, run_tasks(replay, rules), history)
        case TeamRules():
            return follow(replay, run_team(replay, rules), history)
        case _:
            assert_never(rules)
