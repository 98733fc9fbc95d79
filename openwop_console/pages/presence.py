"""Who else has a page open: told from socket to socket, kept nowhere, and forgotten when it ends.

A message carries a person's name and no more. Whoever arrives asks once; whoever hears it answers;
whoever leaves says so, and who vanishes without a word is forgotten after a while.
"""

import time
from dataclasses import dataclass, field
from typing import Any

FORGOTTEN_AFTER_S = 75.0
TOLD_EVERY_S = 30.0


def watchers_group(escalation: int) -> str:
    """Return the name of the group that an escalation's open pages join."""
    return f"watchers.{escalation}"


def arrival(name: str, *, asks: bool) -> dict[str, Any]:
    """Return the message by which somebody says that they look."""
    return {"type": "presence", "name": name, "asks": asks, "leaves": False}


def departure(name: str) -> dict[str, Any]:
    """Return the message by which somebody says that they look no more."""
    return {"type": "presence", "name": name, "asks": False, "leaves": True}


@dataclass(slots=True)
class Watchers:
    """The others, as one open page knows them."""

    own: str
    seen: dict[str, float] = field(default_factory=dict)

    def hear(self, message: dict[str, Any], now: float | None = None) -> bool:
        """Take a message; say whether the list of the others has changed by it."""
        name = str(message.get("name", ""))
        if name == self.own or not name:
            return False
        before = self.others(now)
        if message.get("leaves"):
            self.seen.pop(name, None)
        else:
            self.seen[name] = time.monotonic() if now is None else now
        return self.others(now) != before

    def others(self, now: float | None = None) -> list[str]:
        """Return who looks, by name."""
        now = time.monotonic() if now is None else now
        return sorted(name for name, at in self.seen.items() if now - at < FORGOTTEN_AFTER_S)


def sentence(names: list[str]) -> str:
    """Say who looks; empty when nobody does."""
    if not names:
        return ""
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{', '.join(names[:-1])} and {names[-1]} are"
