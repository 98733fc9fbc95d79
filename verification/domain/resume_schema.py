"""Whether a value satisfies the `resumeSchema` of an interrupt, before a host is asked.

A host's schema is material from outside: it is checked offline (no reference is ever fetched) and
with bounded patterns. A schema that cannot be used checks nothing here; the host will check.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from verification.domain.errors import VerificationError

_PATTERNS = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=50_000, size_limit=1_000_000, dfa_size_limit=1_000_000
)
_MOST = 20


@dataclass(frozen=True, slots=True)
class Wrong:
    """One place where a value misses the schema; never the value itself."""

    pointer: str
    keyword: str


class ResumeMismatch(VerificationError):
    """The decision, in every form there is, misses the interrupt's resumeSchema."""

    def __init__(self, wrong: tuple[Wrong, ...]) -> None:
        self.wrong = wrong
        places = ", ".join(f"{one.pointer or '/'} ({one.keyword})" for one in wrong[:3])
        super().__init__(f"The host would refuse this decision: {places}.")


def mismatches(value: object, schema: Mapping[str, Any] | bool | None) -> tuple[Wrong, ...]:
    """Return where a value misses a schema; nothing when it fits or the schema is unusable."""
    validator = _validator(schema)
    if validator is None:
        return ()
    wrong = []
    for error in validator.iter_errors(value):
        pointer = "".join(f"/{_escaped(str(part))}" for part in error.instance_path)
        wrong.append(Wrong(pointer, error.kind.name))
        if len(wrong) == _MOST:
            break
    return tuple(wrong)


def is_usable(schema: Mapping[str, Any] | bool | None) -> bool:
    """Say whether a schema can be checked without asking anybody."""
    return _validator(schema) is not None


def _validator(schema: Mapping[str, Any] | bool | None) -> jsonschema_rs.Validator | None:
    if schema is None:
        return None
    document = schema if isinstance(schema, bool) else dict(schema)
    try:
        return jsonschema_rs.validator_for(document, offline=True, pattern_options=_PATTERNS)
    except (ValueError, jsonschema_rs.ReferencingError, TypeError, RecursionError):
        return None


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
