"""Where the payload of a known type misses its published schema.

Most payloads of real hosts do, so this never refuses: an event is stored as it came, its mismatches
beside it, and readers fall back. Only `agent.verified` is refused, and not here.
"""

from collections.abc import Mapping

from runs.domain.log import Mismatch
from runs.domain.shapes import Check
from runs.domain.shapes_of_interrupts import SHAPES as _OF_INTERRUPTS
from runs.domain.shapes_of_operations import SHAPES as _OF_OPERATIONS
from runs.domain.shapes_of_resources import SHAPES as _OF_RESOURCES
from runs.domain.shapes_of_runs import SHAPES as _OF_RUNS

SHAPES: Mapping[str, Check] = {
    **_OF_RUNS,
    **_OF_INTERRUPTS,
    **_OF_RESOURCES,
    **_OF_OPERATIONS,
}
"""What the payload of each type should look like, by its v1 name."""

MOST = 16
"""Mismatches kept of one event."""


def mismatches(name: str, payload: object) -> tuple[Mismatch, ...]:
    """The places where `payload` is not what the type `name` should carry.

    Unknown types, and the few whose payload no schema describes, have none.
    """
    check = SHAPES.get(name)
    wrong = check(payload) if check else ()
    if not wrong:
        return ()
    return tuple(Mismatch(f"/payload{place}", reason) for place, reason in wrong[:MOST])
