"""What a routing rule would have taken, had it been there: tried on what was opened lately."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import OuterRef, Subquery

from verification.domain.routing import Matter, Rule
from verification.models import Escalation, Gate

DAYS = 7
SHOWN = 20
MOST = 5000


@dataclass(frozen=True, slots=True)
class DryRun:
    """What came of it."""

    looked_at: int
    taken: list[Escalation]
    """The newest of those that the rule takes."""
    taken_count: int
    now_in: dict[str, int]
    """The queues they are in, with how many."""


def dry_run(workspace: int, rule: Rule, now: datetime) -> DryRun:
    """Try a rule on everything that was opened in the last seven days, newest first."""
    actor = Gate.objects.filter(run=OuterRef("run"), target=OuterRef("target")).values("actor")[:1]
    rows = Escalation.objects.filter(workspace=workspace, opened_at__gte=now - timedelta(days=DAYS))
    rows = rows.annotate(actor=Subquery(actor)).select_related("run__host", "queue")
    looked_at = list(rows.order_by("-opened_at")[:MOST])
    taken = [each for each in looked_at if rule.takes(matter_of(each))]
    now_in = Counter(each.queue.name if each.queue else "none" for each in taken)
    return DryRun(len(looked_at), taken[:SHOWN], len(taken), dict(now_in))


def matter_of(row: Escalation) -> Matter:
    """Return an escalation as rules see it; `actor` is annotated."""
    actor = getattr(row, "actor", None) or ""
    return Matter(tuple(row.reasons), row.run.host.slug, row.run.workflow_id, actor)
