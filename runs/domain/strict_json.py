"""JSON, read so that two readers can never disagree about what it says.

Duplicate keys, NaN, numbers a double cannot hold, NUL and lone surrogates are where parsers differ,
and a difference is how a `fail` becomes a `pass`. All of them are refused, never repaired. Almost
every document is plain, so a fast parser reads it and cheap tests prove it plain; whatever is not
proven goes to the slow reader, which decides and says where the fault is.

Source: RFC 8259; RFC 7493 (I-JSON) §2.
"""

import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from runs.domain.pointers import Step, pointer

MAX_DEPTH = 64
DEEPEST_READABLE = 200
"""Nesting at which both readers are still sure not to fail."""
MAX_KEYS = 10_000
"""Keys of one object."""
MAX_ELEMENTS = 50_000
"""Elements of one array."""
MAX_CONTAINERS = 250_000
"""Objects and arrays of one body: an empty one takes 2 bytes here and 64 in memory."""

MAX_FAULTS = 10_000
"""Unusable values of one body, beyond which nothing of it is taken."""

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_INT64_DIGITS = 20
_TWO_TO_63 = 2.0**63
_CONTAINERS = frozenset({dict, list})
_NUMBERS = frozenset({int, float})
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


def parse(raw: bytes, *, max_depth: int = MAX_DEPTH) -> object:
    """The document in `raw`, with no value in it that two parsers could read differently.

    Raises:
        JsonRefused: with the reason and place of the first fault.
    """
    examined = examine(raw, max_depth=max_depth)
    for fault in examined.faults:
        raise JsonRefused(fault.reason, fault.pointer)
    return examined.document


def lines(raw: bytes, *, max_depth: int = MAX_DEPTH) -> Iterator[Examined | JsonRefused]:
    """Each line of newline-delimited JSON that is not blank, or why it is not JSON."""
    for line in io.BytesIO(raw):
        if not line.isspace():
            try:
                yield examine(line, max_depth=max_depth)
            except JsonRefused as refused:
                yield refused


def depth_of(document: object) -> int:
    """Levels of nesting of what was parsed; 0 for a bare number or string."""
    depth = 0
    level = [document] if isinstance(document, dict | list) else []
    while level:
        depth += 1
        level = [
            value
            for container in level
            for value in (container.values() if isinstance(container, dict) else container)
            if isinstance(value, dict | list)
        ]
    return depth


def examine(raw: bytes, *, max_depth: int = MAX_DEPTH) -> Examined:
    """The document in `raw`, and the faults in it if it is JSON with unusable values.

    For bodies of many events, of which one may be refused and the others kept.

    Raises:
        JsonRefused: nothing of it can be read: `json_encoding`, `json_invalid`, `json_too_deep`,
            `too_many_elements`, or the first of too many faults.
    """
    if len(raw) <= 2 * MAX_CONTAINERS or raw.count(b"{") + raw.count(b"[") <= MAX_CONTAINERS:
        plain = _examine_plain(raw, max_depth)
        if plain is not None:
            return plain
    return _examine_slowly(raw, max_depth)


# --- The fast reader: proves a document plain, or says nothing ----------------------------------


def _examine_plain(raw: bytes, max_depth: int) -> Examined | None:
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    depth = _depth_if_plain(document, zero_is_suspicious=_may_underflow(raw))
    if depth is None or depth > max_depth or _has_escape_to_look_into(raw):
        return None
    # Every key that is written has its colon. The parser drops a repeated key, and with it at
    # least that colon, so the text has more colons than what was read of it, if and only if a
    # key came twice. Colons inside strings count alike on both sides, as none is escaped here.
    if raw.count(b":") != orjson.dumps(document).count(b":"):
        return None
    return Examined(document, depth)


def _has_escape_to_look_into(raw: bytes) -> bool:
    """Whether an escape may stand for NUL, or for a colon that would upset the count."""
    return b"\\u00" in raw and (b"\\u0000" in raw or b"\\u003a" in raw or b"\\u003A" in raw)


def _may_underflow(raw: bytes) -> bool:
    """Whether a number may have been rounded to 0.0: by its exponent, or by its zeros."""
    return b"e-" in raw or b"E-" in raw or b"0" * 300 in raw


def _depth_if_plain(document: object, *, zero_is_suspicious: bool) -> int | None:
    """How deep the document nests; None where a number or a size needs the slow reader."""
    depth = -1
    level: list[Any] = [[document]]
    while level:
        depth += 1
        below: list[Any] = []
        for container in level:
            if len(container) > MAX_KEYS:
                return None
            for value in container.values() if type(container) is dict else container:
                kind = type(value)
                if kind in _CONTAINERS:
                    below.append(value)
                elif kind in _NUMBERS and not _is_plain(value, zero_is_suspicious):
                    return None
        level = below
    return depth


def _is_plain(number: float, zero_is_suspicious: bool) -> bool:
    """Whether the number surely is the one that was written.

    The fast parser reads an integer beyond 64 bits as a double, and a tiny number as 0.0.
    """
    if type(number) is int:
        return number <= _INT64_MAX
    return -_TWO_TO_63 < number < _TWO_TO_63 and (number != 0.0 or not zero_is_suspicious)


# --- The slow reader: decides ---------------------------------------------------------------------


def _examine_slowly(raw: bytes, max_depth: int) -> Examined:
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
    if len(lexeme) > _INT64_DIGITS or not _INT64_MIN <= (value := int(lexeme)) <= _INT64_MAX:
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
