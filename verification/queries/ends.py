"""How a run ended and which of its criteria it met, for its page."""

from dataclasses import dataclass

from runs.domain.interrupts import ENDING_TYPES
from runs.domain.log import Origin
from runs.domain.readers import ORCHESTRATOR_DECISION, DecisionKind, decision_of
from runs.models import Event, Run
from verification.domain.convergence import Criterion, criteria_of

_LOOKED_AT = 50
"""Decisions that are looked through for the last `terminate`."""


@dataclass(frozen=True, slots=True)
class End:
    """The lines that say how a run ended; None where it has not."""

    line: Event | None
    """The host's own end of the run."""
    terminate: Event | None
    """The last decision to end it."""
    criteria: tuple[Criterion, ...]


def end_of(run: Run, position: int | None = None) -> End:
    """Return how a run ended, as far as it was known at a position."""
    held = Event.objects.filter(run=run, origin=Origin.HOST).order_by("-sequence")
    if position is not None:
        held = held.filter(position__lte=position)
    decisions = held.filter(type=ORCHESTRATOR_DECISION)[:_LOOKED_AT]
    terminate = next((each for each in decisions if _ends(each)), None)
    return End(
        line=held.filter(type__in=ENDING_TYPES).first(),
        terminate=terminate,
        criteria=criteria_of(terminate.line) if terminate else (),
    )


def _ends(event: Event) -> bool:
    said = decision_of(event.line)
    return said is not None and said.kind is DecisionKind.TERMINATE
