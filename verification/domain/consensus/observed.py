"""What a run shows of itself: spans, trace and progress events, memory writes, prices asked for.

All of it is derived from the history, so it comes out the same however often a job is resumed.
Critiques and outputs in it are content and belong in the restricted zone; span attributes hold
none.

Source: open-multi-agent observability, schema v2 and the older callback events.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from verification.domain.consensus.budgets import Crossing, Purchase
from verification.domain.consensus.failures import BROKEN_OFF, Failure, Status
from verification.domain.consensus.history import NO_USAGE, Usage
from verification.domain.consensus.result import Basis, Verdict


class SpanKind(StrEnum):
    """What a span times."""

    RUN = "run"
    CONSENSUS = "consensus"
    AGENT = "agent"
    TASK = "task"
    PLAN = "plan"
    CALLBACK = "callback"


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened inside a span."""

    name: str
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Span:
    """A piece of work with a beginning and, unless it is still going on, an end."""

    number: int
    """Counts spans from 0 in order of their start."""
    parent: int | None
    kind: SpanKind
    name: str
    attributes: dict[str, object]
    events: list[SpanEvent] = field(default_factory=list)
    status: Status | None = None
    """None while the span is open."""
    failure: Failure | None = None

    @property
    def has_ended(self) -> bool:
        """True once the work is over."""
        return self.status is not None

    def note(self, name: str, attributes: Mapping[str, object] | None = None) -> None:
        """Add an event."""
        self.events.append(SpanEvent(name, attributes or {}))

    def end(
        self,
        status: Status,
        failure: Failure | None = None,
        attributes: Mapping[str, object] | None = None,
    ) -> None:
        """Close the span. A span that is closed stays as it was closed."""
        if self.has_ended:
            return
        self.status, self.failure = status, failure
        self.attributes |= attributes or {}


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """An event of the older trace callback."""

    type: str
    agent: str
    details: Mapping[str, object]
    task: str | None = None


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """What an agent's turn came to, as progress events and task records show it. Content."""

    output: str
    status: Status
    usage: Usage = NO_USAGE
    failure: Failure | None = None
    structured: object = None
    """The output as its schema understands it; None without a schema."""

    @property
    def has_succeeded(self) -> bool:
        """True when the agent did what it was asked."""
        return self.status is Status.OK


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """A line for whoever is watching."""

    type: str
    agent: str | None = None
    task: str | None = None
    outcome: AgentOutcome | None = None
    crossing: Crossing | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """An entry of shared memory, under the namespace of the agent it is about. Content."""

    agent: str
    name: str
    value: str

    @property
    def key(self) -> str:
        """The entry's full key."""
        return f"{self.agent}/{self.name}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What the verify hook made of a task's output."""

    verdict: Verdict
    dissent: tuple[str, ...]
    rounds: int
    basis: Basis


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What a recovery policy is told about a finished task."""

    kind: str
    task: str
    output: str
    verification: Verification | None


@dataclass(slots=True)
class Observed:
    """Everything a run has shown so far."""

    spans: list[Span] = field(default_factory=list)
    trace: list[TraceEvent] = field(default_factory=list)
    progress: list[ProgressEvent] = field(default_factory=list)
    memory: list[MemoryWrite] = field(default_factory=list)
    purchases: list[Purchase] = field(default_factory=list)
    outcomes: list[TaskOutcome] = field(default_factory=list)

    def start(
        self, kind: SpanKind, name: str, parent: Span | None, attributes: Mapping[str, object]
    ) -> Span:
        """Open a span below another, or the root span."""
        number = None if parent is None else parent.number
        span = Span(len(self.spans), number, kind, name, dict(attributes))
        self.spans.append(span)
        return span

    def close_all(self) -> None:
        """End what is still open, innermost first, because the run broke."""
        for span in reversed(self.spans):
            span.end(Status.ERROR, BROKEN_OFF)
