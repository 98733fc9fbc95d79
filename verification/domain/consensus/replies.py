"""Reads a judge's reply: accept, or dissent with a critique. Whatever is unclear is dissent.

Two contracts: the open one accepts prose around the verdict, as the original does; the fenced one,
for real models, takes one JSON object that proves by its nonce that the judge, and not the answer
under judgement, wrote it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from verification.domain.consensus.json_text import Found, NotJson, find, trimmed
from verification.domain.consensus.schemas import OutputSchema, SchemaMismatch

NOT_JSON = "The judge's reply held no single readable JSON verdict."
NO_CRITIQUE = "The judge gave no reason."
SCHEMA_INVALID = "The judge's verdict did not satisfy the required schema."
CALL_FAILED = "The judge's call failed, so its acceptance does not count."
CONTRACT_BROKEN = "The judge's reply broke the reply contract."

_REQUIRED_KEYS = frozenset({"nonce", "accept"})
_ALLOWED_KEYS = _REQUIRED_KEYS | {"critique", "criteria"}


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one judge said about one answer."""

    accepts: bool
    critique: str = ""
    """Empty when it accepts. Content."""
    criteria: tuple[str, ...] = ()
    """Closed keys the judge says it went by."""


@dataclass(frozen=True, slots=True)
class Contract:
    """What a reply must look like."""

    schema: OutputSchema | None = None
    nonce: str | None = None
    """Set when the call was fenced; the reply must repeat it."""
    criteria: tuple[str, ...] = ()
    """The only criteria keys a fenced reply may name."""


def read_ruling(text: str, contract: Contract, *, has_failed: bool = False) -> Ruling:
    """Return what a reply decides. A call that failed never accepts, whatever its text says."""
    ruling = _read_open(text, contract) if contract.nonce is None else _read_fenced(text, contract)
    if has_failed and ruling.accepts:
        return Ruling(accepts=False, critique=CALL_FAILED)
    return ruling


def _read_open(text: str, contract: Contract) -> Ruling:
    try:
        found = find(text)
    except NotJson:
        return Ruling(accepts=False, critique=NOT_JSON)
    if not found.is_only_object:
        return Ruling(accepts=False, critique=NOT_JSON)
    return _decide(found, contract.schema)


def _decide(found: Found, schema: OutputSchema | None) -> Ruling:
    if schema is not None and not _satisfies(found.value, schema):
        return Ruling(accepts=False, critique=SCHEMA_INVALID)
    # The raw value decides: what a schema filled in or converted is not what the judge said.
    said: Mapping[str, object] = found.value if isinstance(found.value, dict) else {}
    if said.get("accept") is True:
        return Ruling(accepts=True)
    return Ruling(accepts=False, critique=_critique(said))


def _satisfies(value: object, schema: OutputSchema) -> bool:
    try:
        schema.read(value)
    except SchemaMismatch:
        return False
    return True


def _critique(said: Mapping[str, object]) -> str:
    critique = said.get("critique")
    return critique if isinstance(critique, str) and critique else NO_CRITIQUE


def _read_fenced(text: str, contract: Contract) -> Ruling:
    try:
        said = json.loads(trimmed(text), object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError):
        return Ruling(accepts=False, critique=NOT_JSON)
    if not isinstance(said, dict) or not _keeps(said, contract):
        return Ruling(accepts=False, critique=CONTRACT_BROKEN)
    verdict = {key: each for key, each in said.items() if key in ("accept", "critique")}
    ruling = _decide(Found(verdict), contract.schema)
    return replace(ruling, criteria=tuple(said.get("criteria", ())))


def _keeps(said: Mapping[str, object], contract: Contract) -> bool:
    return (
        said.keys() >= _REQUIRED_KEYS
        and said.keys() <= _ALLOWED_KEYS
        and said["nonce"] == contract.nonce
        and isinstance(said["accept"], bool)
        and isinstance(said.get("critique", ""), str)
        and _are_known(said.get("criteria", []), contract.criteria)
    )


def _are_known(criteria: object, known: Sequence[str]) -> bool:
    if not isinstance(criteria, list) or not all(isinstance(each, str) for each in criteria):
        return False
    return len(set(criteria)) == len(criteria) and set(criteria) <= set(known)


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise NotJson
    return read
