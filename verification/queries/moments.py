"""Moments of a run that are worth looking back to: where something was said, noted or decided."""

from django.db.models import Q

from runs.domain.readers import VERDICT
from runs.models import Event, Run

_TOLD = ("console.gate", "console.gates", "console.escalation", "console.finding")


def neighbours(run: Run, position: int) -> tuple[int | None, int | None]:
    """Return the moments before and after a position; None where there is none."""
    told = Q(type=VERDICT)
    for prefix in _TOLD:
        told |= Q(type__startswith=f"{prefix}.")
    moments = Event.objects.filter(told, run=run).values_list("position", flat=True)
    earlier = moments.filter(position__lt=position).order_by("-position").first()
    return earlier, moments.filter(position__gt=position).order_by("position").first()


def place_of(run: Run, position: int) -> int:
    """Return where the line at a position stands on the timeline."""
    line = Event.objects.filter(run=run, position__lte=position).order_by("-position").first()
    return line.place if line else 0
