"""Concludes what follows from a run's log and keeps it: verdicts, gates, findings, escalations.

Called with the run locked, in the transaction that changed its log, its host's capabilities or what
people decided. Nothing is carried over from an earlier conclusion but what people see change: a
finding that no longer holds is withdrawn, an escalation that nobody needs is closed as moot.
"""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from runs.actions.runs import Stamp, locked, note, stamp
from runs.models import Run
from runs.signals import Appended
from verification.actions import keeping
from verification.actions.asking import settle_escalations
from verification.actions.effects import watch_for_effects
from verification.actions.keeping_findings import keep_findings
from verification.domain.conclude import Conclusions
from verification.domain.routes import routes
from verification.domain.signals import relevant
from verification.models import Escalation
from verification.premises import premises

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
    known = premises(run, now)
    conclusions = known.conclusions()
    lines = [
        *keeping.keep_verdicts(run, conclusions),
        *keeping.keep_gates(run, conclusions, routes(conclusions, known.lines), now),
        *keep_findings(run, conclusions, known.gaps, now),
        *settle_escalations(run, conclusions, now),
    ]
    keeping.keep_judgement(run, conclusions, known.newest_snapshot)
    note(run=run, lines=lines, now=now)
    _stamp(run, conclusions)
    watch_for_effects(run=run, now=now)
    return conclusions


@transaction.atomic
def judge_again(*, run: int, now: datetime | None = None) -> Conclusions:
    """Conclude anew for a run, outside of an append."""
    return judge(run=locked(run), now=now)


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
