"""Notes that a sweep was done."""

from datetime import datetime

from runs.models import Sweep


def note(name: str, *, failed: int = 0, now: datetime) -> None:
    """Note that a sweep came to its end, and how many of its parts failed."""
    Sweep.objects.update_or_create(name=name, defaults={"ended_at": now, "failed": failed})
