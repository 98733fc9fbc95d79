"""Readers of environment variables that stop the boot, by name, when a value makes no sense."""

import base64
import os
from collections.abc import Sequence
from pathlib import Path


class BadSetting(ValueError):
    """An environment variable holds something that cannot be used."""

    def __init__(self, name: str, wanted: str) -> None:
        self.name = name
        super().__init__(f"Environment variable {name} must be {wanted}.")


def text(name: str, default: str = "", *, least: int = 0) -> str:
    """Return the variable, or the content of the file that `<name>_FILE` names.

    What is set has at least `least` characters.
    """
    value = _given(name)
    if value and len(value) < least:
        raise BadSetting(name, f"of at least {least} characters")
    return value or default


def _given(name: str) -> str:
    path = os.environ.get(f"{name}_FILE", "")
    if not path:
        return os.environ.get(name, "")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadSetting(f"{name}_FILE", "the path of a readable file") from error


def number(name: str, default: int, *, least: int = 0) -> int:
    """Return the variable as a whole number of at least `least`."""
    value = text(name)
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or int(value) < least:
        raise BadSetting(name, f"a whole number of at least {least}")
    return int(value)


def flag(name: str, *, default: bool) -> bool:
    """Return the variable as yes or no."""
    value = text(name).lower()
    if not value:
        return default
    if value not in {"1", "0", "true", "false", "yes", "no", "on", "off"}:
        raise BadSetting(name, "1 or 0")
    return value in {"1", "true", "yes", "on"}


def seed(name: str) -> str:
    """Return the variable as base64 of 32 bytes; empty when it is not set."""
    value = text(name)
    try:
        is_fit = len(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))) == 32
    except ValueError:
        is_fit = False
    if value and not is_fit:
        raise BadSetting(name, "base64 of 32 bytes")
    return value


def words(name: str, default: Sequence[str] = ()) -> list[str]:
    """Return the variable as a list, split at commas."""
    value = text(name)
    return [part.strip() for part in value.split(",") if part.strip()] if value else list(default)
