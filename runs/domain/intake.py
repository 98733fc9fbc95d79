"""What arrived against what is held: new, a repeat, or a conflict.

Order of arrival is normal to be wrong and never decides anything here but one thing: of two events
that claim the same id or sequence, the one we hold stays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runs.domain.log import Envelope


class Held(NamedTuple):
    """The identity of an event that is already in the log."""

    event_id: str
    sequence: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Conflict:
    """An arriving event that claims the id or the sequence of another one."""

    index: int
    """Place in the batch."""
    arrived: Envelope
    held: Held


@dataclass(frozen=True, slots=True)
class Intake:
    """A batch for one run, sorted out."""

    new: tuple[Envelope, ...]
    repeats: int
    conflicts: tuple[Conflict, ...]


def sort_out(batch: Sequence[tuple[int, Envelope]], held: Iterable[Held]) -> Intake:
    """Decide what of a batch extends a run's log.

    Args:
        batch: envelopes of one run with their place in the request, in any order and overlap.
        held: at least every held event that shares an id or a sequence with the batch.

    Source: OpenWOP run-event.schema.json, `eventId` and `sequence`: unique per run.
    """
    by_id: dict[str, Held] = {}
    by_sequence: dict[int, Held] = {}
    for known in held:
        by_id[known.event_id] = by_sequence[known.sequence] = known
    new: list[Envelope] = []
    conflicts: list[Conflict] = []
    repeats = 0
    for index, envelope in batch:
        rival = by_id.get(envelope.event_id) or by_sequence.get(envelope.sequence)
        if rival is None:
            mine = Held(envelope.event_id, envelope.sequence, envelope.digest)
            by_id[mine.event_id] = by_sequence[mine.sequence] = mine
            new.append(envelope)
        elif _is_repeat(envelope, rival):
            repeats += 1
        else:
            conflicts.append(Conflict(index, envelope, rival))
    return Intake(tuple(new), repeats, tuple(conflicts))


def _is_repeat(envelope: Envelope, held: Held) -> bool:
    return (envelope.event_id, envelope.sequence, envelope.digest) == (
        held.event_id,
        held.sequence,
        held.digest,
    )
