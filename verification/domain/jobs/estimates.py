"""How far a run of tasks is, and how long it may still take, as a span and never as one number.

Nobody knows how often judges will dissent. So the least and the most that may still have to be
asked are reckoned, work and judging apart, and multiplied by what such calls took so far.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from verification.domain.consensus.queue import TaskSpec
from verification.domain.consensus.rules import OnDissent


@dataclass(frozen=True, slots=True)
class Span:
    """From the least to the most."""

    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run of tasks is."""

    tasks: int
    ended: int
    calls: int
    """Made so far, rules and given replies included."""
    calls_left: Span
    seconds_left: Span | None
    """None before two calls have ended, and where only a person can go on."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Calls of one kind, the work itself or its judging, and how long those so far took."""

    left: Span
    took_s: Sequence[float]


def work_for(spec: TaskSpec) -> Span:
    """Return how often a task's worker may be asked: attempts, and a revision for each round."""
    attempts = 1 + max(0, spec.max_retries)
    return Span(1, attempts + max(0, _rounds(spec) - 1))


def judging_for(spec: TaskSpec) -> Span:
    """Return how often judges may be asked about a task."""
    if spec.verify is None:
        return Span(0, 0)
    judges = len(spec.verify.judges)
    return Span(min(judges, math.ceil(spec.verify.needed_accepts)), _rounds(spec) * judges)


def _rounds(spec: TaskSpec) -> int:
    panel = spec.verify
    if panel is None:
        return 0
    is_revised = panel.dissent_policy is OnDissent.REVISE
    return math.floor(panel.round_limit) if is_revised else 1


def less(calls: Span, made: int) -> Span:
    """Return what is left of some calls when so many have been made."""
    return Span(max(0, calls.least - made), max(0, calls.most - made))


def total(spans: Iterable[Span]) -> Span:
    """Return all of them together."""
    listed = list(spans)
    return Span(sum(each.least for each in listed), sum(each.most for each in listed))


def seconds_left(kinds: Sequence[Kind], at_once: int) -> Span | None:
    """Return how long the calls that are left may take; None where too little is known.

    Args:
        kinds: work and judging, apart, since one commonly takes much longer than the other.
        at_once: tasks that are worked on at the same time.
    """
    if sum(len(kind.took_s) for kind in kinds) < 2:
        return None
    if any(kind.left.most and not kind.took_s for kind in kinds):
        return None
    least = sum(kind.left.least * _middle(kind.took_s) for kind in kinds) / max(1, at_once)
    most = sum(kind.left.most * max(kind.took_s, default=0.0) for kind in kinds)
    return Span(math.ceil(least), math.ceil(most))


def _middle(took_s: Sequence[float]) -> float:
    return sorted(took_s)[len(took_s) // 2] if took_s else 0.0
