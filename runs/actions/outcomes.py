"""Writes down how a look at a host or at a run went, and when the next one is."""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from runs.actions.leases import HostLook, RunLook
from runs.actions.unread import hold_for_unread_verdicts
from runs.domain.host_answer import Answer
from runs.domain.pulling import Held, Look, Patience, Trouble, next_look, rest_s, trouble_in
from runs.lines import missing_of
from runs.models import Event, Host, PulledHost, PulledRun, Run

logger = logging.getLogger(__name__)


class Stopped(Exception):
    """A look cannot go on: the host does not answer, or not with what was asked for."""

    def __init__(self, trouble: Trouble, outcome: str, asked_s: float | None = None) -> None:
        self.trouble, self.outcome, self.asked_s = trouble, outcome, asked_s
        super().__init__(f"{trouble}: {outcome}")


def check(answer: Answer) -> None:
    """Let a good answer pass. Raises Stopped for any other."""
    trouble = trouble_in(answer)
    if trouble is not None:
        said = f"{answer.outcome} {answer.status or ''}".strip()
        raise Stopped(trouble, said[:64], answer.retry_after_s)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a look at a run ended."""

    look: Look
    outcome: str
    not_given: int | None = None


def held_of(host: Host, run_id: str) -> tuple[Run | None, Held]:
    """Return a run and what we hold of its log; no run and nothing where none was heard of."""
    run = Run.objects.filter(host=host, run_id=run_id).first()
    if run is None:
        return None, Held()
    return run, Held(run.last_sequence, missing_of(run), run.is_terminal)


def end_run(taken: RunLook, ended: Ended, *, now: datetime) -> None:
    """Give a run's lease back and say when it is looked at again."""
    note_health(taken.host, taken.taken_at, ended.look, now)
    unread = _unread(taken)
    is_final = ended.look.trouble is not None or not ended.look.news
    if unread and is_final:
        hold_for_unread_verdicts(host=taken.host, run_id=taken.run_id, sequences=unread, now=now)
    _give_back(taken, ended, [] if is_final else unread, now)


@transaction.atomic
def _give_back(taken: RunLook, ended: Ended, owed: Sequence[int], now: datetime) -> None:
    row = PulledRun.objects.select_for_update().filter(pk=taken.pk, fence=taken.fence).first()
    if row is None:
        logger.warning("run %s: an outdated look is not recorded", taken.pk)
        return
    was_rung = row.rung_at is not None and row.rung_at > taken.taken_at
    after = next_look(
        replace(ended.look, was_rung=was_rung),
        failures=taken.failures,
        quiet=taken.quiet,
        now=now,
        patience=Patience(settings.PULL_BACKOFF_MAX_S, settings.PULL_IDLE_MAX_S),
        jitter=random.random(),  # noqa: S311
    )
    row.next_at, row.lease_until = after.at, None
    row.failures, row.quiet = after.failures, after.quiet
    row.looked_at, row.outcome = now, ended.outcome[:64]
    row.not_given = ended.not_given
    row.settled_with = _events_held(taken) if after.at is None else None
    newly_owed = set(row.owed_verdicts) - set(taken.owed_verdicts)
    row.owed_verdicts = sorted({*owed, *newly_owed})
    row.save()


def _events_held(taken: RunLook) -> int:
    counts = Run.objects.filter(host=taken.host, run_id=taken.run_id)
    return counts.values_list("event_count", flat=True).first() or 0


def _unread(taken: RunLook) -> list[int]:
    """Return the announced verdicts that are still not held."""
    if not taken.owed_verdicts:
        return []
    held = set(
        Event.objects.filter(
            run__host=taken.host, run__run_id=taken.run_id, sequence__in=taken.owed_verdicts
        ).values_list("sequence", flat=True)
    )
    return [each for each in taken.owed_verdicts if each not in held]


def end_host(
    taken: HostLook,
    *,
    outcome: str,
    now: datetime,
    list_cursor: str = "",
    lists_runs: bool | None = None,
) -> None:
    """Give a host's lease back and say when it is looked at again."""
    wait_s = settings.PULL_DISCOVER_S * (0.9 + 0.2 * random.random())  # noqa: S311
    PulledHost.objects.filter(pk=taken.host.pk, fence=taken.fence).update(
        next_at=now + timedelta(seconds=wait_s),
        lease_until=None,
        looked_at=now,
        outcome=outcome[:64],
        list_cursor=list_cursor,
        lists_runs=lists_runs,
    )


def note_health(host: Host, since: datetime, look: Look, now: datetime) -> None:
    """Let a host rest that is in trouble, and end that as soon as it answers.

    Looks that failed side by side count once.

    Args:
        host: which one.
        since: when the look began.
        look: how it went.
        now: our clock.
    """
    rows = PulledHost.objects.filter(pk=host.pk)
    if look.trouble is not Trouble.HOST:
        rows.filter(failures__gt=0).update(failures=0, rests_until=None)
        return
    row = rows.filter(Q(rests_until=None) | Q(rests_until__lte=since)).first()
    if row is None:
        return
    wait_s = rest_s(
        row.failures + 1,
        longest_s=settings.PULL_BACKOFF_MAX_S,
        jitter=random.random(),  # noqa: S311
        asked_s=look.asked_s,
    )
    rows.filter(failures=row.failures).update(
        failures=F("failures") + 1, rests_until=now + timedelta(seconds=wait_s)
    )
