"""Judges what was appended, inside the transaction that appended it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from runs.models import Run
from runs.signals import Appended, events_appended
from verification.actions.judge import judge, needs_judging


def connect() -> None:
    """Listen. Called once, when the app is ready."""
    events_appended.connect(judge_appended, dispatch_uid="verification.judge")


def judge_appended(
    sender: object, appended: Sequence[Appended], **kwargs: Any
) -> Callable[[], None] | None:
    """Return what concludes anew for the runs where something relevant arrived, if any."""
    relevant = [each.run for each in appended if needs_judging(each)]
    return partial(_judge_all, relevant) if relevant else None


def _judge_all(runs: Sequence[Run]) -> None:
    for run in runs:
        judge(run=run)
