"""What people type into the forms of jobs that is no plain text: numbers, JSON, rule settings."""

import json
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


_MAIN = {
    "rule:must-match": "pattern",
    "rule:must-not-match": "pattern",
    "rule:required-citations": "minimum",
    "rule:length": "minimum",
}
"""By rule, the setting that is typed as it is; any others are typed as JSON with it."""


def rule_settings(model: str, text: str, pointer: str) -> Any:
    """Return the settings of a judge as they were typed. Raises JobRefused."""
    name = _MAIN.get(model)
    if name is None or text.startswith("{"):
        return json_value(text, pointer)
    return {name: whole(text, pointer) if name == "minimum" else text}


def rule_text(model: str, settings: Any) -> str:
    """Return the settings of a judge as they are typed: `rule_settings` turned around."""
    name = _MAIN.get(model)
    if isinstance(settings, str) or not settings:
        return settings or ""
    if isinstance(settings, dict) and list(settings) == [name]:
        text = str(settings[name])
        if text == text.strip() and _reads_back(model, text, settings):
            return text
    return json.dumps(settings, ensure_ascii=False)


def _reads_back(model: str, text: str, settings: Any) -> bool:
    try:
        return bool(rule_settings(model, text, "") == settings)
    except JobRefused:
        return False
