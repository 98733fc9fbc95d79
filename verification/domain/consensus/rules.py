"""What was agreed before a job starts: who answers, who judges, and what decides.

Values are checked here once; nothing behind this module meets an empty panel or a quorum that is
not a number.

Source: open-multi-agent runConsensus options, their defaults and clamps.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.budgets import Budgets
from verification.domain.consensus.schemas import OutputSchema
from verification.domain.errors import VerificationError

MOST_ROUNDS = 10
"""That may be asked for, by a request or by a plan."""


class InvalidConsensus(VerificationError):
    """These rules cannot decide anything. Subclasses name what is wrong."""


class NoProposers(InvalidConsensus):
    """Nobody would answer."""

    def __init__(self) -> None:
        super().__init__("At least one proposer is needed.")


class NoJudges(InvalidConsensus):
    """Nobody would judge, so nothing could be accepted for a reason."""

    def __init__(self) -> None:
        super().__init__("At least one judge is needed.")


class DuplicateJudge(InvalidConsensus):
    """Two judges of one name could not be told apart in the ledger."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__("Every judge of a panel needs a name of its own.")


class NotFinite(InvalidConsensus):
    """A quorum or a number of rounds is infinite or not a number."""

    def __init__(self, option: str) -> None:
        self.option = option
        super().__init__(f"{option} must be a finite number.")


class Mode(StrEnum):
    """How judges look at an answer."""

    REFUTE = "refute"
    LENS = "lens"


class OnDissent(StrEnum):
    """What a round without quorum leads to."""

    REVISE = "revise"
    REJECT = "reject"
    KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The judges and how they decide, as given; None stands for the default."""

    judges: tuple[Agent, ...]
    mode: str | None = None
    """Anything but `lens` means refute."""
    quorum: float | None = None
    """Accepts needed; clamped to 1 … number of judges. Default: half of them, rounded up."""
    max_rounds: float | None = None
    """At least 1; default 2."""
    verdict_schema: OutputSchema | None = None
    on_dissent: str | None = None
    """Default revise; a word that is not known rejects."""
    judge_prompt: str | Mapping[str, str] | None = None
    """Replaces the framing: for all judges, or by judge name. An empty text is an answer too."""

    def __post_init__(self) -> None:
        if not self.judges:
            raise NoJudges
        names = [judge.name for judge in self.judges]
        for name in names:
            if names.count(name) > 1:
                raise DuplicateJudge(name)
        for option, value in (("quorum", self.quorum), ("max_rounds", self.max_rounds)):
            if value is not None and not math.isfinite(value):
                raise NotFinite(option)

    @property
    def has_lenses(self) -> bool:
        """True when each judge gets an angle of its own."""
        return self.mode == Mode.LENS

    @property
    def needed_accepts(self) -> float:
        """How many accepts of one round decide it. May be a fraction: 1.5 needs two."""
        wanted = math.ceil(len(self.judges) / 2) if self.quorum is None else self.quorum
        return min(len(self.judges), max(1, wanted))

    @property
    def round_limit(self) -> float:
        """The last round that may start. May be a fraction, which allows a last revision."""
        return max(1, 2 if self.max_rounds is None else self.max_rounds)

    @property
    def dissent_policy(self) -> OnDissent:
        """What a round without quorum leads to."""
        if self.on_dissent is None:
            return OnDissent.REVISE
        try:
            return OnDissent(self.on_dissent)
        except ValueError:
            return OnDissent.REJECT


def majority(judges: int) -> int:
    """Return the quorum that a gate should ask for: more than half, and never fewer than two.

    A panel clamps it to its size, so whoever sets up a gate refuses panels of one.
    """
    return max(2, judges // 2 + 1)


class Unaccepted(StrEnum):
    """What becomes of a task's result that should have been accepted by a quorum and was not."""

    STANDS = "stands"
    """The verdict is recorded and changes nothing: whatever follows builds on the result."""
    WITHHELD = "withheld"
    """Nothing builds on it; tasks that need it are skipped."""
    ASKED = "asked"
    """A person says whether it counts all the same; else it is withheld."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What all kinds of jobs have in common."""

    run_id: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Facts of the caller, echoed on the result and on the root span."""
    budgets: Budgets = field(default_factory=Budgets)
    remembers: Callable[[str], bool] | None = None
    """Says whether shared memory takes a key; None when there is no shared memory."""
    nonce: Callable[[int], str] | None = None
    """Nonce of the call at a position; None leaves prompts unfenced and the contract open.

    Derive it from a secret of the job: the same position must give the same nonce after a restart,
    and no author of an answer may be able to guess it.
    """
    criteria: tuple[str, ...] = ()
    """The closed criteria keys that judges of fenced calls may name."""
    unaccepted: Unaccepted = Unaccepted.STANDS
    at_once: int = 1
    """Tasks worked on at the same time; never changed once a run has begun."""
    reports_outcomes: bool = False
    """Whether every task's outcome is reported to a recovery policy (which changes nothing)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusRules:
    """A question, those who answer it, and the panel that judges the answer."""

    question: str
    proposers: tuple[Agent, ...]
    panel: Panel
    setting: Setting = field(default_factory=Setting)

    def __post_init__(self) -> None:
        if not self.proposers:
            raise NoProposers
