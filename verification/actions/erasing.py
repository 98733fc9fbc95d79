"""Erases whole runs: the log, what was judged and decided about it, and what was written for that.

An entry in the audit chain says that there was a run, and how much of it. Nothing is erased while
it is still needed: while somebody is asked, a decision is on its way, or a job is worked on. A host
that sends the run again makes it anew.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from runs import live
from runs.actions.runs import locked
from runs.models import PulledRun, Run, Workspace
from verification.actions.audit import record
from verification.domain.errors import VerificationError
from verification.erasable import needed_for, old_runs
from verification.models import (
    Comment,
    Content,
    Delivery,
    Draft,
    Escalation,
    Job,
    JobStep,
    JobTask,
    JudgeVote,
    MemoryEntry,
    Resolution,
)

RETENTION = "system:retention"
AT_ONCE = 20
"""Runs of a workspace that one sweep erases."""


class StillNeeded(VerificationError):
    """A run must not be erased yet."""

    def __init__(self, run_id: str, why: str) -> None:
        self.run_id, self.why = run_id, why
        super().__init__(f"{run_id} cannot be erased yet: {why}.")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased of a run: how many rows, by what they are."""

    run_id: str
    counts: dict[str, int]


@transaction.atomic
def erase_run(
    *, run: int, actor: str, silent_since: datetime | None = None, now: datetime | None = None
) -> Receipt:
    """Erase a run, and with a job's run those of its tasks.

    Args:
        run: its primary key.
        actor: who wants it so, as the audit chain names them.
        silent_since: only if nothing was heard of it since then.
        now: our clock; tests give it.

    Raises:
        Run.DoesNotExist: there is none, or not any more.
        StillNeeded: somebody or something still works with it.
    """
    found = locked(run)
    host = found.host
    why = needed_for(found)
    if silent_since is not None and found.last_event_at and found.last_event_at >= silent_since:
        why = "its host has gone on with it"
    if why:
        raise StillNeeded(found.run_id, why)
    parts = [found, *Run.objects.select_for_update(of=("self",)).filter(job_task__job__run=found)]
    counts = _erase(parts)
    PulledRun.objects.filter(host=host, run_id__in=[each.run_id for each in parts]).update(
        next_at=None, settled_with=None
    )  # what stays says that the run is known, so that a list of the host's does not bring it back
    record(
        workspace=found.workspace_id,
        actor=actor,
        action="run.erased",
        subject=f"run:{host.slug}/{found.run_id}",
        detail=counts,
        now=now,
    )
    groups = live.workspace_group(found.workspace_id), live.run_group(run)
    transaction.on_commit(partial(live.ring, *groups))
    return Receipt(found.run_id, counts)


def erase_old_runs(now: datetime) -> None:
    """Erase runs that nothing was heard of for as long as runs are kept, a few at a time."""
    if not settings.RUN_DAYS:
        return
    before = now - timedelta(days=settings.RUN_DAYS)
    for workspace in Workspace.objects.order_by("pk"):
        for run in old_runs(Run.objects.filter(workspace=workspace), before)[:AT_ONCE]:
            with suppress(StillNeeded, Run.DoesNotExist):  # it changed since it was looked for
                erase_run(run=run.pk, actor=RETENTION, silent_since=before, now=now)


def _erase(runs: Sequence[Run]) -> dict[str, int]:
    """Erase the rows of some locked runs and return how many there were of each kind."""
    pks = [run.pk for run in runs]
    counts = Counter({"events": _erase_logs(pks)})
    texts = {pk for each in TEXTS for pk in each.pointed_to(pks)}
    _, erased = Run.objects.filter(pk__in=pks).delete()
    for label, count in erased.items():
        counts[_plural(label)] += count
    counts["contents"] += _erase_texts(texts)
    return {name: count for name, count in sorted(counts.items()) if count}


def _plural(label: str) -> str:
    """Return `job steps` for `verification.JobStep`."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label.rpartition(".")[2]).lower()
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _erase_logs(runs: list[int]) -> int:
    """Erase lines, which a trigger allows to nobody else."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL openwop_console.retention = 'on'")
        cursor.execute("DELETE FROM runs_event WHERE run_id = ANY(%s)", [runs])
        erased = int(cursor.rowcount)
        cursor.execute("SET LOCAL openwop_console.retention = 'off'")
    return erased


@dataclass(frozen=True, slots=True)
class _Texts:
    """A column that points to texts, and how its rows belong to a run."""

    rows: QuerySet[Any]
    column: str
    run: str

    def pointed_to(self, runs: Sequence[int]) -> set[int]:
        """Return the texts that rows of some runs point to."""
        mine = self.rows.filter(**{f"{self.run}__in": runs, f"{self.column}__isnull": False})
        return set(mine.values_list(self.column, flat=True))


TEXTS = (
    _Texts(Escalation.objects.all(), "asked", "run"),
    _Texts(Resolution.objects.all(), "content", "escalation__run"),
    _Texts(Comment.objects.all(), "content", "escalation__run"),
    _Texts(Draft.objects.all(), "content", "escalation__run"),
    _Texts(Delivery.objects.all(), "content", "run"),
    _Texts(Job.objects.all(), "request", "run"),
    _Texts(Job.objects.all(), "answer", "run"),
    _Texts(JobTask.objects.all(), "answer", "job__run"),
    _Texts(JobStep.objects.all(), "reply", "job__run"),
    _Texts(JudgeVote.objects.all(), "critique", "job__run"),
    _Texts(MemoryEntry.objects.all(), "value", "job__run"),
)
"""All that point to `Content`."""


def _erase_texts(texts: Collection[int]) -> int:
    """Erase those texts that no other run's rows point to as well."""
    free = Content.objects.filter(pk__in=texts)
    for each in TEXTS:
        free = free.exclude(Exists(each.rows.filter(**{each.column: OuterRef("pk")})))
    return free.delete()[0]
