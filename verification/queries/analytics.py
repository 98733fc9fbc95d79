"""Numbers over many runs: how they ended, what critics said, how long people took.

Success is counted as everywhere: the goal was met, nothing is held, no gate was violated.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import quantiles

from django.db.models import Count
from django.db.models.functions import TruncDate

from runs.models import Run, Viewer
from verification.models import Escalation, Resolution, Verdict

OUTCOMES = ("goal_met", "in_question", "gave_up", "ended", "failed", "cancelled")
"""How a run may have ended; `in_question` met its goal, but is held or violated a gate."""
VERDICTS = ("pass", "revise", "fail")
MOST_VERIFIERS = 20


@dataclass(frozen=True, slots=True)
class Share:
    """How often each of some words was counted, for one row of a figure."""

    name: str
    counts: dict[str, int]

    @property
    def total(self) -> int:
        """Return how many were counted in all."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Patience:
    """How long escalations waited; None where nothing was measured."""

    decided: int
    claim_p50: timedelta | None
    claim_p90: timedelta | None
    decide_p50: timedelta | None
    decide_p90: timedelta | None


def outcomes_by_day(viewer: Viewer, since: datetime, until: datetime) -> list[Share]:
    """Return how runs ended, for every day of a span, empty days included."""
    ended = Run.objects.visible_to(viewer).filter(ended_at__range=(since, until))
    counted = (
        ended.annotate(day=TruncDate("ended_at"))
        .values("day", "outcome", "held", "worst_finding")
        .annotate(n=Count("pk"))
    )
    days: dict[date, Counter[str]] = defaultdict(Counter)
    for row in counted:
        days[row["day"]][_outcome(row["outcome"], row["held"], row["worst_finding"])] += row["n"]
    span = (until.date() - since.date()).days
    listed = (since.date() + timedelta(days=n) for n in range(span + 1))
    return [Share(day.isoformat(), dict(days[day])) for day in listed]


def _outcome(outcome: str, held: bool, worst_finding: str) -> str:
    if outcome == "goal_met" and (held or worst_finding == "violation"):
        return "in_question"
    return outcome or "ended"


def verdicts_by_verifier(viewer: Viewer, since: datetime) -> list[Share]:
    """Return what each verifier said of the runs that moved since then, the busiest first."""
    rows = Verdict.objects.visible_to(viewer).filter(run__last_event_at__gte=since)
    counted = rows.values("verifier", "verdict").annotate(n=Count("pk"))
    verifiers: dict[str, Counter[str]] = defaultdict(Counter)
    for row in counted:
        verifiers[row["verifier"]][row["verdict"]] += row["n"]
    shares = [Share(name, dict(counts)) for name, counts in verifiers.items()]
    shares.sort(key=lambda share: (-share.total, share.name))
    return shares[:MOST_VERIFIERS]


def patience(viewer: Viewer, since: datetime) -> Patience:
    """Return how long escalations waited for a claim and for a decision."""
    seen = Escalation.objects.visible_to(viewer).values("pk")
    rows = Resolution.objects.filter(escalation__in=seen, at__gte=since)
    found = list(rows.values_list("escalation__opened_at", "escalation__claimed_at", "at"))
    claims = [(claimed - opened).total_seconds() for opened, claimed, _ in found if claimed]
    decisions = [(at - opened).total_seconds() for opened, _, at in found]
    claim_p50, claim_p90 = _percentiles(claims)
    decide_p50, decide_p90 = _percentiles(decisions)
    return Patience(len(found), claim_p50, claim_p90, decide_p50, decide_p90)


def _percentiles(seconds: Sequence[float]) -> tuple[timedelta | None, timedelta | None]:
    if not seconds:
        return None, None
    cuts = quantiles([*seconds, *seconds], n=10, method="inclusive")
    return timedelta(seconds=cuts[4]), timedelta(seconds=cuts[8])
