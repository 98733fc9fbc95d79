"""The vectors' own schema dialect: JSON Schema where `default` fills in and `x-coerce` converts."""

from typing import Any

from verification.domain.consensus.schemas import JsonSchema, SchemaMismatch


class VectorSchema:
    """An OutputSchema as the vectors mean it: defaults filled, values converted, extras dropped."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.validator = JsonSchema(_plain(schema))

    def read(self, value: object) -> object:
        prepared = _prepared(self.schema, value)
        if not self.validator.accepts(prepared):
            raise SchemaMismatch
        return prepared


def _plain(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _plain(value) for key, value in schema.items() if key != "x-coerce"}
    return schema


def _prepared(schema: dict[str, Any], value: Any) -> Any:
    if schema.get("x-coerce"):
        return _coerced(schema.get("type"), value)
    properties = schema.get("properties")
    if not isinstance(value, dict) or properties is None:
        return value
    is_open = schema.get("additionalProperties", True) is not False
    kept = {key: each for key, each in value.items() if key in properties or not is_open}
    for key, sub in properties.items():
        if key in kept or sub.get("x-coerce"):
            kept[key] = _prepared(sub, kept.get(key))
        elif "default" in sub:
            kept[key] = sub["default"]
    return kept


def _coerced(type_: Any, value: Any) -> Any:
    if type_ == "boolean":
        return not (value is None or value is False or value in ("", 0))
    if type_ == "string":
        return str(value)
    try:
        return float(value or 0)
    except (TypeError, ValueError):
        return value
