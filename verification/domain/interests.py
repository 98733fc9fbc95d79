"""Whose own matter a run is: who started it, and who owns the agent that was checked.

OpenWOP's `run.started` has an `owner` with a principal (v2: a subject); hosts put names, addresses
and ids into other fields too, or into the actor's own line. What is not told is not guessed: then
nobody is barred.
"""

from collections.abc import Iterable, Mapping

_KEYS = (
    "initiator", "initiatedBy", "startedBy", "requestedBy", "createdBy", "triggeredBy",
    "owner", "ownerId", "principal", "userId",
)  # fmt: skip
_NAMES = ("id", "name", "username", "email", "subject", "sub", "principal", "subjectId")


def people_named(*payloads: object) -> frozenset[str]:
    """Return every name under which the payloads say who started or owns something, lowered."""
    found: set[str] = set()
    for payload in payloads:
        if isinstance(payload, Mapping):
            for key in _KEYS:
                found.update(_names(payload.get(key)))
    return frozenset(found)


def matching(names: frozenset[str], people: Iterable[tuple[str, Iterable[str]]]) -> frozenset[str]:
    """Return the people whom one of the names means.

    Args:
        names: as `people_named` returns them.
        people: each person's id, and every name they may be known by.
    """
    return frozenset(
        person for person, known in people if names & {each.lower() for each in known if each}
    )


def _names(value: object) -> set[str]:
    if isinstance(value, str) and value:
        return {value.lower()}
    if isinstance(value, Mapping):
        return set().union(*(_names(value.get(key)) for key in _NAMES))
    return set()
