"""Judges what was appended, inside the transaction that appended it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from runs.signals import Appended, events_appended
from verification.actions.judge import judge_appended, needs_judging


def connect() -> None:
    """Listen. Called once, when the app is ready."""
    events_appended.connect(judge_all, dispatch_uid="verification.judge")


def judge_all(
    sender: object, appended: Sequence[Appended], **kwargs: Any
) -> Callable[[], None] | None:
    """Return what concludes anew for the runs where something relevant arrived, if any."""
    relevant = [each for each in appended if needs_judging(each)]
    return partial(_judge_each, relevant) if relevant else None


def _judge_each(appended: Sequence[Appended]) -> None:
    for each in appended:
        judge_appended(appended=each)
