"""Concludes what follows from a run's log and keeps it: verdicts, gates, findings, escalations.

Called with the run locked, in the transaction that changed its log, its host's capabilities or what
people decided. Nothing is carried over from an earlier conclusion but what people see change: a
finding that no longer holds is withdrawn, an escalation that nobody needs is closed as moot.
"""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from runs.actions.runs import Stamp, locked, note, stamp
from runs.lines import signal_lines
from runs.models import CapabilitySnapshot, Gap, Run
from runs.signals import Appended
from verification.actions import keeping
from verification.actions.asking import settle_escalations
from verification.actions.deliveries import watch_for_effects
from verification.domain.capabilities import CapabilitySpan
from verification.domain.conclude import Conclusions, conclude
from verification.domain.decisions import Action
from verification.domain.lifecycle import State
from verification.domain.past_decisions import PastDecision
from verification.domain.rules import Rules
from verification.domain.signals import relevant, signal_types
from verification.models import Escalation, Resolution

STRIP = 5
"""How many of a run's last verdicts its row shows."""


def needs_judging(appended: Appended) -> bool:
    """Say whether what was appended can change a conclusion."""
    run = appended.run
    types = [line.near_miss_of or line.type for line in appended.lines]
    if relevant(types, has_verdicts=bool(run.verdict_strip) or "agent.verified" in types):
        return True
    return appended.gaps_changed and bool(run.worst_finding or run.verdict_strip)


def judge(*, run: Run, now: datetime | None = None) -> Conclusions:
    """Conclude anew for a locked run and keep what changed."""
    now = now or timezone.now()
    conclusions = _conclude(run, now)
    lines = [
        *keeping.keep_verdicts(run, conclusions),
        *keeping.keep_gates(run, conclusions, now),
        *keeping.keep_findings(run, conclusions, now),
        *settle_escalations(run, conclusions, now),
    ]
    note(run=run, lines=lines, now=now)
    _stamp(run, conclusions)
    watch_for_effects(run=run, now=now)
    return conclusions


@transaction.atomic
def judge_again(*, run: int, now: datetime | None = None) -> Conclusions:
    """Conclude anew for a run, outside of an append."""
    return judge(run=locked(run), now=now)


def _conclude(run: Run, now: datetime) -> Conclusions:
    types = signal_types(has_verdicts=True)
    missing = Gap.objects.filter(run=run).order_by("first").values_list("first", "last")
    return conclude(
        lines=signal_lines([run.pk], types)[run.pk],
        gaps=list(missing),
        capabilities=_capabilities(run.host_id),
        decisions=_decisions(run),
        settings=Rules(),
        claimed=_claimed(run, now),
    )


def _capabilities(host: int) -> list[CapabilitySpan]:
    snapshots = CapabilitySnapshot.objects.filter(host=host).order_by("valid_from")
    return [
        CapabilitySpan(each.document, each.valid_from, each.valid_to, reference=str(each.pk))
        for each in snapshots
    ]


def _decisions(run: Run) -> list[PastDecision]:
    rows = Resolution.objects.filter(escalation__run=run).select_related("escalation", "by")
    return [
        PastDecision(
            key=row.escalation.key,
            action=Action(row.action),
            seen_position=row.seen_position,
            by=row.by.get_username(),
            target=row.escalation.target or None,
        )
        for row in rows.order_by("pk")
    ]


def _claimed(run: Run, now: datetime) -> set[str]:
    rows = Escalation.objects.filter(run=run, state=State.CLAIMED, claim_until__gt=now)
    return {name for row in rows.values_list("key", "target") for name in row if name}


def _stamp(run: Run, conclusions: Conclusions) -> None:
    worst = conclusions.worst_severity
    stamp(
        run=run,
        stamp=Stamp(
            held=conclusions.held,
            hold_reasons=conclusions.hold_reasons,
            standing=conclusions.standing.value if conclusions.gates else "",
            verdict_strip=tuple(each.kind.value for each in conclusions.verdicts[-STRIP:]),
            open_escalations=Escalation.objects.waiting().filter(run=run).count(),
            worst_finding="" if worst is None else worst.value,
        ),
    )
