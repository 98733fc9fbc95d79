"""How long things are kept, how much of each there is, and what would go now."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Min, QuerySet

from runs.models import ReceivedDelivery, Run, Workspace
from verification.erasable import old_runs, over_texts
from verification.models import AuditEntry, Content, Finding, Gate, Verdict

ERASED = ("run.erased", "content.erased")
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing that is kept."""

    name: str
    setting: str
    """The variable behind `days`."""
    days: int
    """0: for ever."""
    due: int
    """How many would go at the next sweeps."""
    held: int
    oldest: datetime | None


def kinds(workspace: Workspace, now: datetime) -> list[Kind]:
    """Return what is kept of a workspace, by kind."""
    runs = Run.objects.filter(workspace=workspace)
    texts = Content.objects.filter(workspace=workspace, erased_at=None)
    deliveries = ReceivedDelivery.objects.filter(host__workspace=workspace)
    entries = AuditEntry.objects.filter(workspace=workspace)
    old = old_runs(runs, now - timedelta(days=settings.RUN_DAYS)) if settings.RUN_DAYS else None
    late = deliveries.filter(last_at__lt=now - timedelta(days=settings.DELIVERY_DAYS))
    return [
        Kind(
            "Runs, with what was judged and decided",
            "OPENWOP_CONSOLE_RUN_DAYS",
            settings.RUN_DAYS,
            0 if old is None else old.count(),
            *_held(runs, "last_event_at"),
        ),
        Kind(
            "Texts of people and models",
            "OPENWOP_CONSOLE_CONTENT_DAYS",
            settings.CONTENT_DAYS,
            over_texts(now).filter(workspace=workspace).count(),
            *_held(texts, "created_at"),
        ),
        Kind(
            "Evidence of webhook deliveries",
            "OPENWOP_CONSOLE_DELIVERY_DAYS",
            settings.DELIVERY_DAYS,
            late.count(),
            *_held(deliveries, "last_at"),
        ),
        Kind("The audit chain", "", 0, 0, *_held(entries, "at")),
    ]


def _held(rows: "QuerySet[Any]", at: str) -> tuple[int, datetime | None]:
    found = rows.aggregate(held=Count("pk"), oldest=Min(at))
    return found["held"], found["oldest"]


def erased_lately(workspace: Workspace) -> list[AuditEntry]:
    """Return the last entries that say that something was erased, newest first."""
    rows = AuditEntry.objects.filter(workspace=workspace, action__in=ERASED)
    return list(rows.order_by("-seq")[:SHOWN])


def size_of(run: Run) -> dict[str, int]:
    """Return how much a run is, for whoever is about to erase it."""
    return {
        "events": run.event_count,
        "verdicts": Verdict.objects.filter(run=run).count(),
        "gates": Gate.objects.filter(run=run).count(),
        "findings": Finding.objects.filter(run=run).count(),
        "escalations": run.escalations.count(),
    }
