"""Consensus jobs: what was asked, the ledger of calls, and what came of it.

Nothing here is content. Questions, answers, critiques and prompts are rows of `Content`; these
tables point to them, so that retention can remove the words and leave the record.
"""

import secrets
import uuid
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from runs.models import Host, Run, Viewer, Workspace
from runs.models.viewer import seen_by
from verification.domain.consensus.history import Phase
from verification.domain.consensus.queue import TaskStatus
from verification.domain.consensus.result import Basis, GateVerdict
from verification.domain.jobs.states import (
    UNFINISHED,
    JobBasis,
    JobState,
    Operation,
    StepState,
    Stop,
)
from verification.models.content import Content


def new_secret() -> bytes:
    """Return what a job's nonces are derived from."""
    return secrets.token_bytes(32)


def _choices(words: Any) -> list[tuple[str, str]]:
    return [(each.value, each.value) for each in words]


class ConsoleHost(models.Model):
    """The built-in host of a workspace: the one whose runs are the Console's own jobs."""

    workspace = models.OneToOneField(
        Workspace, primary_key=True, on_delete=models.CASCADE, related_name="console_host"
    )
    host = models.OneToOneField(Host, on_delete=models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return str(self.host)


class JobQuerySet(models.QuerySet["Job"]):
    """Jobs, narrowed down."""

    def visible_to(self, viewer: Viewer) -> "JobQuerySet":
        """Keep the jobs that the viewer may know of: a host's keys see what the host asked for."""
        return self.filter(seen_by(viewer, workspace="workspace_id", host="asked_by_host_id"))

    def whose_plan_waits(self) -> "JobQuerySet":
        """Keep the jobs that go on only when a person has decided on their plan."""
        asked = JobStep.objects.filter(phase=Phase.APPROVAL, state=StepState.WAITING)
        going = self.filter(state__in=UNFINISHED, paused_at__isnull=False)
        return going.filter(pk__in=asked.values("job"))


class Job(models.Model):
    """One job. Who works on it holds a lease; an older lease than the newest writes nothing."""

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="jobs")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="job")
    operation = models.CharField(max_length=16, choices=_choices(Operation))
    asked_by = models.CharField(max_length=160, help_text="person:7, key:ab12, system:demo")
    asked_by_host = models.ForeignKey(
        Host, null=True, on_delete=models.CASCADE, related_name="jobs_asked"
    )
    about_run = models.ForeignKey(
        Run, null=True, on_delete=models.SET_NULL, related_name="jobs_about"
    )
    about_target = models.CharField(max_length=256, blank=True, default="")
    request = models.ForeignKey(Content, null=True, on_delete=models.SET_NULL, related_name="+")
    request_sha256 = models.CharField(max_length=64)
    shape: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(
        default=dict, help_text="Names, models, quorum, rounds: what was agreed, without content."
    )
    idempotency_key = models.CharField(max_length=128, blank=True, default="")
    nonce_secret = models.BinaryField(default=new_secret, editable=False)
    max_tokens = models.IntegerField(null=True, help_text="Budget; empty: none.")
    max_cost_usd = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, help_text="Budget; empty: none."
    )
    created_at = models.DateTimeField()
    deadline_at = models.DateTimeField()

    state = models.CharField(
        max_length=8, choices=_choices(JobState), default=JobState.QUEUED.value
    )
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    rung_at = models.DateTimeField(null=True, help_text="When a worker was last asked to look.")
    fence = models.IntegerField(default=0)
    fruitless = models.IntegerField(default=0, help_text="Leases since anything was recorded.")
    paused_at = models.DateTimeField(
        null=True, help_text="Since when nothing but a person's word is waited for."
    )
    cancel_asked_at = models.DateTimeField(null=True)
    cancel_asked_by = models.CharField(max_length=160, blank=True, default="")
    stop = models.CharField(max_length=16, blank=True, default="", choices=_choices(Stop))
    stopped_before = models.IntegerField(
        null=True, help_text="Replies from this position on came after the stop."
    )
    events_emitted = models.IntegerField(default=0)
    decided_event = models.CharField(max_length=160, blank=True, default="")
    export_at = models.DateTimeField(
        null=True,
        help_text="When its spans are due at the collector; empty: never, or they are there.",
    )

    basis = models.CharField(max_length=16, blank=True, default="", choices=_choices(JobBasis))
    verdict = models.CharField(max_length=8, blank=True, default="", choices=_choices(GateVerdict))
    iterations = models.IntegerField(
        default=0, help_text="Times the job has said which tasks come next, or that it ends."
    )
    broken_because = models.CharField(max_length=32, blank=True, default="")
    rounds = models.IntegerField(default=0)
    answer = models.ForeignKey(Content, null=True, on_delete=models.SET_NULL, related_name="+")
    answer_sha256 = models.CharField(max_length=64, blank=True, default="")

    objects = JobQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "asked_by", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="an_idempotency_key_asks_for_one_job",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["done", "broken"], ended_at__isnull=False)
                | (~Q(state__in=["done", "broken"]) & Q(ended_at=None, verdict="")),
                name="a_job_has_a_verdict_only_once_it_has_ended",
            ),
            models.CheckConstraint(
                condition=~Q(verdict="pass") | Q(state="done", basis__in=["quorum", "overridden"]),
                name="only_a_quorum_or_a_person_passes",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="jobs_newest"),
            models.Index(
                fields=["lease_until"],
                condition=Q(state__in=["queued", "running"]),
                name="jobs_unfinished",
            ),
            models.Index(fields=["state"], name="jobs_by_state"),
            models.Index(
                fields=["export_at"],
                condition=Q(export_at__isnull=False),
                name="jobs_to_export",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.uid}"

    @property
    def has_ended(self) -> bool:
        """True once nothing will happen any more."""
        return self.state in (JobState.DONE, JobState.BROKEN)


class JobTask(models.Model):
    """One task of a job: how far it is, and the lease of whoever works on it.

    Titles and descriptions are content, so they are read from what was asked for, or planned.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="tasks")
    number = models.IntegerField(help_text="Counts from 1; task 3 is `task-3`.")
    run = models.OneToOneField(
        Run, null=True, on_delete=models.CASCADE, related_name="job_task", help_text="Of its own."
    )
    assignee = models.CharField(max_length=128, blank=True, default="")
    status = models.CharField(
        max_length=12, choices=_choices(TaskStatus), default=TaskStatus.PENDING.value
    )
    verdict = models.CharField(max_length=8, blank=True, default="", choices=_choices(GateVerdict))
    basis = models.CharField(max_length=16, blank=True, default="", choices=_choices(Basis))
    rounds = models.IntegerField(default=0)
    is_withheld = models.BooleanField(default=False)
    is_let_through = models.BooleanField(default=False)
    answer = models.ForeignKey(Content, null=True, on_delete=models.SET_NULL, related_name="+")
    answer_sha256 = models.CharField(max_length=64, blank=True, default="")
    decided_event = models.CharField(max_length=160, blank=True, default="")
    events_emitted = models.IntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    lease_until = models.DateTimeField(null=True)
    rung_at = models.DateTimeField(null=True, help_text="When a worker was last asked to look.")
    fence = models.IntegerField(default=0)
    fruitless = models.IntegerField(default=0, help_text="Leases since anything was recorded.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="a_task_has_its_own_number"),
        ]
        indexes = [
            models.Index(
                fields=["lease_until"],
                condition=Q(lease_until__isnull=False),
                name="tasks_under_way",
            ),
            models.Index(fields=["assignee"], name="tasks_by_assignee"),
        ]

    def __str__(self) -> str:
        return f"task-{self.number} of {self.job_id}"


class JobStep(models.Model):
    """One call to a model, or what stands for one: written before it is made and again after.

    What is reserved is what the call under way may cost at most; what is lost, what calls may have
    cost whose worker was killed before it could record them.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="steps")
    position = models.IntegerField()
    agent = models.CharField(max_length=128)
    model = models.CharField(max_length=160, blank=True, default="")
    phase = models.CharField(max_length=16, choices=_choices(Phase))
    round = models.IntegerField(null=True)
    task = models.CharField(max_length=128, blank=True, default="")
    state = models.CharField(max_length=12, choices=_choices(StepState))
    fence = models.IntegerField()
    attempts = models.IntegerField(default=0, help_text="Calls begun.")
    failed_attempts = models.IntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    reserved_tokens = models.IntegerField(default=0)
    lost_tokens = models.IntegerField(default=0)
    reserved_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    lost_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    input_tokens = models.IntegerField(default=0)
    output_tokens = models.IntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    reply = models.ForeignKey(Content, null=True, on_delete=models.SET_NULL, related_name="+")
    failure: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    settled_as = models.IntegerField(
        null=True, help_text="Counts the job's calls from 0 in the order in which they ended."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "position"], name="a_step_is_taken_once"),
            models.UniqueConstraint(fields=["job", "settled_as"], name="a_step_ends_once"),
        ]

    def __str__(self) -> str:
        return f"{self.position}: {self.phase} by {self.agent}"


class JudgeVote(models.Model):
    """One judge's verdict in one round; the critique is content."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="votes")
    task = models.CharField(max_length=128, blank=True, default="")
    round = models.IntegerField()
    judge = models.CharField(max_length=128)
    accepted = models.BooleanField()
    call_failed = models.BooleanField(default=False)
    criteria = ArrayField(models.CharField(max_length=64), default=list)
    critique = models.ForeignKey(Content, null=True, on_delete=models.SET_NULL, related_name="+")
    step = models.OneToOneField(JobStep, on_delete=models.CASCADE, related_name="vote")
    fence = models.IntegerField(help_text="Of the lease under which it was recorded.")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["job", "task", "round", "judge"], name="a_judge_votes_once_a_round"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge}, round {self.round}: {'accept' if self.accepted else 'dissent'}"


class Span(models.Model):
    """A piece of a job's work, timed; names and attributes as open-multi-agent's schema v2."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="spans")
    number = models.IntegerField()
    parent = models.IntegerField(null=True)
    kind = models.CharField(max_length=16)
    name = models.CharField(max_length=64)
    attributes: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    events: "models.JSONField[list[Any], list[Any]]" = models.JSONField(default=list)
    status = models.CharField(max_length=20, blank=True, default="")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="a_span_has_its_own_number"),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.name}"


class MemoryEntry(models.Model):
    """One write to a job's shared memory, under the namespace of the agent it is about."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="memory")
    number = models.IntegerField()
    namespace = models.CharField(max_length=128)
    key = models.CharField(max_length=200)
    value = models.ForeignKey(Content, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="memory_keeps_its_order"),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.key}"


class CataloguedModel(models.Model):
    """A model that jobs may name, added by an administrator; settings add others."""

    name = models.CharField(
        max_length=160, unique=True, help_text="What jobs call it, such as local:qwen3."
    )
    provider = models.CharField(
        max_length=16,
        choices=[
            ("openai", "OpenAI"),
            ("anthropic", "Anthropic"),
            ("compatible", "OpenAI-compatible server"),
        ],
    )
    model = models.CharField(max_length=160, help_text="The provider's own name of it.")
    base_url = models.URLField(
        max_length=512, blank=True, default="", help_text="Empty: the provider's own address."
    )
    sealed_key = models.BinaryField(default=b"", editable=False)
    has_schemas = models.BooleanField(
        default=True, help_text="It takes a JSON Schema for its replies."
    )
    is_enabled = models.BooleanField(default=True)
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    def __str__(self) -> str:
        return self.name
