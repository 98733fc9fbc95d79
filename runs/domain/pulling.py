"""What to ask a host next, and when: read from what is held, decided without a clock.

A log is read from where it stops being whole, by the cursor of the host's major; a host that
ignores cursors sends everything, and what is known is passed over. A host in trouble is left alone
for longer and longer. A run of which there is nothing more to learn is asked after no more, until
somebody rings.

Source: OpenWOP rest-endpoints.md (`lastSequence`), v2 events.md (`afterSequence`); RFC 9110
§10.2.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from runs.domain.gaps import Range
from runs.domain.host_answer import Answer, Reached

FIRST_REST_S = 5.0
"""After the first failure; doubled by each further one."""
AGAIN_S = 1.0
"""Until the next look at a run that has just told something."""
LONGEST_WISH_S = 3600.0
"""A host that asks for more patience than this is asked again after so long."""
GIVES_UP_AFTER = 6
"""Looks without success, or without anything new, at a run that should have had more."""


@dataclass(frozen=True, slots=True)
class Held:
    """What we hold of a run's log."""

    last: int | None = None
    """Highest sequence; None: nothing."""
    missing: Sequence[Range] = ()
    """Ascending."""
    has_ended: bool = False

    def cursor(self, *, not_given: int | None = None) -> int | None:
        """Return the sequence after which to ask; None: from the very first.

        Cursors are exclusive, so that 0 would skip the first event: it is not sent at all then.

        Args:
            not_given: up to here the host was asked already for what is missing, and had no more.
        """
        asked = -1 if not_given is None else not_given
        wanted = next((first for first, last in self.missing if last > asked), None)
        after = self.last if wanted is None else wanted - 1
        return None if after is None or after < 0 else after

    @property
    def is_whole(self) -> bool:
        """Say whether the run ended and nothing of it is missing."""
        return self.has_ended and not self.missing


class Trouble(StrEnum):
    """Why a look brought nothing."""

    HOST = "host"
    """The host as a whole is away, busy, or does not let us in: nothing else of it is asked."""
    RUN = "run"
    """The host does not know or does not give this run."""


_HOST_REFUSES = frozenset({401, 403, 407, 408, 425, 429})


def trouble_in(answer: Answer) -> Trouble | None:
    """Return what an answer is wrong with; None: nothing."""
    if answer.is_good:
        return None
    if answer.reached is not Reached.ANSWERED or answer.status is None:
        return Trouble.HOST
    is_host = answer.status in _HOST_REFUSES or answer.status >= 500 or answer.status < 400
    return Trouble.HOST if is_host else Trouble.RUN


@dataclass(frozen=True, slots=True)
class Patience:
    """The longest waits, in seconds."""

    rest_s: float = 900.0
    """Of a host in trouble."""
    idle_s: float = 300.0
    """Between two looks at a run of which there is nothing new."""


def rest_s(
    failures: int, *, longest_s: float, jitter: float, asked_s: float | None = None
) -> float:
    """Return for how many seconds to leave alone what failed so often in a row.

    Args:
        failures: at least 1.
        longest_s: never longer, but for what the host itself asks for.
        jitter: 0 … 1, by chance, so that many do not come back at once.
        asked_s: the host's `Retry-After`.
    """
    doubled = FIRST_REST_S * float(1 << min(failures - 1, 20))
    wait_s = min(doubled, longest_s) * (0.75 + 0.5 * jitter)
    return max(wait_s, min(asked_s or 0.0, LONGEST_WISH_S))


@dataclass(frozen=True, slots=True)
class Look:
    """How one look at a run went."""

    held: Held
    """After it."""
    news: int = 0
    """Events that were new."""
    trouble: Trouble | None = None
    asked_s: float | None = None
    """The host's wish to wait."""
    host_says_it_ended: bool = False
    was_rung: bool = False
    """Somebody said meanwhile that there is more."""


@dataclass(frozen=True, slots=True)
class Next:
    """When to look again, and what to remember until then."""

    at: datetime | None
    """None: there is nothing more to ask."""
    failures: int = 0
    quiet: int = 0


def next_look(
    look: Look, *, failures: int, quiet: int, now: datetime, patience: Patience, jitter: float
) -> Next:
    """Return when to look at a run again.

    Args:
        look: how the last one went.
        failures: failed looks in a row before it.
        quiet: looks in a row before it that brought nothing new.
        now: our clock.
        patience: the longest waits.
        jitter: 0 … 1, by chance.
    """
    if look.trouble is not None:
        return _after_trouble(look, failures + 1, quiet, now, patience, jitter)
    quiet = 0 if look.news else quiet + 1
    if look.was_rung:
        return Next(now, quiet=quiet)
    if look.held.is_whole:
        return Next(None, quiet=quiet)
    should_be_over = look.held.has_ended or look.host_says_it_ended
    if should_be_over and quiet >= GIVES_UP_AFTER:
        return Next(None, quiet=quiet)
    doubled = AGAIN_S * float(1 << min(quiet, 20))
    wait_s = min(doubled, patience.idle_s) * (0.75 + 0.5 * jitter)
    return Next(now + timedelta(seconds=wait_s), quiet=quiet)


def _after_trouble(
    look: Look, failures: int, quiet: int, now: datetime, patience: Patience, jitter: float
) -> Next:
    gives_up = look.trouble is Trouble.RUN and failures >= GIVES_UP_AFTER and not look.was_rung
    if gives_up:
        return Next(None, failures, quiet)
    wait_s = rest_s(failures, longest_s=patience.rest_s, jitter=jitter, asked_s=look.asked_s)
    return Next(now + timedelta(seconds=wait_s), failures, quiet)


def wants_look(*, is_known: bool, is_settled: bool, listed_as_over: bool) -> bool:
    """Say whether a run in a host's list should be read now.

    Args:
        is_known: the ledger has it.
        is_settled: there was nothing more to ask when it was last read.
        listed_as_over: the host lists it as ended.
    """
    return not is_known or (is_settled and not listed_as_over)
