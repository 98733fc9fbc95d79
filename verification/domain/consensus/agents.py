"""Who is asked: an agent's name and limits, without keys, clients or prompts."""

from dataclasses import dataclass

from verification.domain.consensus.rule_judges import Rule
from verification.domain.consensus.schemas import OutputSchema


@dataclass(frozen=True, slots=True)
class Agent:
    """A proposer, judge, worker or coordinator."""

    name: str
    model: str = ""
    """What the name stands for when a price is looked up."""
    output_schema: OutputSchema | None = None
    """Replies must be JSON of this form; one repair is asked for before they count as failed."""
    max_tokens: int | None = None
    """Ceiling of one turn of this agent; a turn that passes it has failed, whatever it says."""
    rule: Rule | None = None
    """For a judge without a model: the rule that decides."""
