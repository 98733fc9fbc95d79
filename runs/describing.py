"""Short words for describing the API: JSON Schemas of its answers, and which answers there are.

A described object says its fields and demands them all but those named as optional. It leaves open
what else may come, so that clients survive a new field; the tests hold every real answer against
the description and let nothing through that it does not name.

Source: OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from drf_spectacular.utils import OpenApiResponse

Schema = dict[str, Any]

ANYTHING: Schema = {}


def refer(name: str) -> Schema:
    """Point to a schema that has a name of its own."""
    return {"$ref": f"#/components/schemas/{name}"}


def members(
    fields: Mapping[str, Schema], about: str = "", *, optional: Iterable[str] = ()
) -> Schema:
    """Describe an object by its fields."""
    may_miss = set(optional)
    schema: Schema = {"type": "object", "properties": dict(fields)}
    required = [name for name in fields if name not in may_miss]
    return schema | _unless_empty(required=required, description=about)


def text(about: str = "", **more: Any) -> Schema:
    """Describe a string."""
    return {"type": "string", **_unless_empty(description=about), **more}


def whole(about: str = "", *, least: int = 0, **more: Any) -> Schema:
    """Describe a whole number."""
    return {"type": "integer", "minimum": least, **_unless_empty(description=about), **more}


def flag(about: str = "") -> Schema:
    """Describe a boolean."""
    return {"type": "boolean", **_unless_empty(description=about)}


def moment(about: str = "") -> Schema:
    """Describe a date and time with its offset."""
    return text(about, format="date-time")


def one_of(words: type[StrEnum] | Iterable[str], about: str = "") -> Schema:
    """Describe a string that is one of some words."""
    return text(about, enum=[str(each) for each in words])


def listed(each: Schema, about: str = "", **more: Any) -> Schema:
    """Describe an array."""
    return {"type": "array", "items": each, **_unless_empty(description=about), **more}


def maybe(schema: Schema) -> Schema:
    """Describe what may also be null."""
    if "type" not in schema:
        return {"oneOf": [schema, {"type": "null"}]}
    words = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, **words, "type": [schema["type"], "null"]}


def page(name: str, each: str) -> Schema:
    """Describe one page of a list, with the cursor of the next."""
    after = maybe(text("Send it as `cursor` to get the next page; null: this is the last."))
    return members({name: listed(refer(each)), "next": after})


def answers(good: Mapping[int, str], *refused: int) -> dict[int, OpenApiResponse]:
    """Return what an operation answers.

    Args:
        good: status → name of the schema of its body.
        refused: statuses with an error, beside those that any request may meet.
    """
    carried_out = {
        status: OpenApiResponse(refer(name), description=_WORDS[status])
        for status, name in good.items()
    }
    return carried_out | {status: OpenApiResponse(refer("Error")) for status in refused}


_WORDS = {
    200: "Carried out.",
    201: "Committed.",
    202: "Taken; what follows is under way.",
    207: "Committed, but for what is listed as rejected.",
}


def _unless_empty(**fields: Any) -> Schema:
    return {name: value for name, value in fields.items() if value}
