"""What has happened: the replies of a job's model calls, and its cancellation, in order.

A history is a ledger read back. It says nothing about what comes next; `steps.next_step` does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from verification.domain.consensus.failures import Failure
from verification.domain.errors import VerificationError


class Phase(StrEnum):
    """What a call is for. Stored; add, never repurpose."""

    PROPOSER = "proposer"
    JUDGE = "judge"
    REVISION = "revision"
    WORKER = "worker"
    DECOMPOSITION = "decomposition"
    SYNTHESIS = "synthesis"
    APPROVAL = "approval"
    """A person says whether a plan is run, and may change it first."""
    RULING = "ruling"
    """A person says whether a result that its judges did not accept counts all the same."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a call used, and what it was found to cost when it was made."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: Decimal | None = Decimal(0)
    """US dollars at the prices of that day; None where no price was known."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
        )

    @property
    def total(self) -> int:
        """Input and output together: what token budgets count."""
        return self.input_tokens + self.output_tokens


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Reply:
    """How one call ended. Content: `text` never leaves the restricted zone."""

    position: int
    """The position of the ask it answers; the first ask of a job is 0."""
    agent: str
    phase: Phase
    text: str = ""
    usage: Usage = NO_USAGE
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class AbortRequested:
    """Somebody cancelled the job. A reply recorded after this one was already in flight."""


History = Sequence[Reply | AbortRequested]


class HistoryMismatch(VerificationError):
    """A recorded reply does not answer what these rules ask at that position."""

    def __init__(self, position: int) -> None:
        self.position = position
        super().__init__(f"The reply recorded at position {position} answers another ask.")
