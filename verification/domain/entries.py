"""What a log speaks of in several lines: actors' turns, child runs, orchestrators' decisions."""

from dataclasses import dataclass, field

from runs.domain.interrupts import sequence_of
from runs.domain.log import LogLine
from runs.domain.readers import DecisionRead


@dataclass(frozen=True, slots=True)
class Turn:
    """A result of an actor: one `agent.decided`."""

    line: LogLine
    sequence: int
    agent_id: str | None
    node_id: str | None


@dataclass(slots=True)
class Child:
    """What the parent's log says of a child run."""

    run_id: str
    first: LogLine
    """The first line that names it."""
    workers: set[str] = field(default_factory=set)
    """The worker or workflow that it runs."""
    host_ids: set[str] = field(default_factory=set)
    completed_at: int | None = None
    attempts: list[int] = field(default_factory=list)
    """Sequences at which the handoff says that the child was started or came back."""
    merges: list[LogLine] = field(default_factory=list)
    """`output.harvested` lines by which its output was applied to the parent."""
    empty_harvests: list[LogLine] = field(default_factory=list)
    """Those that say that nothing was applied."""

    @property
    def begun_at(self) -> int:
        """Return the sequence at which the child is first named."""
        return sequence_of(self.first)


@dataclass(frozen=True, slots=True)
class Decided:
    """An orchestrator's decision that can be read."""

    line: LogLine
    said: DecisionRead

    @property
    def sequence(self) -> int:
        """Return its place in the run."""
        return sequence_of(self.line)
