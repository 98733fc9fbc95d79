"""The one signal of the project: `events_appended`.

Sent inside the appending transaction, so that what is judged from an event commits with it. The
sender is the `Run` class; `appended` is a list of `Appended`. A receiver reads and writes nothing:
it returns what it wants to do, or None. Where that fails the events are appended without it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.dispatch import Signal

if TYPE_CHECKING:
    from runs.domain.log import LogLine
    from runs.models import Run

events_appended = Signal()


@dataclass(frozen=True, slots=True)
class Appended:
    """What one transaction added to one run."""

    run: "Run"
    """Locked by the sender, who saves it; its derived columns are already up to date."""
    lines: "Sequence[LogLine]"
    """The new lines, in position order: the host's and the markers of what was turned away."""
    gaps_changed: bool
