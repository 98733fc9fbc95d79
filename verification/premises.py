"""What conclusions about a run are drawn from, as it is now or as it was at a position.

As it was means as it was known: lines up to the position, the gaps they left, what the host had
advertised and what people had claimed and decided by then.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Count, Max, Min, QuerySet

from runs.domain import gaps as gap_rules
from runs.domain.log import LogLine, Origin
from runs.lines import LAST, missing_of, signal_lines
from runs.models import Event, Run
from verification.domain import past_claims
from verification.domain.capabilities import CapabilitySpan
from verification.domain.conclude import Conclusions, conclude
from verification.domain.decisions import Action
from verification.domain.lifecycle import State
from verification.domain.past_claims import Reviews
from verification.domain.past_decisions import PastDecision
from verification.domain.rules import Rules
from verification.domain.signals import signal_types
from verification.kept import capabilities_of
from verification.models import Escalation, Resolution

Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Premises:
    """Everything that `conclude` asks for."""

    lines: Sequence[LogLine]
    gaps: Ranges
    capabilities: Sequence[CapabilitySpan]
    decisions: Sequence[PastDecision]
    claimed: Collection[str]

    @property
    def newest_snapshot(self) -> int | None:
        """Return which snapshot of the host's capabilities is the newest known."""
        return max((int(span.reference) for span in self.capabilities), default=None)

    def conclusions(self) -> Conclusions:
        """Conclude."""
        return conclude(
            lines=self.lines,
            gaps=self.gaps,
            capabilities=self.capabilities,
            decisions=self.decisions,
            settings=Rules(),
            claimed=self.claimed,
        )


def premises(
    run: Run, now: datetime, *, lines: Sequence[LogLine] | None = None, is_reviewed: bool = True
) -> Premises:
    """Read what is known of a run now.

    Args:
        run: whose log it is.
        now: claims that run out before count no more.
        lines: those to conclude from; None to read all of them.
        is_reviewed: whether the run may have escalations.
    """
    known = Premises(
        lines=signals_of(run) if lines is None else lines,
        gaps=_gaps(run),
        capabilities=capabilities_of(run.host_id),
        decisions=(),
        claimed=(),
    )
    if not is_reviewed:
        return known
    held = Escalation.objects.filter(run=run, state=State.CLAIMED, claim_until__gt=now)
    decided = Resolution.objects.filter(escalation__run=run)
    return replace(known, decisions=_decisions(decided), claimed=_names(held))


def _gaps(run: Run) -> Ranges:
    if not run.may_miss_events:
        return ()
    return missing_of(run)


def premises_at(run: Run, position: int) -> Premises:
    """Read what was known of a run when the line at a position was its last one."""
    moment = Event.objects.filter(run=run, position__lte=position).order_by("-position").first()
    reviews = reviews_at(run, position)
    resolutions = Resolution.objects.filter(escalation__in=reviews.resolved)
    return Premises(
        lines=signals_of(run, up_to=position),
        gaps=_gaps_at(run, position),
        capabilities=_capabilities_at(run.host_id, moment.recorded_at if moment else None),
        decisions=_decisions(resolutions),
        claimed=_names(Escalation.objects.filter(run=run, pk__in=reviews.claimed)),
    )


def reviews_at(run: Run, position: int) -> Reviews:
    """Read who held which escalation of a run, and what had been decided, at a position."""
    told = Event.objects.filter(run=run, position__lte=position, type__in=past_claims.TYPES)
    return past_claims.reviews(_told(event) for event in told)


def signals_of(run: Run, *, background: bool = True, up_to: int = LAST) -> list[LogLine]:
    """Read the lines that conclusions are drawn from, with or without `BACKGROUND_TYPES`."""
    return signal_lines([run.pk], signal_types(has_verdicts=background), up_to)[run.pk]


def _gaps_at(run: Run, position: int) -> Ranges:
    held = Event.objects.filter(run=run, position__lte=position, origin=Origin.HOST)
    ends = held.aggregate(first=Min("sequence"), last=Max("sequence"), count=Count("position"))
    first, last = ends["first"], ends["last"]
    span = gap_rules.Span(first, last)
    if first is not None and last is not None and ends["count"] != last - first + 1:
        sequences = (each for each in held.values_list("sequence", flat=True) if each is not None)
        span = gap_rules.extend(gap_rules.Span(), sequences)
    starts = held.filter(sequence=1, type="run.started").exists()
    return span.missing(starts_at_one=starts)


def _capabilities_at(host: int, moment: datetime | None) -> Sequence[CapabilitySpan]:
    """Return what a host advertised, as far as it was known by a moment."""
    spans = capabilities_of(host)
    if moment is None:
        return spans
    return [
        replace(span, valid_to=None) if span.valid_to and span.valid_to > moment else span
        for span in spans
        if span.valid_from <= moment
    ]


def _decisions(rows: "QuerySet[Resolution]") -> list[PastDecision]:
    return [
        PastDecision(
            key=row.escalation.key,
            action=Action(row.action),
            seen_position=row.seen_position,
            by=row.by.get_username(),
            target=row.escalation.target or None,
        )
        for row in rows.select_related("escalation", "by").order_by("pk")
    ]


def _names(escalations: "QuerySet[Escalation]") -> set[str]:
    return {name for row in escalations.values_list("key", "target") for name in row if name}


def _told(event: Event) -> LogLine:
    return LogLine(
        position=event.position,
        origin=Origin.CONSOLE,
        sequence=None,
        event_id=event.event_id,
        type=event.type,
        payload=event.payload,
        timestamp=event.occurred_at,
    )
