"""Drives a job to its end, in memory: the only place in this project that loops over steps."""

from collections.abc import Callable, Sequence

from verification.domain.consensus.asks import AskAgent
from verification.domain.consensus.history import AbortRequested, Reply
from verification.domain.consensus.steps import Broken, Done, Rules, next_step

Entry = Reply | AbortRequested
Answerer = Callable[[AskAgent], Sequence[Entry]]


def drive(
    rules: Rules, answer: Answerer, history: Sequence[Entry] = ()
) -> tuple[Done | Broken, list[Entry]]:
    """Go on from a history until nothing is left to do."""
    entries = list(history)
    while True:
        step = next_step(rules, entries)
        if isinstance(step, Done | Broken):
            return step, entries
        entries.extend(answer(step))
