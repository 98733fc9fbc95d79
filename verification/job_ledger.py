"""Reads a job's ledger back: the rules it agreed on and the history they are applied to."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User

from verification.domain.consensus.budgets import Budgets, Purchase
from verification.domain.consensus.history import AbortRequested, Phase, Reply, Usage
from verification.domain.consensus.steps import Rules
from verification.domain.errors import VerificationError
from verification.domain.jobs.agreed import rules_of, team_rules_of
from verification.domain.jobs.request import JobRequest
from verification.domain.jobs.requests import AnyRequest, read_any
from verification.domain.jobs.spending import Spent
from verification.domain.jobs.states import SETTLED
from verification.domain.jobs.words import failure_of
from verification.models import AuditEntry, Content, Job, JobStep

Entry = Reply | AbortRequested
PLAN_APPROVED, PLAN_REFUSED = "job.plan_approved", "job.plan_refused"
"""Actions in the audit log."""


class ContentGone(VerificationError):
    """What a job needs to go on has been erased."""

    def __init__(self, job: int) -> None:
        self.job = job
        super().__init__("The content of this job is gone.")


@dataclass(frozen=True, slots=True)
class Ledger:
    """A job as its rows tell it."""

    job: Job
    request: AnyRequest
    rules: Rules
    steps: Sequence[JobStep]
    """In the order of their positions."""

    @property
    def history(self) -> list[Entry]:
        """Return the replies in order, with the stop where it came. Raises ContentGone."""
        settled = [step for step in self.steps if step.state in SETTLED]
        settled.sort(key=lambda step: step.settled_as or 0)
        history: list[Entry] = [_reply(step) for step in settled]
        if self.job.stopped_before is not None:
            history.insert(self.job.stopped_before, AbortRequested())
        return history

    @property
    def settled(self) -> int:
        """How many calls have come to an end."""
        return sum(step.state in SETTLED for step in self.steps)

    @property
    def spent(self) -> list[Spent]:
        """What every step has cost, or may have."""
        return [
            Spent(
                step.input_tokens + step.output_tokens,
                step.lost_tokens,
                step.reserved_tokens,
                (step.cost_usd or Decimal(0)) + step.lost_usd + step.reserved_usd,
            )
            for step in self.steps
        ]

    def step_at(self, position: int) -> JobStep | None:
        """Return the row of a call, if it was begun."""
        return next((step for step in self.steps if step.position == position), None)


@dataclass(frozen=True, slots=True)
class PlanResolution:
    """What a person decided about a team's plan."""

    is_approved: bool
    is_changed: bool
    by: str
    """Their name; of somebody who is gone, `person:7`."""
    at: datetime

    @property
    def word(self) -> str:
        """Return it in one word."""
        return "approved" if self.is_approved else "rejected"


def plan_resolution(job: Job) -> PlanResolution | None:
    """Return what was decided about a job's plan, as the audit log has it; None: nothing yet."""
    about = AuditEntry.objects.filter(workspace=job.workspace_id, subject=f"job:{job.uid}")
    entry = about.filter(action__in=(PLAN_APPROVED, PLAN_REFUSED)).first()
    if entry is None:
        return None
    kind, _, number = entry.actor.partition(":")
    person = User.objects.filter(pk=number).first() if kind == "person" else None
    return PlanResolution(
        is_approved=entry.action == PLAN_APPROVED,
        is_changed=bool(entry.detail.get("changed")),
        by=entry.actor if person is None else person.get_username(),
        at=entry.at,
    )


def load(job: Job) -> Ledger:
    """Return a job's ledger. Raises ContentGone."""
    steps = list(JobStep.objects.filter(job=job).select_related("reply").order_by("position"))
    request = read_any(document_of(job))
    return Ledger(job, request, _rules(job, request), steps)


def _rules(job: Job, request: AnyRequest) -> Rules:
    secret, run_id = bytes(job.nonce_secret), str(job.uid)
    if isinstance(request, JobRequest):
        return rules_of(
            request,
            quorum=job.shape["quorum"],
            max_tokens=job.max_tokens,
            secret=secret,
            run_id=run_id,
        )
    return team_rules_of(
        request,
        budgets=_budgets(job),
        at_once=job.shape["atOnce"],
        secret=secret,
        run_id=run_id,
    )


def _budgets(job: Job) -> Budgets:
    if job.max_cost_usd is None:
        return Budgets(job.max_tokens)
    return Budgets(job.max_tokens, float(job.max_cost_usd), _cost_then)


def _cost_then(purchase: Purchase) -> float:
    """Return what was paid: a price list of a later day would tell another story of the past."""
    return math.nan if purchase.usage.usd is None else float(purchase.usage.usd)


def document_of(job: Job) -> Mapping[str, Any]:
    """Return what was asked for. Raises ContentGone."""
    document: dict[str, Any] = json.loads(text_of(job.request, job.pk))
    return document


def _reply(step: JobStep) -> Reply:
    return Reply(
        position=step.position,
        agent=step.agent,
        phase=Phase(step.phase),
        text=text_of(step.reply, step.job_id) if step.failure is None else "",
        usage=Usage(step.input_tokens, step.output_tokens, _paid(step)),
        failure=None if step.failure is None else failure_of(step.failure),
    )


def _paid(step: JobStep) -> Decimal | None:
    """Return what a call cost when it was made. What asked no model is free."""
    return step.cost_usd if step.attempts else Decimal(0)


def text_of(content: Content | None, job: int) -> str:
    """Return the text of some content. Raises ContentGone."""
    if content is None or content.erased_at is not None:
        raise ContentGone(job)
    return bytes(content.body).decode("utf-8", "surrogatepass")
