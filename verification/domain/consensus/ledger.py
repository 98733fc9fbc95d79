"""The running account of a run of tasks: what is left to do, what was spent, what stopped it."""

from dataclasses import dataclass, field, replace

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.budgets import EstimatorInvalid, Purchase, Purse
from verification.domain.consensus.failures import Failure
from verification.domain.consensus.history import Usage
from verification.domain.consensus.observed import AgentOutcome, ProgressEvent, Span
from verification.domain.consensus.queue import Queue
from verification.domain.consensus.replay import Cause, Replay, RunBroken
from verification.domain.consensus.team_result import AgentResult


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Lives for one replay only."""

    replay: Replay
    root: Span
    team: tuple[Agent, ...]
    purse: Purse
    queue: Queue = field(default_factory=Queue)
    results: dict[str, AgentResult] = field(default_factory=dict)
    """By what the work was for: a task's id, or `decomposition` or `synthesis`."""
    stopped_by: Failure | None = None
    """What decides the run's status, where something other than its tasks does."""
    turn: int = 0
    """Whose turn it is to get a task that nobody was named for."""

    @property
    def is_stopped(self) -> bool:
        """True when nothing may be begun any more."""
        return self.replay.is_aborted or self.purse.is_overdrawn

    def fill(self, queue: Queue) -> None:
        """Take the tasks that are to be done."""
        self.queue = queue
        self.replay.tasks = queue.tasks

    def agent(self, name: str) -> Agent:
        """Return a team member."""
        return next(agent for agent in self.team if agent.name == name)

    def next_agent(self) -> Agent:
        """Return the team member whose turn it is."""
        agent = self.team[self.turn % len(self.team)]
        self.turn += 1
        return agent

    def charge(self, purchase: Purchase, *, reported_as: str | None = None) -> bool:
        """Pay for a call; the first one over a budget stops the run and is reported.

        Args:
            purchase: who used what.
            reported_as: the agent the crossing is reported under; default: the one who used it.

        Returns:
            True when this call was the first over a budget.

        Raises:
            EstimatorInvalid: the estimator gave no price.
        """
        crossing = self.replay.price(self.purse, purchase)
        if crossing is None:
            return False
        self.stopped_by = crossing.failure
        agent = reported_as or purchase.agent
        progress = ProgressEvent("budget_exceeded", agent, purchase.task, crossing=crossing)
        self.replay.observed.progress.append(progress)
        return True

    def charge_or_break(self, purchase: Purchase, *, reported_as: str | None = None) -> bool:
        """Pay for a call whose price is needed. Raises RunBroken when there is none."""
        try:
            return self.charge(purchase, reported_as=reported_as)
        except EstimatorInvalid as error:
            raise RunBroken(Cause.PRICE_INVALID) from error

    def record(self, key: str, agent: str, outcome: AgentOutcome) -> None:
        """Note what an agent's work came to; doing it again replaces it in its old place."""
        self.results[key] = AgentResult(agent, outcome)

    def skip_rest(self) -> None:
        """Give up on everything that is not finished, and say so."""
        for task in self.queue.skip_rest():
            self.replay.report("task_skipped", task=task.id)


def with_more(outcome: AgentOutcome, usage: Usage) -> AgentOutcome:
    """Return an outcome that cost more than it did so far."""
    return replace(outcome, usage=outcome.usage + usage)
