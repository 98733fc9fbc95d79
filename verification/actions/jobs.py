"""What people and keys do with jobs: start one, cancel one.

Nothing is called here. A job that is started is a row and a run; workers take it from there.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from runs.models import Host, Run, Workspace
from verification import bells, endpoints
from verification.actions.audit import record
from verification.actions.content import keep
from verification.actions.job_runs import console_host, tell_start
from verification.domain.capabilities import advertised
from verification.domain.consensus.history import Usage
from verification.domain.errors import VerificationError
from verification.domain.index import index
from verification.domain.jobs.agreed import agreed_quorum, shape_of, team_shape_of
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.request import JobRequest
from verification.domain.jobs.requests import AnyRequest
from verification.domain.jobs.states import JobState
from verification.domain.jobs.team_request import TeamRequest
from verification.domain.subjects import SubjectKind, resolve
from verification.models import Job, JobStep
from verification.premises import premises


class RunEnded(VerificationError):
    """The run that a verdict is asked for has ended, so it could change nothing there."""

    def __init__(self) -> None:
        super().__init__("That run has ended; a verdict could change nothing there.")


class DayIsSpent(VerificationError):
    """The workspace has spent its tokens for today."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"This workspace has spent its {limit} tokens for today.")


class KeyReused(VerificationError):
    """The idempotency key was used for another request."""

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was used for another request.")


class TargetUnknown(VerificationError):
    """The run holds nothing that the target could name."""

    def __init__(self) -> None:
        super().__init__("That run holds nothing of this id.")


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks for a job."""

    name: str
    """`person:7`, `key:ab12`, `system:demo`."""
    workspace: Workspace
    host: Host | None = None
    """The host whose key it is; its keys see the job."""


@dataclass(frozen=True, slots=True)
class Started:
    """A job, and whether this request made it."""

    job: Job
    is_new: bool


@transaction.atomic
def start(
    *,
    request: AnyRequest,
    asker: Asker,
    about: Run | None = None,
    idempotency_key: str = "",
    now: datetime | None = None,
) -> Started:
    """Start a job, or return the one that the same key has started.

    Args:
        request: what is asked for.
        asker: on whose behalf, and in which workspace.
        about: the run of `request.run_id`, visible to the asker.
        idempotency_key: of the caller; empty: none.
        now: our clock; tests give it.

    Raises:
        JobRefused, RunEnded, TargetUnknown, DayIsSpent, KeyReused.
    """
    now = now or timezone.now()
    body = orjson.dumps(request.document, option=orjson.OPT_SORT_KEYS)
    Workspace.objects.select_for_update().get(pk=asker.workspace.pk)
    earlier = _earlier(asker, idempotency_key)
    content = keep(workspace=asker.workspace.pk, kind="job.request", body=body)
    if earlier is not None:
        content.delete()
        if earlier.request_sha256 != content.sha256:
            raise KeyReused
        return Started(earlier, is_new=False)
    shape = _agreed(request, about, now)
    _check_day(asker.workspace, now)
    uid = uuid.uuid4()
    run = tell_start(
        host=console_host(asker.workspace),
        run_id=str(uid),
        operation=request.operation.value,
        asked_by=asker.name,
        now=now,
    )
    job = Job.objects.create(
        uid=uid,
        workspace=asker.workspace,
        run=run,
        operation=request.operation,
        asked_by=asker.name,
        asked_by_host=asker.host,
        about_run=about,
        about_target=request.target if isinstance(request, JobRequest) else "",
        request=content,
        request_sha256=content.sha256,
        shape=shape,
        idempotency_key=idempotency_key,
        max_tokens=request.max_tokens,
        max_cost_usd=request.max_cost if isinstance(request, TeamRequest) else None,
        created_at=now,
        deadline_at=now + timedelta(seconds=settings.JOB_DEADLINE_S),
        rung_at=now,
    )
    bells.ring(bells.RUN_JOB, job.pk)
    _audit(job, "job.started", asker.name)
    return Started(job, is_new=True)


def _earlier(asker: Asker, key: str) -> Job | None:
    if not key:
        return None
    return Job.objects.filter(
        workspace=asker.workspace, asked_by=asker.name, idempotency_key=key
    ).first()


def _agreed(request: AnyRequest, about: Run | None, now: datetime) -> dict[str, Any]:
    """Return the job's shape; what needs more than the request itself is checked here."""
    known = set(endpoints.catalogue())
    for model, pointer in request.models:
        if model not in known:
            raise JobRefused("unknown_model", pointer, "No such model is set up here.")
    if isinstance(request, TeamRequest):
        _check_prices(request)
        at_once = min(request.at_once or settings.TASKS_AT_ONCE, settings.TASKS_AT_ONCE)
        return team_shape_of(request, at_once)
    is_gating = about is not None and _check_target(request, about, now)
    return shape_of(request, agreed_quorum(request, is_gating=is_gating))


def _check_prices(request: TeamRequest) -> None:
    """Pass when a budget of dollars can be kept: every model that is called has a price."""
    if request.max_cost is None:
        return
    prices = endpoints.PriceList()
    for model, pointer in request.models:
        if prices.price_of(model, Usage(1, 1)) is None:
            raise JobRefused(
                "no_price", pointer, "No price is known for this model, so no cost can be capped."
            )


def _check_target(request: JobRequest, about: Run, now: datetime) -> bool:
    """Say whether a verdict on the target binds its host."""
    if about.is_terminal:
        raise RunEnded
    known = premises(about, now)
    subject = resolve(index(known.lines), request.target, frozenset())
    if subject.kind is SubjectKind.NOT_FOUND:
        raise TargetUnknown
    for place, judge in enumerate(request.judges):
        if judge.name == subject.actor:
            raise JobRefused(
                "judge_is_actor",
                f"/judges/{place}/name",
                "Nobody judges what they wrote themselves.",
            )
    newest = max(known.capabilities, key=lambda span: span.valid_from, default=None)
    return newest is not None and advertised(newest.document).gates


def _check_day(workspace: Workspace, now: datetime) -> None:
    limit = settings.DAILY_TOKENS
    if not limit:
        return
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    steps = JobStep.objects.filter(job__workspace=workspace, started_at__gte=today)
    columns = ("input_tokens", "output_tokens", "lost_tokens", "reserved_tokens")
    sums: Mapping[str, Any] = steps.aggregate(**{name: Sum(F(name)) for name in columns})
    if sum(each or 0 for each in sums.values()) >= limit:
        raise DayIsSpent(limit)


@transaction.atomic
def cancel(*, job: int, by: str, now: datetime | None = None) -> Job:
    """Ask that a job be stopped; a call under way is called off. Ended jobs stay as they are."""
    found = Job.objects.select_for_update().get(pk=job)
    if found.has_ended or found.cancel_asked_at is not None:
        return found
    found.cancel_asked_at, found.cancel_asked_by = now or timezone.now(), by
    found.save(update_fields=["cancel_asked_at", "cancel_asked_by"])
    if found.state == JobState.QUEUED or found.lease_until is None:
        bells.ring(bells.RUN_JOB, found.pk)
    _audit(found, "job.cancelled", by)
    return found


def _audit(job: Job, action: str, actor: str) -> None:
    record(
        workspace=job.workspace_id,
        actor=actor,
        action=action,
        subject=f"job:{job.uid}",
        detail={"request": job.request_sha256},
    )
