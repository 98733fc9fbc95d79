"""Reads single members of a job request: texts, names, counts, words. Strict, and never repairing.

Whatever is refused is refused with a reason and a pointer; the value itself is never quoted.
"""

import json
import re
from collections.abc import Collection, Mapping
from decimal import Decimal

from verification.domain.jobs.refusals import JobRefused

LONGEST_QUESTION = 50_000
LONGEST_ANSWER = 200_000
LONGEST_INSTRUCTION = 10_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}")
_TARGET = re.compile(r"[\x21-\x7e]{1,256}")
_CRITERION = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
_SECRETS = frozenset({"apikey", "api_key", "key", "token", "secret", "authorization", "password"})
_ADDRESSES = frozenset({"baseurl", "base_url", "url", "endpoint", "headers"})

Document = Mapping[str, object]


def an_object(value: object, pointer: str, allowed: Collection[str]) -> Document:
    """Return the value as an object that holds allowed members only."""
    if not isinstance(value, Mapping):
        raise JobRefused("type", pointer, "An object is expected here.")
    for name in value:
        if name not in allowed:
            raise _unexpected(str(name), pointer)
    return value


def _unexpected(name: str, pointer: str) -> JobRefused:
    plain = name.lower()
    where = f"{pointer}/{name}"
    if plain in _SECRETS:
        return JobRefused(
            "inline_secret", where, "Keys come from the Console's settings, never with a request."
        )
    if plain in _ADDRESSES:
        return JobRefused(
            "inline_address", where, "Addresses come from the Console's settings, never inline."
        )
    # Any other name may be content: only where it stands is said.
    return JobRefused("unexpected_key", pointer, "There is no such member here.")


def a_text(value: object, pointer: str, longest: int) -> str:
    """Return a text that says something and is not too long."""
    if not isinstance(value, str):
        raise JobRefused("type", pointer, "A text is expected here.")
    if not value.strip():
        raise JobRefused("empty", pointer, "It must not be empty.")
    if len(value) > longest:
        raise JobRefused("too_long", pointer, f"At most {longest} characters are taken here.")
    return value


def a_name(value: object, pointer: str) -> str:
    """Return the name of an agent or model: a token, for it is shown where content may not be."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise JobRefused(
            "name", pointer, "A name of 1 to 128 letters, digits and . _ : @ / - is expected."
        )
    return value


def a_target(value: object, pointer: str) -> str:
    """Return what a verdict may be about: a printable token without spaces."""
    if not isinstance(value, str) or not _TARGET.fullmatch(value):
        raise JobRefused("target", pointer, "A printable id without spaces is expected.")
    return value


def a_count(value: object, pointer: str, least: int, most: int) -> int:
    """Return a whole number within bounds; true and 1.0 are none."""
    if type(value) is not int:
        raise JobRefused("type", pointer, "A whole number is expected here.")
    if not least <= value <= most:
        raise JobRefused("range", pointer, f"A whole number from {least} to {most} is expected.")
    return value


def an_amount(value: object, pointer: str, most: int) -> Decimal:
    """Return an amount of money in US dollars; more than nothing."""
    if type(value) not in (int, float):
        raise JobRefused("type", pointer, "A number of US dollars is expected here.")
    amount = Decimal(str(value))
    if not 0 < amount <= most or amount != round(amount, 8):
        raise JobRefused("range", pointer, f"More than 0 and at most {most} dollars are expected.")
    return amount


def a_truth(value: object, pointer: str) -> bool:
    """Return true or false; nothing else stands for them."""
    if not isinstance(value, bool):
        raise JobRefused("type", pointer, "True or false is expected here.")
    return value


def as_json(value: object, pointer: str, longest: int) -> str:
    """Return any JSON value as text."""
    return a_text(json.dumps(value, ensure_ascii=False), pointer, longest)


def a_word(value: object, pointer: str, words: Collection[str]) -> str:
    """Return one of some words."""
    if not isinstance(value, str) or value not in words:
        raise JobRefused("enum", pointer, f"One of {', '.join(words)} is expected.")
    return value


def criteria(value: object, pointer: str) -> tuple[str, ...]:
    """Return a closed list of criteria keys, each once."""
    if not isinstance(value, list) or len(value) > 64:
        raise JobRefused("type", pointer, "A list of at most 64 keys is expected here.")
    for index, each in enumerate(value):
        if not isinstance(each, str) or not _CRITERION.fullmatch(each):
            raise JobRefused("criterion", f"{pointer}/{index}", "A key is expected, not prose.")
        if value.count(each) > 1:
            raise JobRefused("duplicate", f"{pointer}/{index}", "Every key stands once.")
    return tuple(value)
