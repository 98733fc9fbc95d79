"""A sentence with gaps, filled from whatever shape a host gave its payload.

`{a.b|c}` is a short word or number found at one of the paths; `{a~}` a text's beginning in quotes;
`{a!}` a word that is surely no prose; `{a#}` a count; `{a,}` the words of a list; `{a_}` a word as
it is spoken, without underscores; `{node}` the node, from the payload or the envelope. What stands
in `[...]` is left out when one of its gaps cannot be filled, so a sentence shrinks and never
breaks. All gaps stand in brackets, as any may stay empty.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runs.domain.excerpts import excerpt
from runs.domain.log import LogLine

_PIECE = re.compile(r"\[([^\]]*)\]|([^\[]+)")
_GAP = re.compile(r"\{([^}]+)\}")
_TOKEN = re.compile(r"[A-Za-z0-9._:@/+-]{1,64}")
_WORD_CHARS = 64
_QUOTE_CHARS = 120
_LISTED = 3


def word(value: object) -> str | None:
    """A value as a short word or number; None for an object, an empty string, and so on."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value)
        case float():
            return f"{value:g}"
        case str():
            return excerpt(value, _WORD_CHARS) or None
        case _:
            return None


def token(value: object) -> str | None:
    """A value as a word if it is a number, or text that could be an id or an enum's value."""
    if isinstance(value, str) and not _TOKEN.fullmatch(value):
        return None
    return word(value)


def quoted(value: object) -> str | None:
    """The beginning of a text in quotes; None if there is no text."""
    beginning = excerpt(value, _QUOTE_CHARS) if isinstance(value, str) else ""
    return f"“{beginning}”" if beginning else None


def counted(value: object) -> str | None:
    """How many elements a list or an object has; None for anything else."""
    return str(len(value)) if isinstance(value, list | dict) else None


def listed(value: object) -> str | None:
    """The first few words of a list by name, and how many more; None if there are none."""
    if not isinstance(value, list):
        return None
    words = [said for each in value[:_LISTED] if (said := word(each))]
    more = f" and {len(value) - _LISTED} more" if len(value) > _LISTED else ""
    return ", ".join(words) + more if words else None


def spoken(value: object) -> str | None:
    """A word that a program chose, as a person says it: `revise asked`."""
    said = word(value)
    return None if said is None else said.replace("_", " ")


_MANNERS: Mapping[str, Callable[[object], str | None]] = {
    "!": token,
    "~": quoted,
    "#": counted,
    ",": listed,
    "_": spoken,
}


@dataclass(frozen=True, slots=True)
class Gap:
    """Where in a line to look, and how to say what is found."""

    paths: tuple[tuple[str, ...], ...]
    manner: Callable[[object], str | None]

    def filled(self, line: LogLine) -> str | None:
        """What is found first, in words; None if nothing is."""
        for path in self.paths:
            said = self.manner(_found(line, path))
            if said is not None:
                return said
        return None


def gap(text: str) -> Gap:
    """Read a gap as it stands between braces."""
    manner = _MANNERS.get(text[-1], word)
    paths = text if manner is word else text[:-1]
    return Gap(tuple(tuple(path.split(".")) for path in paths.split("|")), manner)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a sentence: texts, and the gaps between them."""

    texts: tuple[str, ...]
    gaps: tuple[Gap, ...]

    def filled(self, line: LogLine) -> str:
        """The part with all its gaps filled; nothing if one cannot be."""
        said = [each.filled(line) for each in self.gaps]
        known = [each for each in said if each is not None]
        if len(known) < len(said):
            return ""
        pairs = zip(known, self.texts[1:], strict=True)
        return self.texts[0] + "".join(words + after for words, after in pairs)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One line about an event, with gaps."""

    pieces: tuple[Piece, ...]

    def about(self, line: LogLine) -> str:
        """The sentence, filled as far as the line allows. It begins large, unless with an id."""
        parts = [(piece, said) for piece in self.pieces if (said := piece.filled(line))]
        text = "".join(said for _, said in parts)
        begins_with_gap = bool(parts) and parts[0][0].texts[0] == ""
        return text if begins_with_gap else text[:1].upper() + text[1:]


def sentence(template: str) -> Sentence:
    """Read a template."""
    parts = [_GAP.split(match[1] or match[2]) for match in _PIECE.finditer(template)]
    return Sentence(
        tuple(Piece(tuple(part[::2]), tuple(gap(text) for text in part[1::2])) for part in parts)
    )


def _found(line: LogLine, path: tuple[str, ...]) -> object:
    if path == ("node",):
        inside = _found(line, ("nodeId",))
        return inside if isinstance(inside, str) and inside else line.node_id
    value: object = line.payload
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
