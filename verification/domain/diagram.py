"""Pictures drawn from the tables of moves, so that documentation cannot drift from the rules."""

from collections import defaultdict
from collections.abc import Iterable

from verification.domain import delivery, lifecycle

_INDENT = "    "


def escalation_diagram() -> str:
    """Return the life of an escalation as a Mermaid state diagram."""
    arrows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (state, move), following in lifecycle.TRANSITIONS.items():
        arrows[state, following].append(move)
    lines = [
        f"{before} --> {after}: {', '.join(moves)}" for (before, after), moves in arrows.items()
    ]
    ends = [f"{state} --> [*]" for state in lifecycle.State if state in lifecycle.SETTLED]
    return _drawn(lifecycle.State.OPEN, lines, ends)


def delivery_diagram() -> str:
    """Return the life of a delivery as a Mermaid state diagram."""
    states = list(delivery.State)
    lines = [
        f"{before} --> {after}"
        for before in states
        for after in states
        if after in delivery.TRANSITIONS[before]
    ]
    return _drawn(delivery.State.WAITING, lines, [])


def _drawn(start: str, lines: Iterable[str], ends: Iterable[str]) -> str:
    body = [f"[*] --> {start}", *lines, *ends]
    return "\n".join(["stateDiagram-v2", *(f"{_INDENT}{line}" for line in body)])
