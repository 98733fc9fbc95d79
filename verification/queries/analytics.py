"""Numbers over many runs: how they ended, what critics said, how long people took.

Success is counted as everywhere: the goal was met, nothing is held, no gate was violated.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from statistics import quantiles

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.db.models.functions import TruncDate

from runs.models import Run, Viewer
from verification.domain.decisions import LETS_THROUGH
from verification.models import Escalation, Resolution, Verdict

OUTCOMES = ("goal_met", "in_question", "gave_up", "ended", "failed", "cancelled")
"""How a run may have ended; `in_question` met its goal, but is held or violated a gate."""
VERDICTS = ("pass", "revise", "fail")
MOST_VERIFIERS = 20
HASTY_S = 3
"""Seconds from a claim to a decision in which nobody has read anything."""


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
    """From opening to the first claim."""
    claim_p90: timedelta | None
    decide_p50: timedelta | None
    """From the claim of whoever decided to the decision."""
    decide_p90: timedelta | None
    whole_p50: timedelta | None
    """From opening to the decision."""
    whole_p90: timedelta | None


@dataclass(frozen=True, slots=True)
class Habits:
    """How people decide; what looks like a rubber stamp is counted, and nobody is named."""

    decided: int
    people: int
    longest_streak: int
    """Decisions of one person, one after the other, that all say the same."""
    hasty: int
    """Decisions that let something through within `HASTY_S` of the claim."""


def outcomes_by_day(viewer: Viewer, since: datetime, until: datetime) -> list[Share]:
    """Return how runs ended, for every day of a span, empty days included.

    A task of the Console's own jobs is counted with its job.
    """
    seen = Run.objects.visible_to(viewer).without_quiet_tasks()
    ended = seen.filter(ended_at__range=(since, until))
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
    rows = _resolutions(viewer, since)
    found = list(
        rows.values_list("escalation__opened_at", "at", "seconds_to_claim", "seconds_to_decide")
    )
    claims = [seconds for _, _, seconds, _ in found if seconds is not None]
    decisions = [seconds for _, _, _, seconds in found if seconds is not None]
    wholes = [(at - opened).total_seconds() for opened, at, _, _ in found]
    return Patience(
        len(found), *_percentiles(claims), *_percentiles(decisions), *_percentiles(wholes)
    )


def habits(viewer: Viewer, since: datetime, of: User | None = None) -> Habits:
    """Return how people decide: one of them, or all whose decisions the viewer sees."""
    rows = _resolutions(viewer, since)
    rows = rows if of is None else rows.filter(by=of)
    found = list(rows.order_by("by", "at", "pk").values_list("by", "action", "seconds_to_decide"))
    streaks = (len(list(same)) for _, same in groupby(found, key=lambda each: each[:2]))
    return Habits(
        decided=len(found),
        people=len({by for by, _, _ in found}),
        longest_streak=max(streaks, default=0),
        hasty=sum(
            action in _LETS_THROUGH and seconds is not None and seconds < HASTY_S
            for _, action, seconds in found
        ),
    )


def _resolutions(viewer: Viewer, since: datetime) -> QuerySet[Resolution]:
    seen = Escalation.objects.visible_to(viewer).values("pk")
    return Resolution.objects.filter(escalation__in=seen, at__gte=since)


_LETS_THROUGH = frozenset(action.value for action in LETS_THROUGH)


def _percentiles(seconds: Sequence[float]) -> tuple[timedelta | None, timedelta | None]:
    if not seconds:
        return None, None
    cuts = quantiles([*seconds, *seconds], n=10, method="inclusive")
    return timedelta(seconds=cuts[4]), timedelta(seconds=cuts[8])
