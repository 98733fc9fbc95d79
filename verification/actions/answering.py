"""Answers a question about a gate, and keeps a receipt of what was answered.

The receipt is written before the answer leaves: an answer that cannot be put on record is not
given, so nobody ever passed a gate on a word that we do not know of.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from runs.models import HostKey, Run, Viewer
from verification.domain.gate_answers import Answer
from verification.models import GateReceipt


def answer_gate(
    *,
    run: Run,
    target: str,
    answer: Answer,
    verdicts: Sequence[str],
    is_complete: bool,
    by: Viewer,
    now: datetime | None = None,
) -> GateReceipt:
    """Record what is answered about a target and return it.

    Args:
        run: as it was read for this answer.
        target: what was asked about.
        answer: what follows for it.
        verdicts: event ids of those that stood.
        is_complete: no sequence of the run was missing.
        by: who asked.
        now: our clock; tests give it.
    """
    now = now or timezone.now()
    return GateReceipt.objects.create(
        run=run,
        target=target,
        asked_by=asker(by),
        answered_at=now,
        expires_at=answer.good_until(now, timedelta(seconds=settings.GATE_ANSWER_S)),
        decision=answer.decision,
        basis=answer.basis,
        state=answer.state,
        held=run.held,
        complete=is_complete,
        position=run.last_position,
        verdicts=list(verdicts),
    )


def asker(viewer: Viewer) -> str:
    """Return how whoever asked is named in the record."""
    return f"key:{viewer.key_id}" if isinstance(viewer, HostKey) else f"person:{viewer.pk}"
