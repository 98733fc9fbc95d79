"""A small vocabulary for saying what a payload should look like, and for asking whether it does.

Much less than JSON Schema: only what the published payload schemas use, as plain functions, so that
a check costs no more than the look-ups it makes. A check answers with what is wrong, each with its
place; an empty answer means that nothing is.

Source: OpenWOP run-event-payloads.schema.json.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from runs.domain.pointers import pointer

Wrong = tuple[str, str]
"""A place, as an RFC 6901 pointer from the value that was checked, and a reason."""

Check = Callable[[object], Sequence[Wrong]]

_FINE: Sequence[Wrong] = ()
_NOT_THIS_TYPE: Sequence[Wrong] = (("", "type"),)
_OUT_OF_RANGE: Sequence[Wrong] = (("", "range"),)
_OF_ANOTHER_LENGTH: Sequence[Wrong] = (("", "length"),)
_NOT_LISTED: Sequence[Wrong] = (("", "enum"),)
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Must:
    """A field that may not be missing."""

    check: Check


def anything(value: object) -> Sequence[Wrong]:
    """Any JSON value."""
    return _FINE


def boolean(value: object) -> Sequence[Wrong]:
    """True or false."""
    return _FINE if type(value) is bool else _NOT_THIS_TYPE


def members(value: object) -> Sequence[Wrong]:
    """An object with any keys."""
    return _FINE if type(value) is dict else _NOT_THIS_TYPE


def text(*, least: int = 0, most: int | None = None) -> Check:
    """A string of so many characters."""

    def check(value: object) -> Sequence[Wrong]:
        if type(value) is not str:
            return _NOT_THIS_TYPE
        if len(value) < least or (most is not None and len(value) > most):
            return _OF_ANOTHER_LENGTH
        return _FINE

    return check


def matching(pattern: str) -> Check:
    """A string that fits the pattern from end to end."""
    fits = re.compile(pattern).fullmatch

    def check(value: object) -> Sequence[Wrong]:
        if type(value) is not str:
            return _NOT_THIS_TYPE
        return _FINE if fits(value) else (("", "pattern"),)

    return check


def whole(least: int = 0, most: int | None = None) -> Check:
    """An integer in a range; true and false are none."""

    def check(value: object) -> Sequence[Wrong]:
        if type(value) is not int:
            return _NOT_THIS_TYPE
        return _FINE if least <= value and (most is None or value <= most) else _OUT_OF_RANGE

    return check


def number(least: float | None = None, most: float | None = None) -> Check:
    """A number in a range; true and false are none."""

    def check(value: object) -> Sequence[Wrong]:
        if type(value) is not float and type(value) is not int:
            return _NOT_THIS_TYPE
        if (least is not None and value < least) or (most is not None and value > most):
            return _OUT_OF_RANGE
        return _FINE

    return check


def one_of(*words: str) -> Check:
    """One of the listed words."""
    listed = frozenset(words)

    def check(value: object) -> Sequence[Wrong]:
        if type(value) is not str:
            return _NOT_THIS_TYPE
        return _FINE if value in listed else _NOT_LISTED

    return check


def null_or(check: Check) -> Check:
    """Null, or what the other check wants."""
    return lambda value: _FINE if value is None else check(value)


def items(check: Check, *, least: int = 0, unique: bool = False) -> Check:
    """An array whose every element passes the check. Tells only of the first that does not."""

    def check_each(value: object) -> Sequence[Wrong]:
        if type(value) is not list:
            return _NOT_THIS_TYPE
        if len(value) < least:
            return _OF_ANOTHER_LENGTH
        for index, element in enumerate(value):
            if wrong := check(element):
                return [(f"/{index}{place}", reason) for place, reason in wrong]
        if unique and len({str(element) for element in value}) < len(value):
            return (("", "unique"),)
        return _FINE

    return check_each


def record(**fields: Check | Must) -> Check:
    """An object with these fields, and any others."""
    return _record(fields, is_closed=False)


def closed(**fields: Check | Must) -> Check:
    """An object with these fields and no others."""
    return _record(fields, is_closed=True)


def either(tag: str, by_value: Mapping[str, Check]) -> Check:
    """An object whose `tag` says which of these checks it must pass."""

    def check(value: object) -> Sequence[Wrong]:
        if type(value) is not dict:
            return _NOT_THIS_TYPE
        word = value.get(tag, _ABSENT)
        if type(word) is not str:
            return ((f"/{tag}", "required" if word is _ABSENT else "type"),)
        chosen = by_value.get(word)
        return chosen(value) if chosen else ((f"/{tag}", "enum"),)

    return check


def any_of(*checks: Check) -> Check:
    """Whatever passes one of the checks; else what is wrong by the first."""

    def check(value: object) -> Sequence[Wrong]:
        answers = []
        for each in checks:
            answers.append(each(value))
            if not answers[-1]:
                return _FINE
        return answers[0]

    return check


def _record(fields: dict[str, Check | Must], *, is_closed: bool) -> Check:
    checks = tuple(
        (name, each.check, True) if isinstance(each, Must) else (name, each, False)
        for name, each in fields.items()
    )

    def check(value: object) -> Sequence[Wrong]:
        if type(value) is not dict:
            return _NOT_THIS_TYPE
        wrong: list[Wrong] = []
        for name, check_field, is_required in checks:
            given = value.get(name, _ABSENT)
            if given is not _ABSENT:
                if found := check_field(given):
                    wrong += [(f"/{name}{place}", reason) for place, reason in found]
            elif is_required:
                wrong.append((f"/{name}", "required"))
        if is_closed:
            wrong += [(pointer([key]), "unexpected_key") for key in value if key not in fields]
        return wrong

    return check
