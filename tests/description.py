"""The API's description of itself, to hold real answers against."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

METHODS = {"get", "post", "put", "patch", "delete"}


@dataclass
class Description:
    document: dict[str, Any]
    _validators: dict[str, Any] = field(default_factory=dict)

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for path, methods in self.document["paths"].items():
            for method in METHODS & methods.keys():
                yield method, path, methods[method]

    def named(self, operation_id: str) -> tuple[str, str, dict[str, Any]]:
        return next(each for each in self.operations() if each[2]["operationId"] == operation_id)

    def fault_in(
        self, operation: dict[str, Any], status: int, content_type: str, body: Any
    ) -> str | None:
        """Say how an answer differs from what the operation is described to answer."""
        answer = self.at(operation["responses"].get(str(status)))
        if answer is None:
            return f"the status {status} is not described"
        media_type = content_type.partition(";")[0]
        if media_type not in answer["content"]:
            return f"{status} as {media_type!r} is not described"
        return self.fault_of(body, answer["content"][media_type]["schema"])

    def fault_of(self, value: Any, schema: dict[str, Any]) -> str | None:
        """Say where a value is not what a schema says, or has what the schema does not name."""
        name = repr(schema)
        if name not in self._validators:
            whole = {**closed(schema), "components": closed(self.document["components"])}
            self._validators[name] = jsonschema_rs.Draft202012Validator(
                whole, validate_formats=True
            )
        wrong = next(self._validators[name].iter_errors(value), None)
        return wrong and f"{wrong.message} at /{'/'.join(map(str, wrong.instance_path))}"

    def at(self, thing: Any) -> Any:
        """Follow a reference."""
        while isinstance(thing, dict) and "$ref" in thing:
            found: Any = self.document
            for step in thing["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            thing = found
        return thing


def closed(schema: Any) -> Any:
    """Return a schema whose objects may hold nothing but what it names, where it does not say."""
    schema = deepcopy(schema)
    for each in _parts(schema):
        if isinstance(each.get("properties"), dict) and each.get("type") != "string":
            each.setdefault("additionalProperties", False)
    return schema


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    inner = schema.values() if isinstance(schema, dict) else schema
    if isinstance(schema, dict):
        yield schema
    if isinstance(schema, dict | list):
        for each in inner:
            yield from _parts(each)
