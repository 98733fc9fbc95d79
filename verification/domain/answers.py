"""What a person entered into a form, read back as typed JSON values.

The counterpart of `fields`. It never says what was entered, only where an entry is missing or of
the wrong kind.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from runs.domain.strict_json import JsonRefused, parse
from verification.domain.decisions import UnreadableDecision, checked_text
from verification.domain.fields import PREFIX, FieldKind, FormField

_MAX_DIGITS = 32


def read_answers(fields: Sequence[FormField], submitted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the typed answers of a submitted form, by field name without its prefix.

    Args:
        fields: the form that was shown.
        submitted: text by field name, as a browser sends it; a list of texts for `choices`. An
            option is sent as its index among the field's choices.

    Raises:
        UnreadableDecision: an entry is not of its field's kind, or a required one is missing.
    """
    answers = {}
    for field in fields:
        value = _value(field, submitted.get(field.name))
        if value is not None:
            answers[field.name.removeprefix(PREFIX)] = value
    check_complete(fields, answers)
    return answers


def check_complete(fields: Sequence[FormField], answers: Mapping[str, Any]) -> None:
    """Pass when every required field has an answer and no answer is without a field.

    Raises:
        UnreadableDecision: `required` or `unexpected_key`, with the pointer.
    """
    names = {field.name.removeprefix(PREFIX) for field in fields}
    if answers.keys() - names:
        raise UnreadableDecision("/answers", "unexpected_key")
    for field in fields:
        name = field.name.removeprefix(PREFIX)
        is_missing = field.is_required and field.kind is not FieldKind.FIXED
        if is_missing and answers.get(name) in (None, ""):
            raise UnreadableDecision(_pointer(field), "required")


def assembled(fields: Sequence[FormField], answers: Mapping[str, Any]) -> Any:
    """Return the one value that the form makes: an object by property, or the whole value."""
    if len(fields) == 1 and not fields[0].pointer:
        return answers.get(fields[0].name.removeprefix(PREFIX), fields[0].initial)
    given = {field.name.removeprefix(PREFIX): field for field in fields}
    fixed = {name: field.initial for name, field in given.items() if field.kind is FieldKind.FIXED}
    return {**{name: value for name, value in answers.items() if name in given}, **fixed}


def _value(field: FormField, given: Any) -> Any:
    """Return the typed value of one field, or None where nothing was entered."""
    if field.kind is FieldKind.CHECKBOX:
        return given not in (None, "", "false", "off", "0")
    if field.kind is FieldKind.CHOICES:
        return _several(field, given)
    if not given or field.kind in {FieldKind.FIXED, FieldKind.WITHHELD}:
        return None
    if not isinstance(given, str):
        raise UnreadableDecision(_pointer(field), "type")
    return _READERS.get(field.kind, _text)(field, checked_text(given, _pointer(field)))


def _several(field: FormField, given: Any) -> list[Any] | None:
    if not given:
        return None
    chosen = [given] if isinstance(given, str) else given
    if not isinstance(chosen, list) or not all(isinstance(one, str) for one in chosen):
        raise UnreadableDecision(_pointer(field), "type")
    return [_option(field, one) for one in chosen]


def _option(field: FormField, given: str) -> Any:
    is_index = given.isascii() and given.isdigit() and len(given) <= _MAX_DIGITS
    if not is_index or int(given) >= len(field.choices):
        raise UnreadableDecision(_pointer(field), "enum")
    return field.choices[int(given)]


def _integer(field: FormField, given: str) -> int:
    digits = given.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > _MAX_DIGITS:
        raise UnreadableDecision(_pointer(field), "type")
    return int(given)


def _number(field: FormField, given: str) -> float | int:
    try:
        return _integer(field, given)
    except UnreadableDecision:
        pass
    try:
        number = float(given)
    except ValueError:
        raise UnreadableDecision(_pointer(field), "type") from None
    if not math.isfinite(number) or "_" in given or not given.isascii():
        raise UnreadableDecision(_pointer(field), "type")
    return number


def _json(field: FormField, given: str) -> Any:
    try:
        return parse(given.encode())
    except JsonRefused:
        raise UnreadableDecision(_pointer(field), "json_invalid") from None


def _text(field: FormField, given: str) -> str:
    return given


_READERS = {
    FieldKind.CHOICE: _option,
    FieldKind.INTEGER: _integer,
    FieldKind.NUMBER: _number,
    FieldKind.JSON: _json,
}


def _pointer(field: FormField) -> str:
    return f"/answers{field.pointer}"
