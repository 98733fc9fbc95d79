"""How far a run of tasks is, and how long it may still take, as a span and never as one number.

Nobody knows how often judges will dissent. So the least and the most that may still have to be
asked are reckoned, and multiplied by what calls of this run took so far.
"""

import math
from collections.abc import Sequence
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


def calls_for(spec: TaskSpec) -> Span:
    """Return how many replies a task takes from its beginning to its end."""
    attempts, panel = 1 + max(0, spec.max_retries), spec.verify
    if panel is None:
        return Span(1, attempts)
    judges, rounds = len(panel.judges), math.floor(panel.round_limit)
    if panel.dissent_policy is not OnDissent.REVISE:
        rounds = 1
    return Span(
        1 + min(judges, math.ceil(panel.needed_accepts)),
        attempts + rounds * judges + rounds - 1,
    )


def seconds_left(calls: Span, took_s: Sequence[float], at_once: int) -> Span | None:
    """Return how long the calls that are left may take.

    Args:
        calls: left to be made.
        took_s: how long each call so far took.
        at_once: tasks that are worked on at the same time.
    """
    if len(took_s) < 2:
        return None
    middle = sorted(took_s)[len(took_s) // 2]
    least = calls.least * middle / max(1, at_once)
    most = calls.most * max(took_s)
    return Span(math.ceil(least), math.ceil(most))
