"""Forms described as plain values, made from questions or any JSON Schema.

A page draws these fields without knowing the host. Whatever a field cannot express (a nested
object, an alternative, a schema that makes no sense) becomes one field for JSON text, so that every
schema has a form. No field ever asks for a secret.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FieldKind(StrEnum):
    """Which control a field needs."""

    TEXT = "text"
    LONG_TEXT = "long_text"
    INTEGER = "integer"
    NUMBER = "number"
    CHECKBOX = "checkbox"
    CHOICE = "choice"
    CHOICES = "choices"
    DATE = "date"
    JSON = "json"
    FIXED = "fixed"
    """Shown, not entered: the host leaves no other value."""
    WITHHELD = "withheld"
    """A secret: the person gives it to the host, never to the Console."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One control of a form."""

    name: str
    """Key of the value in a submitted form; unique within the form."""
    label: str
    kind: FieldKind
    pointer: str
    """RFC 6901 pointer into the value that the form makes; empty: the whole value."""
    is_required: bool = False
    help: str = ""
    choices: tuple[Any, ...] = ()
    """Allowed JSON values, in the schema's order; submitted as their index."""
    initial: Any = None


PREFIX = "answer."
WHOLE = f"{PREFIX}value"
SECRET_HELP = "The Console never asks for secrets. Give it to the host directly."  # noqa: S105
_SECRET = re.compile(
    r"(?:^|[^a-z])(?:password|passwd|passphrase|secret|api[ _-]?key|private[ _-]?key|"
    r"(?:access|refresh|auth|bearer)[ _-]?token|credentials?)(?:[^a-z]|$)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONG = 200
"""Text that may be longer than this gets more than one line."""
_MOST = 60
"""Fields a person can be asked to fill in; above that, JSON text is kinder."""


def fields_of_schema(schema: Mapping[str, Any] | bool | None) -> tuple[FormField, ...]:
    """Return the form for a value that must satisfy a schema."""
    if not isinstance(schema, Mapping) or not _is_plain_object(schema):
        return (_field(WHOLE, "Answer", "", schema, schema, is_required=True),)
    required = schema.get("required")
    names = set(required) if isinstance(required, list) else set()
    return tuple(
        _field(
            f"{PREFIX}{name}", _label(name), f"/{_escaped(name)}", part, schema,
            is_required=name in names,
        )
        for name, part in schema["properties"].items()
    )  # fmt: skip


def text_field(
    name: str, label: str, schema: Mapping[str, Any] | None = None, *, is_required: bool = True
) -> FormField:
    """Return the field of one question; its answer is text unless the schema says otherwise."""
    asked = {"type": "string", **(schema or {}), "title": label}
    pointer = f"/{_escaped(name)}"
    return _field(f"{PREFIX}{name}", label, pointer, asked, asked, is_required=is_required)


def asks_for_a_secret(name: str, schema: object) -> bool:
    """Say whether a property is a secret by its name, its format or by being write-only."""
    if isinstance(schema, Mapping) and (
        schema.get("format") == "password" or schema.get("writeOnly") is True
    ):
        return True
    return _SECRET.search(_CAMEL.sub(" ", name).lower()) is not None


def _field(
    name: str, label: str, pointer: str, schema: object, root: object, *, is_required: bool
) -> FormField:
    found = _resolved(schema, root)
    said = found.get("description")
    help_ = said if isinstance(said, str) else ""
    title = found.get("title")
    label = title if isinstance(title, str) and title else label
    if asks_for_a_secret(name, found):
        return FormField(name, label, FieldKind.WITHHELD, pointer, is_required, SECRET_HELP)
    kind, choices = _control(found)
    initial = found["const"] if "const" in found else found.get("default")
    return FormField(name, label, kind, pointer, is_required, help_, choices, initial)


_PLAIN = {
    "integer": FieldKind.INTEGER,
    "number": FieldKind.NUMBER,
    "boolean": FieldKind.CHECKBOX,
}


def _control(schema: Mapping[str, Any]) -> tuple[FieldKind, tuple[Any, ...]]:
    if "const" in schema:
        return FieldKind.FIXED, ()
    if options := _options(schema):
        return FieldKind.CHOICE, options
    type_ = schema.get("type")
    if type_ == "string":
        return _text_control(schema), ()
    if type_ == "array" and (options := _options(schema.get("items"))):
        return FieldKind.CHOICES, options
    return (_PLAIN.get(type_, FieldKind.JSON) if isinstance(type_, str) else FieldKind.JSON), ()


def _options(schema: object) -> tuple[Any, ...]:
    options = schema.get("enum") if isinstance(schema, Mapping) else None
    return tuple(options) if isinstance(options, list) else ()


def _text_control(schema: Mapping[str, Any]) -> FieldKind:
    if schema.get("format") == "date":
        return FieldKind.DATE
    longest = schema.get("maxLength")
    is_short = isinstance(longest, int) and longest <= _LONG
    return FieldKind.TEXT if is_short or "format" in schema else FieldKind.LONG_TEXT


def _resolved(schema: object, root: object) -> Mapping[str, Any]:
    """Follow one reference within the same schema; anything further stays JSON text."""
    if not isinstance(schema, Mapping):
        return {}
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    found: object = root if reference.startswith("#/") else None
    for part in reference[2:].split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) and "$ref" not in found else {}


def _is_plain_object(schema: Mapping[str, Any]) -> bool:
    """Say whether a form with one field per property can make every value that is needed."""
    properties = schema.get("properties")
    required = schema.get("required", [])
    return (
        schema.get("type", "object") == "object"
        and isinstance(properties, Mapping)
        and 0 < len(properties) <= _MOST
        and isinstance(required, list)
        and all(isinstance(name, str) and name in properties for name in required)
        and not {"oneOf", "anyOf", "allOf", "if", "not", "$ref"} & schema.keys()
    )


def _label(name: str) -> str:
    words = _CAMEL.sub(" ", name).replace("_", " ").replace("-", " ").strip()
    return words.capitalize() or name


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
