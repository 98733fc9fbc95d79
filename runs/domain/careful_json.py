"""JSON, read slowly and with every doubt settled: the reader that decides.

It keeps reading where a value cannot be used, so that of a body with many events only those are
lost that have a fault. Nothing recurses before the nesting has been counted.

Source: RFC 8259; RFC 7493 (I-JSON) §2.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from runs.domain.pointers import Step, pointer

MAX_KEYS = 10_000
"""Keys of one object."""
MAX_ELEMENTS = 50_000
"""Elements of one array."""
MAX_CONTAINERS = 250_000
"""Objects and arrays of one body: an empty one takes 2 bytes here and 64 in memory."""
MAX_FAULTS = 10_000
"""Unusable values of one body, beyond which nothing of it is taken."""
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_INT64_DIGITS = 20
_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]+|\\[\s\S]?)*+"?|[\[\]{}]')
_NONZERO_MANTISSA = re.compile(r"-?[0.]*[1-9]")


class JsonRefused(Exception):
    """A body, or one value in it, is not JSON that every reader reads alike.

    Attributes:
        reason: what is wrong, such as `json_duplicate_key`.
        pointer: RFC 6901; empty for the whole document.
    """

    def __init__(self, reason: str, at: str = "") -> None:
        self.reason = reason
        self.pointer = at
        super().__init__(f"JSON refused: {reason} at {at or 'the document'}")


@dataclass(frozen=True, slots=True)
class Fault:
    """One value that must not be used; the rest of the document is readable."""

    reason: str
    path: tuple[Step, ...]

    @property
    def pointer(self) -> str:
        """The fault's place, without keys that could be content."""
        return pointer(self.path)


@dataclass(frozen=True, slots=True)
class Examined:
    """A document that could be read, and what in it must not be used."""

    document: object
    depth: int
    """Levels of nesting; 0 for a bare number or string, 1 for a flat object."""
    faults: tuple[Fault, ...] = ()


class Doubled(dict[str, object]):
    """An object in which a key came twice. Only ever found under a fault."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class _OutOfRange:
    """Stands where a number was that an int64 or a double cannot hold."""


_OUT_OF_RANGE = _OutOfRange()


def examine_carefully(raw: bytes, max_depth: int) -> Examined:
    """The document in `raw`, and every value in it that must not be used.

    Raises:
        JsonRefused: nothing of it can be read.
    """
    text = _text(raw)
    depth = _depth_of_text(text, max_depth)
    try:
        document: object = _DECODER.decode(text)
    except ValueError:
        raise JsonRefused("json_invalid") from None
    faults = tuple(islice(_faults(document, ()), MAX_FAULTS + 1))
    if len(faults) > MAX_FAULTS:
        raise JsonRefused(faults[0].reason, faults[0].pointer)
    return Examined(document, depth, faults)


def _text(raw: bytes) -> str:
    if raw.startswith(_BOM):
        raise JsonRefused("json_encoding")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonRefused("json_encoding") from None


def _depth_of_text(text: str, max_depth: int) -> int:
    """Count the nesting before anything recurses into it."""
    depth = deepest = containers = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
            containers += 1
            deepest = max(deepest, depth)
            if depth > max_depth:
                raise JsonRefused("json_too_deep")
            if containers > MAX_CONTAINERS:
                raise JsonRefused("too_many_elements")
        elif mark in "]}":
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    once = dict(pairs)
    return once if len(once) == len(pairs) else Doubled(pairs)


def _integer(lexeme: str) -> object:
    if len(lexeme) > _INT64_DIGITS or not INT64_MIN <= (value := int(lexeme)) <= INT64_MAX:
        return _OUT_OF_RANGE
    return value


def _real(lexeme: str) -> object:
    value = float(lexeme)
    if math.isinf(value) or (value == 0 and _NONZERO_MANTISSA.match(lexeme)):
        return _OUT_OF_RANGE
    return value


def _constant(name: str) -> object:
    raise JsonRefused("json_invalid")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_real, parse_constant=_constant
)


def _faults(value: object, path: tuple[Step, ...]) -> Iterator[Fault]:
    """Every unusable value at or below `path`, in document order."""
    match value:
        case str():
            yield from _faults_of_text(value, path)
        case dict():
            yield from _faults_of_object(value, path)
        case list() if len(value) > MAX_ELEMENTS:
            yield Fault("too_many_elements", path)
        case list():
            for index, element in enumerate(value):
                yield from _faults(element, (*path, index))
        case _OutOfRange():
            yield Fault("number_out_of_range", path)


def _faults_of_text(text: str, path: tuple[Step, ...]) -> Iterator[Fault]:
    if "\0" in text:
        yield Fault("nul_character", path)
    if _SURROGATE.search(text):
        yield Fault("lone_surrogate", path)


def _faults_of_object(members: dict[str, object], path: tuple[Step, ...]) -> Iterator[Fault]:
    if isinstance(members, Doubled):
        yield Fault("json_duplicate_key", path)
    if len(members) > MAX_KEYS:
        yield Fault("too_many_keys", path)
        return
    for key, value in members.items():
        yield from _faults_of_text(key, path)
        yield from _faults(value, (*path, key))
