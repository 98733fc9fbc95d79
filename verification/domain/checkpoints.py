"""Signed heads of an audit chain, and what they show that the chain alone cannot.

A chain shows that an entry was changed, moved or taken out of the middle. That its newest entries
were cut off, or that all of it was written anew, shows only against a head that is kept elsewhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from verification.domain.chain import Anomaly

PATIENCE = timedelta(seconds=60)
"""The longest that an entry waits for a checkpoint: what is lost before it cannot be missed."""


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry that a checkpoint covers."""

    seq: int
    hash: str


def is_due(
    *, last: int, covered: int, oldest_uncovered_at: datetime | None, now: datetime, every: int
) -> bool:
    """Say whether a checkpoint should be signed now.

    Args:
        last: number of the newest entry.
        covered: number of the newest entry that a checkpoint covers.
        oldest_uncovered_at: when the first entry after that was made.
        now: our clock.
        every: entries after which one is due whatever the time.
    """
    if last <= covered or oldest_uncovered_at is None:
        return False
    return last - covered >= every or now - oldest_uncovered_at >= PATIENCE


def against(heads: Iterable[Head], hashes: Mapping[int, str], last: int) -> list[Anomaly]:
    """Return where a chain does not fit heads that were signed earlier.

    Args:
        heads: from checkpoints whose signatures were found to fit.
        hashes: of the entries that are held, by number.
        last: number of the newest entry that is held.
    """
    found = []
    for head in heads:
        if head.seq > last:
            found.append(Anomaly(head.seq, "truncated"))
        elif hashes.get(head.seq) != head.hash:
            found.append(Anomaly(head.seq, "checkpoint_mismatch"))
    return found
