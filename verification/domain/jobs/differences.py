"""What changed between two versions of an answer, word by word."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_WORDS = 4000
"""Beyond this, comparing costs more than reading."""
_WORDS = re.compile(r"\A\s+|\S+\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that stayed, went or came. Content."""

    kind: str
    """same, removed or added."""
    text: str


def differences(before: str, after: str) -> tuple[Piece, ...]:
    """Return the pieces that lead from one text to the other; very long ones are not compared."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        return (Piece("same", after),)
    return tuple(_pieces(old, new))


def _pieces(old: list[str], new: list[str]) -> Iterator[Piece]:
    for tag, a, b, c, d in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Piece("same", "".join(old[a:b]))
            continue
        if b > a:
            yield Piece("removed", "".join(old[a:b]))
        if d > c:
            yield Piece("added", "".join(new[c:d]))
