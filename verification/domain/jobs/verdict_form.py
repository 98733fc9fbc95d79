"""The form that a judge's reply must have, as a JSON Schema that providers can enforce."""

from collections.abc import Sequence
from typing import Any


def verdict_form(nonce: str, criteria: Sequence[str]) -> dict[str, Any]:
    """Return the schema of a fenced reply. It holds a model to a form and decides nothing.

    Every member is required, as strict structured output wants it.
    """
    members: dict[str, Any] = {
        "nonce": {"type": "string", "enum": [nonce]},
        "accept": {"type": "boolean"},
        "critique": {"type": "string"},
    }
    if criteria:
        members["criteria"] = {"type": "array", "items": {"type": "string", "enum": list(criteria)}}
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }
