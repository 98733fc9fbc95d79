"""Short, harmless pieces of a host's text.

What comes out is one line without controls, direction marks or towers of accents, cut between
characters. It is still untrusted: escaping it is the template's work.
"""

import unicodedata
from collections.abc import Iterator

_JOINERS = "\u200c\u200d"
"""Needed to write Persian, Indic scripts and composed emoji; harmless between other characters."""
_MOST_ACCENTS = 2


def excerpt(text: str, most: int) -> str:
    """The first `most` characters of a text on one line, with `…` where it was cut."""
    head = text[: 4 * most + 64]
    line = head if head.isascii() and head.isprintable() else "".join(_seen(head))
    line = " ".join(line.split())
    if len(line) <= most and len(head) == len(text):
        return line.strip(_JOINERS)
    return line[: most - 1].rstrip(" " + _JOINERS) + "…"


def _seen(text: str) -> Iterator[str]:
    accents = 0
    for character in text:
        if character.isspace():
            yield " "
        elif unicodedata.combining(character):
            accents += 1
            if accents <= _MOST_ACCENTS:
                yield character
        elif character.isprintable() or character in _JOINERS:
            accents = 0
            yield character
