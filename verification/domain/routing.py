"""Which queue an escalation goes to: the first, by rank, whose rule it fits; else the default.

Rules match facts that are known when the escalation opens; an empty part matches anything. Risk is
said by the reasons alone, so that the same matter has the same risk wherever it is looked at.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase


class Risk(StrEnum):
    """How much is at stake. Stored."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


_LEVEL = {Risk.LOW: 0, Risk.MEDIUM: 1, Risk.HIGH: 2}
_HIGH = frozenset({"violation", "held", "consensus_rejected"})
_LOW = frozenset({"audit_sample"})


@dataclass(frozen=True, slots=True)
class Matter:
    """What a rule can ask about an escalation."""

    reasons: tuple[str, ...]
    host: str
    workflow: str = ""
    agent: str = ""

    @property
    def risk(self) -> Risk:
        """The highest risk among the reasons."""
        return risk_of(self.reasons)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a queue takes. Workflows and agents may hold `*` and `?`."""

    reasons: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    workflows: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    least_risk: Risk = Risk.LOW

    def takes(self, matter: Matter) -> bool:
        """Say whether a matter fits every part of the rule."""
        return (
            (not self.reasons or bool(self.reasons.intersection(matter.reasons)))
            and (not self.hosts or matter.host in self.hosts)
            and (not self.workflows or _fits(matter.workflow, self.workflows))
            and (not self.agents or _fits(matter.agent, self.agents))
            and _LEVEL[matter.risk] >= _LEVEL[self.least_risk]
        )


def risk_of(reasons: Iterable[str]) -> Risk:
    """Return the risk that reasons say: the highest counts."""
    said = frozenset(reasons)
    if said & _HIGH:
        return Risk.HIGH
    return Risk.LOW if said <= _LOW else Risk.MEDIUM


def chosen(rules: Sequence[Rule], matter: Matter) -> int | None:
    """Return the index of the first rule that takes a matter; None: the default queue does."""
    return next((at for at, rule in enumerate(rules) if rule.takes(matter)), None)


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
