"""Holds a run whose host announced a verdict that the Console could not read.

What could have been a `fail` closes the gate until it is read or a person decides: the marker is
the same as for a verdict that was refused, and ends when the verdict arrives.
"""

from collections.abc import Sequence
from datetime import datetime

from runs.actions.append import Batch, TurnedAway, append
from runs.models import Host

NOT_SENT = "verdict_not_sent"


def hold_for_unread_verdicts(
    *, host: Host, run_id: str, sequences: Sequence[int], now: datetime
) -> None:
    """Leave a marker for each sequence at which a verdict was announced; a repeat adds nothing."""
    turned_away = [TurnedAway("", sequence, NOT_SENT, "") for sequence in sequences]
    if turned_away:
        append(host=host, batches={run_id: Batch(turned_away=turned_away)}, now=now)
