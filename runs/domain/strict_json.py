"""JSON, read so that two readers can never disagree about what it says.

Duplicate keys, NaN, numbers a double cannot hold, NUL and lone surrogates are where parsers differ,
and a difference is how a `fail` becomes a `pass`. All of them are refused, never repaired. Almost
every document is plain, so a fast parser reads it and cheap tests prove it plain; whatever is not
proven goes to the careful reader, which decides and says where the fault is.

Source: RFC 8259; RFC 7493 (I-JSON) §2.
"""

import io
from collections.abc import Iterator
from typing import Any

import orjson

from runs.domain.careful_json import (
    INT64_MAX,
    MAX_CONTAINERS,
    MAX_KEYS,
    Doubled,
    Examined,
    Fault,
    JsonRefused,
    examine_carefully,
)

__all__ = [
    "DEEPEST_READABLE",
    "MAX_DEPTH",
    "Doubled",
    "Examined",
    "Fault",
    "JsonRefused",
    "depth_of",
    "examine",
    "lines",
    "parse",
]

MAX_DEPTH = 64
DEEPEST_READABLE = 200
"""Nesting at which both readers are still sure not to fail."""

_TWO_TO_63 = 2.0**63
_CONTAINERS = frozenset({dict, list})
_NUMBERS = frozenset({int, float})


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
    return examine_carefully(raw, max_depth)


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
    """How deep the document nests; None where a number or a size needs the careful reader."""
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
        return number <= INT64_MAX
    return -_TWO_TO_63 < number < _TWO_TO_63 and (number != 0.0 or not zero_is_suspicious)
