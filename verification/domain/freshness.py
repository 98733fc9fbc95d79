"""Whether a person decides about what is, or about what was.

A decision is bound to what was on screen. Which lines and facts make up the matter is the caller's
choice, made when it builds the two views; here they are only compared.
"""

from dataclasses import dataclass

from verification.domain.refusals import StaleView


@dataclass(frozen=True, slots=True)
class View:
    """What the person had on screen, or what holds now."""

    version: int
    position: int = -1
    """The last line of the run that the caller counts as part of the matter."""
    digest: str = ""
    """Covers gate state, verdicts and interrupt, as the caller computes it."""
    verdicts: frozenset[str] = frozenset()


def check_fresh(seen: View, current: View) -> None:
    """Pass when nothing changed between the two views."""
    if changed := changes(seen, current):
        raise StaleView(changed, since=seen.position)


def changes(seen: View, current: View) -> tuple[str, ...]:
    """Return what differs: any of `escalation`, `verdicts`, `subject`, `events`."""
    pairs = {
        "escalation": (seen.version, current.version),
        "verdicts": (seen.verdicts, current.verdicts),
        "subject": (seen.digest, current.digest),
        "events": (seen.position, current.position),
    }
    return tuple(name for name, (before, after) in pairs.items() if before != after)
