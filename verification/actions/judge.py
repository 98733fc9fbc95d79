"""Concludes what follows from a run's log and keeps it: verdicts, gates, findings, escalations.

Called with the run locked, in the transaction that changed its log, its host's capabilities or what
people decided. Nothing is carried over from an earlier conclusion but what people see change: a
finding that no longer holds is withdrawn, an escalation that nobody needs is closed as moot.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from runs.actions.runs import Stamp, locked, save_judged, stamp, tell
from runs.domain.log import LogLine
from runs.domain.projection import STARTED
from runs.models import Run
from runs.rows import execute_together
from runs.signals import Appended
from verification.actions import keeping
from verification.actions.asking import settle_escalations
from verification.actions.effects import watch_for_effects
from verification.actions.keeping_findings import keep_findings
from verification.domain.background import needs_background
from verification.domain.conclude import Conclusions
from verification.domain.routes import routes
from verification.domain.signals import BACKGROUND_TYPES, SIGNAL_TYPES, relevant
from verification.kept import Kept, background_matters, kept_about
from verification.models import Escalation
from verification.premises import Premises, premises, signals_of

STRIP = 5
"""How many of a run's last verdicts its row shows."""
QUIET_BEGINNINGS = BACKGROUND_TYPES | {STARTED}
"""Signals from which nothing follows as long as a log has no others."""


def needs_judging(appended: Appended) -> bool:
    """Say whether what was appended may change a conclusion."""
    run = appended.run
    types = {line.near_miss_of or line.type for line in appended.lines} & SIGNAL_TYPES
    if _is_whole(appended) and types <= QUIET_BEGINNINGS:
        return False
    if relevant(types, has_verdicts=bool(run.verdict_strip) or "agent.verified" in types):
        return True
    return appended.gaps_changed and bool(run.worst_finding or run.verdict_strip)


def judge_appended(*, appended: Appended, now: datetime | None = None) -> None:
    """Conclude anew for a locked run whose log has grown, where that can change anything.

    The run gets its stamp and its last position in memory; whoever appended saves it.
    """
    run = appended.run
    if _is_whole(appended):
        _judge(run, lines=appended.lines, now=now)
        return
    types = {line.near_miss_of or line.type for line in appended.lines}
    is_background = not appended.gaps_changed and not relevant(types, has_verdicts=False)
    if not is_background or background_matters(run):
        _judge(run, now=now)


def _is_whole(appended: Appended) -> bool:
    """Say whether what was appended is all there is of the run."""
    return bool(appended.lines) and appended.lines[0].position == 1


def judge(*, run: Run, now: datetime | None = None) -> Conclusions:
    """Conclude anew for a locked run and keep what changed."""
    position = run.last_position
    conclusions = _judge(run, now=now)
    save_judged(run, has_news=run.last_position > position)
    return conclusions


def _judge(
    run: Run, *, lines: Sequence[LogLine] | None = None, now: datetime | None
) -> Conclusions:
    now = now or timezone.now()
    kept = kept_about(run)
    known, conclusions = _concluded(run, kept, lines, now)
    way = routes(conclusions, known.lines)
    gates, news = keeping.keep_gates(run, kept, conclusions, way, now)
    findings, noticed = keep_findings(run, kept, conclusions, known.gaps, now)
    statements = [*keeping.keep_verdicts(run, kept, conclusions), *gates, *findings]
    if kept.judgement or conclusions.verdicts or conclusions.findings or conclusions.commits.total:
        statements += keeping.keep_judgement(run, kept, conclusions, known.newest_snapshot)
    execute_together(statements)
    news += noticed
    may_wait = kept.escalations or (kept.sampling and bool(conclusions.gates))
    if may_wait or conclusions.escalations:
        news += settle_escalations(run, conclusions, now)
        may_wait = True
    tell(run=run, lines=news, now=now)
    waiting = Escalation.objects.waiting().filter(run=run).count() if may_wait else 0
    _stamp(run, conclusions, waiting)
    if kept.unproved:
        watch_for_effects(run=run, now=now)
    return conclusions


def _concluded(
    run: Run, kept: Kept, lines: Sequence[LogLine] | None, now: datetime
) -> tuple[Premises, Conclusions]:
    """Conclude, without the background of the log where it cannot matter."""
    may_do_with_few = lines is None and not kept.doubts
    if may_do_with_few:
        lines = signals_of(run, background=False)
    known = premises(run, now, lines=lines, is_reviewed=kept.escalations)
    conclusions = known.conclusions()
    if may_do_with_few and needs_background(conclusions):
        known = replace(known, lines=signals_of(run))
        conclusions = known.conclusions()
    return known, conclusions


@transaction.atomic
def judge_again(*, run: int, now: datetime | None = None) -> Conclusions:
    """Conclude anew for a run, outside of an append."""
    return judge(run=locked(run), now=now)


def _stamp(run: Run, conclusions: Conclusions, waiting: int) -> None:
    worst = conclusions.worst_severity
    stamp(
        run=run,
        stamp=Stamp(
            held=conclusions.held,
            hold_reasons=conclusions.hold_reasons,
            standing=conclusions.standing.value if conclusions.gates else "",
            verdict_strip=tuple(each.kind.value for each in conclusions.verdicts[-STRIP:]),
            open_escalations=waiting,
            worst_finding="" if worst is None else worst.value,
        ),
    )
