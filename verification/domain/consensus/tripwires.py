"""Marks answers that look as if they were written for the judges instead of for the reader.

A tripwire raises suspicion and nothing lowers it. It proves nothing either: a suspected answer is
not rejected for good, it only cannot pass without a person.

Source: OWASP LLM Top 10 2026, prompt injection.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum

_VERDICT = re.compile(r"""["'\\]accept["'\\]{0,2}\s*:\s*(?:true|\\?["']true)""", re.IGNORECASE)
_FENCE = re.compile(r"<<<\s*(?:DATA|END)", re.IGNORECASE)
_ROLE = re.compile(
    r"<\|[a-z_]{2,24}\|>|\[/?INST\]|<<SYS>>|</?(?:system|assistant)>"
    r"|^[ \t]{0,8}#{0,4}[ \t]{0,8}(?:system|assistant|developer)(?: prompt| message)?[ \t]{0,8}:",
    re.IGNORECASE | re.MULTILINE,
)
_HIDDEN = re.compile("[\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
_ADDRESS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|rubric|rules|prompt)\b"
    r"|\b(?:judges?|reviewers?|verifiers?|graders?)\b[^.\n]{0,60}\baccept"
    r"|\b(?:set|make|return|reply|answer|respond|output)\b[^.\n]{0,60}\baccept\b"
    r"|\balways accept\b|\baccept (?:this|the|my) (?:answer|proof|result)\b"
    r"|\byour (?:verdict|rubric|instructions)\b|\bquorum\b",
    re.IGNORECASE,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,4096}={0,2}")


class Suspicion(StrEnum):
    """What looks wrong with an answer."""

    VERDICT_SHAPED = "verdict_shaped"
    """It contains a verdict that a careless reader of a judge's echo would take for the judge's."""
    FENCE_SHAPED = "fence_shaped"
    ROLE_MARKER = "role_marker"
    HIDDEN_CHARACTERS = "hidden_characters"
    """Zero-width, direction-changing or tag characters: what is read is not what is there."""
    ADDRESSES_JUDGES = "addresses_judges"
    """It speaks to those who judge it."""
    ENCODED_VERDICT = "encoded_verdict"


def suspicions(answer: str) -> tuple[Suspicion, ...]:
    """Return why an answer is suspected, in a fixed order; empty for most answers."""
    return tuple(suspicion for suspicion, holds in _checks(answer) if holds)


def _checks(answer: str) -> Iterator[tuple[Suspicion, bool]]:
    plain = unicodedata.normalize("NFKC", _HIDDEN.sub("", answer))
    yield Suspicion.VERDICT_SHAPED, _VERDICT.search(plain) is not None
    yield Suspicion.FENCE_SHAPED, _FENCE.search(plain) is not None
    yield Suspicion.ROLE_MARKER, _ROLE.search(plain) is not None
    yield Suspicion.HIDDEN_CHARACTERS, _HIDDEN.search(answer) is not None
    yield Suspicion.ADDRESSES_JUDGES, _ADDRESS.search(plain) is not None
    yield Suspicion.ENCODED_VERDICT, any(map(_hides_verdict, _BASE64.findall(answer)))


def _hides_verdict(encoded: str) -> bool:
    raw = encoded.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        decoded = base64.b64decode(raw + "=" * (-len(raw) % 4))
    except (binascii.Error, ValueError):
        return False
    return _VERDICT.search(decoded.decode("utf-8", errors="replace")) is not None
