"""What form a reply must have, and JSON Schema as one way to say it.

Kept harmless: references to other documents are refused, and patterns run on an engine that is
linear in the text, so no schema reaches the network and none can be made to hang.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import jsonschema_rs

from verification.domain.errors import VerificationError

MAX_PATTERN_BYTES = 1 << 16
"""Compiled size; a pattern that needs more is refused with its schema."""


class SchemaMismatch(VerificationError):
    """A value misses the schema it must satisfy. Says nothing about the value: that is content."""

    def __init__(self) -> None:
        super().__init__("The value does not satisfy the schema.")


class InvalidSchema(VerificationError):
    """The schema itself is no JSON Schema that can be used here."""

    def __init__(self) -> None:
        super().__init__("Not a usable JSON Schema.")


class OutputSchema(Protocol):
    """Something that can tell whether a parsed reply has the required form."""

    def read(self, value: object) -> object:
        """Return the value as the schema understands it. Raises SchemaMismatch."""


@dataclass(frozen=True, slots=True)
class Miss:
    """One place where a value misses a schema. Says nothing about the value: that is content."""

    path: tuple[str | int, ...]
    """Where in the value."""
    keyword: str
    """The keyword of JSON Schema that it misses, such as `required`."""


class JsonSchema:
    """A compiled JSON Schema. An OutputSchema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Compile a schema (draft 2020-12 unless it names another). Raises InvalidSchema."""
        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema),
                retriever=_refuse,
                pattern_options=jsonschema_rs.RegexOptions(size_limit=MAX_PATTERN_BYTES),
            )
        except (ValueError, TypeError) as error:
            raise InvalidSchema from error

    def read(self, value: object) -> object:
        """Return the value if it satisfies the schema. Raises SchemaMismatch."""
        if not self.accepts(value):
            raise SchemaMismatch
        return value

    def misses(self, value: object) -> list[Miss]:
        """Return every place where the value misses the schema; none when it satisfies it."""
        return [
            Miss(tuple(error.instance_path), str(error.schema_path[-1]))
            for error in self._validator.iter_errors(value)
        ]

    def accepts(self, value: object) -> bool:
        """True when the value satisfies the schema; a value that cannot be checked does not."""
        try:
            return self._validator.is_valid(value)
        except (ValueError, TypeError):
            return False


class _NoNetwork(ValueError):
    """References beyond the schema are not followed."""


def _refuse(uri: str) -> NoReturn:
    raise _NoNetwork(uri)
