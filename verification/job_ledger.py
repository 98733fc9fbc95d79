"""Reads a job's ledger back: the rules it agreed on and the history they are applied to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.domain.consensus.history import AbortRequested, Phase, Reply, Usage
from verification.domain.consensus.rules import ConsensusRules
from verification.domain.errors import VerificationError
from verification.domain.jobs.agreed import rules_of
from verification.domain.jobs.request import JobRequest, read_request
from verification.domain.jobs.spending import Spent
from verification.domain.jobs.states import SETTLED
from verification.domain.jobs.words import failure_of
from verification.models import Content, Job, JobStep

Entry = Reply | AbortRequested


class ContentGone(VerificationError):
    """What a job needs to go on has been erased."""

    def __init__(self, job: int) -> None:
        self.job = job
        super().__init__("The content of this job is gone.")


@dataclass(frozen=True, slots=True)
class Ledger:
    """A job as its rows tell it."""

    job: Job
    request: JobRequest
    rules: ConsensusRules
    steps: Sequence[JobStep]

    @property
    def history(self) -> list[Entry]:
        """Return the replies in order, with the stop where it came. Raises ContentGone."""
        history: list[Entry] = [_reply(step) for step in self.steps if step.state in SETTLED]
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
            Spent(step.input_tokens + step.output_tokens, step.lost_tokens, step.reserved_tokens)
            for step in self.steps
        ]

    def step_at(self, position: int) -> JobStep | None:
        """Return the row of a call, if it was begun."""
        return next((step for step in self.steps if step.position == position), None)


def load(job: Job) -> Ledger:
    """Return a job's ledger. Raises ContentGone."""
    steps = list(JobStep.objects.filter(job=job).select_related("reply").order_by("position"))
    request = read_request(document_of(job))
    rules = rules_of(
        request,
        quorum=job.shape["quorum"],
        max_tokens=job.max_tokens,
        secret=bytes(job.nonce_secret),
        run_id=str(job.uid),
    )
    return Ledger(job, request, rules, steps)


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
        usage=Usage(step.input_tokens, step.output_tokens),
        failure=None if step.failure is None else failure_of(step.failure),
    )


def text_of(content: Content | None, job: int) -> str:
    """Return the text of some content. Raises ContentGone."""
    if content is None or content.erased_at is not None:
        raise ContentGone(job)
    return bytes(content.body).decode("utf-8", "surrogatepass")
