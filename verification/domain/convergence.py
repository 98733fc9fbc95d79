"""Whether a run reached its goal, criterion by criterion.

`run.completed` is also how a run that gave up ends on the wire; only the criteria of the last
`terminate` say which of the two it was. Source: RFC 0090 §C.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from runs.domain.log import LogLine
from runs.domain.readers import fields, text


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that the run was to achieve."""

    key: str
    """Empty where the host does not name it."""
    met: bool | None
    """None where it is not said plainly."""


def criteria_of(terminate: LogLine) -> tuple[Criterion, ...]:
    """Return the `successCriteria` of a `terminate` decision; empty where none is stated."""
    payload = fields(terminate.payload)
    decision = payload.get("decision")
    body = payload if isinstance(decision, str) else fields(decision)
    stated = body.get("successCriteria")
    if stated is None:
        return ()
    return tuple(_criteria(stated if isinstance(stated, list) else [stated]))


def _criteria(entries: list[object]) -> Iterator[Criterion]:
    for entry in entries:
        said = fields(entry)
        met = said.get("met")
        yield Criterion(text(said.get("key")) or "", met if isinstance(met, bool) else None)
