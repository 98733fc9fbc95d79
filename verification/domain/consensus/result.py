"""What came out of a consensus: the answer, the verdict, and on what the verdict rests.

The basis is kept apart from the verdict because two results that are both "accepted" need not be
worth the same: one has a quorum behind it, the other was merely kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from verification.domain.consensus.failures import Failure, Status
from verification.domain.consensus.history import NO_USAGE, Usage


class Verdict(StrEnum):
    """What a consensus made of an answer."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Basis(StrEnum):
    """On what a verdict rests. Stored; add, never repurpose."""

    QUORUM = "quorum"
    """Enough judges accepted this answer in one round."""
    KEPT = "kept"
    """No quorum, but the rules say to keep the answer anyway."""
    DISSENT = "dissent"
    """The last round heard every judge and missed the quorum."""
    JUDGE_ERROR = "judge_error"
    """The last round missed the quorum, and a judge in it could not be heard."""
    BUDGET = "budget"
    """A budget ran out first."""
    ABORTED = "aborted"
    """The job was cancelled first."""
    NO_ANSWER = "no_answer"
    """No proposer gave an answer, or a task came to nothing."""
    SUSPECTED = "suspected"
    """A quorum accepted, but the answer looks written for judges; a person must look."""


class GateVerdict(StrEnum):
    """The verdict a host is told. Source: RFC 0090 §B, `agent.verified`."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    REVISE = "revise"


@dataclass(frozen=True, slots=True)
class Vote:
    """One judge's verdict in one round: the part of a judgement that is kept for ever."""

    judge: str
    round: int
    accepted: bool
    critique: str = ""
    """Why not; empty when accepted. Content."""
    criteria: tuple[str, ...] = ()
    call_failed: bool = False

    @property
    def labelled(self) -> str:
        """The critique with its judge's name, as the dissent ledger lists it."""
        return f"{self.judge}: {self.critique}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The end of a consensus."""

    answer: str
    """The last answer, whether accepted or not. Content."""
    basis: Basis
    votes: tuple[Vote, ...] = ()
    rounds: int = 0
    """The last round that started; 0 when nothing was judged."""
    usage: Usage = NO_USAGE
    status: Status = Status.OK
    """How the calls went; independent of the verdict."""
    failure: Failure | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Accepted by quorum or because kept; rejected for every other reason."""
        return verdict_of(self.basis)

    @property
    def gate_verdict(self) -> GateVerdict:
        """What a gate is told."""
        return gate_verdict(self.basis)

    @property
    def dissent(self) -> tuple[str, ...]:
        """Every critique of every round, labelled, in the order given."""
        return tuple(vote.labelled for vote in self.votes if not vote.accepted)


def verdict_of(basis: Basis) -> Verdict:
    """Return the verdict that a basis carries."""
    return Verdict.ACCEPTED if basis in (Basis.QUORUM, Basis.KEPT) else Verdict.REJECTED


def gate_verdict(basis: Basis) -> GateVerdict:
    """Return what a gate is told: only a quorum passes, and keeping is never more than revise."""
    match basis:
        case Basis.QUORUM:
            return GateVerdict.PASS
        case Basis.KEPT:
            return GateVerdict.REVISE
        case (
            Basis.DISSENT
            | Basis.JUDGE_ERROR
            | Basis.BUDGET
            | Basis.ABORTED
            | Basis.NO_ANSWER
            | Basis.SUSPECTED
        ):
            return GateVerdict.FAIL
        case _:
            assert_never(basis)
