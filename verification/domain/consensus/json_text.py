"""Finds JSON in what a model wrote. Strict about JSON, patient about what surrounds it.

It never repairs JSON, and it reports when a text holds more than one object, because then
somebody else than the writer may have put one there.
"""

import json
from dataclasses import dataclass
from typing import NoReturn

from runs.domain.strict_json import depth_of

FENCE = "```"
_TAGGED_FENCE = FENCE + "json"
_BLANK = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_MOST_ATTEMPTS = 256
_DEEPEST = 500
"""What the parser surely reads from anywhere in the program: beyond it, whether it does depends on
who calls, and one reply must mean the same in every replay."""


class NotJson(ValueError):
    """No JSON value could be found."""


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON value and whether it was the only object in the text."""

    value: object
    is_only_object: bool = True


def parse(text: str) -> object:
    """Return the value of a text that is JSON and nothing else. Raises NotJson.

    NaN and Infinity are not JSON. Of duplicate keys the last one counts.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise NotJson from error
    if depth_of(value) > _DEEPEST:
        raise NotJson
    return value


def trimmed(text: str) -> str:
    """Drop blanks at both ends: every Unicode space and the byte order mark."""
    return text.strip(_BLANK)


def find(text: str) -> Found:
    """Return the JSON value that a reply means. Raises NotJson.

    Tried in this order: the whole text; the first fence tagged `json`; the first fence of any
    kind; from the first brace to the last; from the first bracket to the last. The first that
    parses wins.
    """
    text = trimmed(text)
    try:
        return Found(parse(text))
    except NotJson:
        pass
    for opening in (_TAGGED_FENCE, FENCE):
        found = _in_fence(text, opening)
        if found is not None:
            return found
    for first, last in ("{}", "[]"):
        span = _span(text, first, last)
        if span is not None:
            return Found(span)
    raise NotJson


def _in_fence(text: str, opening: str) -> Found | None:
    start = text.find(opening)
    end = text.find(FENCE, start + len(opening)) if start != -1 else -1
    if end == -1:
        return None
    try:
        value = parse(trimmed(text[start + len(opening) : end]))
    except NotJson:
        return None
    objects = isinstance(value, dict) + _count_objects(text[:start]) + _count_objects(text[end:])
    return Found(value, is_only_object=objects <= 1)


def _span(text: str, first: str, last: str) -> object | None:
    start, end = text.find(first), text.rfind(last)
    if start == -1 or end <= start:
        return None
    try:
        return parse(text[start : end + 1])
    except NotJson:
        return None


def _count_objects(text: str) -> int:
    """Count the JSON objects that stand in a text; one too many where they cannot be told apart."""
    decoder = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer)
    count, attempts, start = 0, 0, text.find("{")
    while start != -1:
        if attempts == _MOST_ATTEMPTS:
            return count + 2  # Looking further would cost more than an honest reply is worth.
        attempts += 1
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            count += 1
        start = text.find("{", end)
    return count


def _integer(digits: str) -> float:
    """Read an integer of any length: thousands of digits are JSON, as 1e999 is."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def _refuse_constant(constant: str) -> NoReturn:
    raise NotJson(constant)
