"""Who is told of what, when, and whether a timer that fires still has something to say.

A timer is a row that is judged again when it fires. What somebody took, decided or closed meanwhile
is not sent. Texts carry the kind of reason and an address, never content.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from verification.domain.lifecycle import Situation, State, is_claimed


class Note(StrEnum):
    """What a notification says. Stored."""

    OPENED = "opened"
    HANDED_TO_LEAD = "handed_to_lead"
    EXPIRED = "expired"
    NOT_DELIVERED = "not_delivered"
    NO_EFFECT = "no_effect"
    PLAN_WAITS = "plan_waits"


class Mode(StrEnum):
    """How soon a person wants to be told. Stored."""

    AT_ONCE = "at_once"
    HOURLY = "hourly"
    DAILY = "daily"


ASKS_FOR_SOMEBODY = frozenset({Note.OPENED, Note.HANDED_TO_LEAD, Note.PLAN_WAITS})
"""Notes that are out of date once somebody holds or has settled the matter."""
DAILY_AT_HOUR = 8
"""UTC."""
RETRIES = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1))

_SAYS = {
    Note.OPENED: "waits for a person",
    Note.HANDED_TO_LEAD: "waits for a lead",
    Note.EXPIRED: "expired; its queue fails closed",
    Note.NOT_DELIVERED: "was decided, and the decision did not reach the host",
    Note.NO_EFFECT: "was decided and accepted; no effect is seen",
    Note.PLAN_WAITS: "waits for a person",
}


def send_at(mode: Mode, now: datetime) -> datetime:
    """Return when something that happens now is sent: at once, at the full hour, or at eight."""
    match mode:
        case Mode.AT_ONCE:
            return now
        case Mode.HOURLY:
            return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        case Mode.DAILY:
            at = now.replace(hour=DAILY_AT_HOUR, minute=0, second=0, microsecond=0)
            return at if at > now else at + timedelta(days=1)


def why_dropped(note: Note, situation: Situation, now: datetime) -> str:
    """Return why there is nothing left to say, in one word; empty: say it."""
    if note not in ASKS_FOR_SOMEBODY:
        return ""
    if situation.state not in (State.OPEN, State.CLAIMED):
        return situation.state.value
    return "claimed" if is_claimed(situation, now) else ""


def retry_at(tries: int, now: datetime) -> datetime | None:
    """Return when to try again after so many failures; None: not any more, the bell has it."""
    return now + RETRIES[tries - 1] if 0 < tries <= len(RETRIES) else None


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a message: about an escalation, or about the plan of a job."""

    note: Note
    reason: str
    """In words, such as `Failed verdict`."""
    url: str
    escalation: int | None = None
    job: str = ""
    """Its id."""


def sentence(item: Item) -> str:
    """Return the line."""
    about = f"Job {item.job}:" if item.escalation is None else f"#{item.escalation}"
    return f"{about} {item.reason} {_SAYS[item.note]}: {item.url}"


def subject(count: int) -> str:
    """Return the heading of a message of so many lines."""
    return f"OpenWOP Console: {count} {'matter' if count == 1 else 'matters'} for you"
