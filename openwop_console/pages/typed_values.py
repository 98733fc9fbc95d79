"""What people type into the forms of jobs that is not plain text: whole numbers, and JSON."""

from typing import Any

from runs.domain.strict_json import JsonRefused, parse
from runs.limits import limits
from verification.domain.jobs.refusals import JobRefused


def whole(text: str, pointer: str) -> int:
    """Return a whole number. Raises JobRefused."""
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise JobRefused("type", pointer, "A whole number is expected here.")
    return int(text)


def json_value(text: str, pointer: str) -> Any:
    """Return what a text is as JSON, read as strictly as any request. Raises JobRefused."""
    try:
        return parse(text.encode("utf-8", "surrogatepass"), max_depth=limits().depth)
    except JsonRefused as error:
        raise JobRefused("json", pointer, "This is not JSON.") from error
