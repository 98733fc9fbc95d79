"""Answers a question about a gate, and keeps a receipt of what was answered.

The receipt is written before the answer leaves: an answer that cannot be put on record is not
given, so nobody ever passed a gate on a word that we do not know of.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from runs.models import HostKey, Viewer
from verification.models import GateReceipt
from verification.queries.standing import Standing


def answer_gate(*, standing: Standing, by: Viewer, now: datetime | None = None) -> GateReceipt:
    """Record what is answered about a target and return it.

    Args:
        standing: as it was read for this answer.
        by: who asked.
        now: our clock; tests give it.
    """
    now = now or timezone.now()
    given = standing.answer
    return GateReceipt.objects.create(
        run=standing.run,
        target=standing.target,
        asked_by=asker(by),
        answered_at=now,
        expires_at=given.good_until(now, timedelta(seconds=settings.GATE_ANSWER_S)),
        decision=given.decision,
        basis=given.basis,
        state=given.state,
        held=standing.run.held,
        complete=standing.is_complete,
        position=standing.run.last_position,
        verdicts=list(standing.verdicts),
    )


def asker(viewer: Viewer) -> str:
    """Return how whoever asked is named in the record."""
    return f"key:{viewer.key_id}" if isinstance(viewer, HostKey) else f"person:{viewer.pk}"
