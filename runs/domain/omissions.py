"""What stays of a payload that is too large to keep.

Its size and hash, so that it can be fetched from the host and compared. Where gates, findings or
links are concluded from the type, its short facts stay too: a `met: false` must not vanish behind a
long answer.
"""

import hashlib
from collections.abc import Mapping

import orjson

from runs.domain.near_misses import GATE_RELEVANT

FACTS_BYTES = 16 * 1024
"""What the facts of one payload may take, together."""

_TYPES_WITH_FACTS = GATE_RELEVANT | {"agent.toolCalled", "agent.toolReturned", "run.started"}
_OBJECTS_WITH_FACTS = frozenset({"data", "decision", "error", "outputs", "owner"})
_LISTS_OF_FACTS = frozenset({"actions", "criteria", "nextWorkerIds", "successCriteria"})
_LONGEST_FACT = 256


class FactsTooLarge(Exception):
    """The facts alone are too many to keep, so what they would say cannot be known."""

    def __init__(self) -> None:
        super().__init__(f"the facts of a payload take more than {FACTS_BYTES} bytes")


def omission(packed: bytes) -> dict[str, object]:
    """Stand-in for content whose canonical JSON is `packed`."""
    return {"omitted": True, "bytes": len(packed), "sha256": hashlib.sha256(packed).hexdigest()}


def remains(name: str, payload: object, packed: bytes) -> dict[str, object]:
    """What is kept of a payload of type `name`, given with its canonical JSON.

    Raises:
        FactsTooLarge: rules depend on the type and its facts cannot be kept.
    """
    if name not in _TYPES_WITH_FACTS or not isinstance(payload, dict):
        return omission(packed)
    facts = _facts(payload)
    for key in _OBJECTS_WITH_FACTS & payload.keys():
        if isinstance(payload[key], dict):
            facts[key] = _facts(payload[key])
    if len(orjson.dumps(facts)) > FACTS_BYTES:
        raise FactsTooLarge
    return facts | omission(packed)


def _facts(members: Mapping[str, object]) -> dict[str, object]:
    return {
        key: value
        for key, value in members.items()
        if _is_short(value) or (key in _LISTS_OF_FACTS and isinstance(value, list))
    }


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_FACT
    return not isinstance(value, dict | list)
