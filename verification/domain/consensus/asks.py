"""What a job can be told to do next: ask one agent one thing."""

from dataclasses import dataclass

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.failures import Failure
from verification.domain.consensus.history import Phase, Reply, Usage
from verification.domain.consensus.prompts import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgent:
    """The part that all asks share."""

    position: int
    """Counts the calls of a job from 0; with the job's id it names this call for ever."""
    agent: Agent
    phase: Phase
    prompt: Prompt
    is_repair: bool = False
    """The agent's last reply missed its output schema; this is its one second chance."""
    task: str | None = None
    """Id of the task this call belongs to."""
    nonce: str | None = None
    """The nonce that fences this call's data, if the job fences its prompts."""

    def answered(self, text: str, usage: Usage) -> Reply:
        """Return the history's entry for a call that was answered."""
        return Reply(self.position, self.agent.name, self.phase, text, usage)

    def failed(self, failure: Failure, text: str = "") -> Reply:
        """Return the history's entry for a call that failed; it is not charged."""
        return Reply(self.position, self.agent.name, self.phase, text, failure=failure)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskProposer(AskAgent):
    """Ask for an answer (phase proposer), or for a better one (phase revision)."""

    round: int
    """0 for a first answer, else the round that dissented."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskJudge(AskAgent):
    """Ask a judge for a verdict on an answer."""

    round: int
    answer: str
    """The answer under judgement, for judges that are rules and need no prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskWorker(AskAgent):
    """Ask a task's assignee to do it."""

    attempt: int = 1
    wait_ms: float = 0.0
    """How long to wait before this attempt; more than 0 only when it is a retry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCoordinator(AskAgent):
    """Ask the coordinator for a plan (decomposition) or for the final answer (synthesis)."""


PERSON = Agent("person")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPerson(AskAgent):
    """Wait for a person: for a plan's approval, or for a ruling on a task's result."""


Ask = AskProposer | AskJudge | AskWorker | AskCoordinator | AskPerson
