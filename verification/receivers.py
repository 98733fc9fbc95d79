"""Judges what was appended, inside the transaction that appended it."""

from collections.abc import Sequence
from typing import Any

from runs.signals import Appended, events_appended
from verification.actions.judge import judge, needs_judging


def connect() -> None:
    """Listen. Called once, when the app is ready."""
    events_appended.connect(judge_appended, dispatch_uid="verification.judge")


def judge_appended(sender: object, appended: Sequence[Appended], **kwargs: Any) -> None:
    """Conclude anew for the runs where something relevant arrived."""
    for each in appended:
        if needs_judging(each):
            judge(run=each.run)
