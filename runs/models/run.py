"""A run and what its log adds up to."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from runs.domain.projection import Outcome, RunStatus
from runs.models.host import Host
from runs.models.viewer import Viewer, seen_by
from runs.models.workspace import Workspace


class RunQuerySet(models.QuerySet["Run"]):
    """Runs, narrowed down."""

    def visible_to(self, viewer: Viewer) -> "RunQuerySet":
        """Keep the runs that the viewer may know of."""
        return self.filter(seen_by(viewer, workspace="workspace_id", host="host_id"))

    def quiet_tasks(self) -> "RunQuerySet":
        """Keep the runs of single tasks of the Console's own jobs that ask for no attention.

        Their job's run says what became of them.
        """
        return self.filter(_quiet_task())

    def without_quiet_tasks(self) -> "RunQuerySet":
        """Leave those out."""
        return self.exclude(_quiet_task())


def _quiet_task() -> models.Q:
    own = Host.objects.filter(is_own=True).values("pk")
    asks_nothing = models.Q(held=False, worst_finding="", open_escalations=0)
    return models.Q(host__in=own, parent_run_id__gt="") & asks_nothing


class Run(models.Model):
    """One execution on a host.

    Everything below `status` is derived: the fold of the events we hold, in sequence order, and the
    stamp that judgements leave here so that a list of runs is one query on one table.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="runs")
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="runs")
    run_id = models.CharField(max_length=272, help_text="The host's id of the run.")
    first_seen_at = models.DateTimeField(auto_now_add=True)

    last_position = models.BigIntegerField(default=0, help_text="Position of the newest line.")
    event_count = models.BigIntegerField(default=0, help_text="Host events held.")
    first_sequence = models.BigIntegerField(null=True)
    last_sequence = models.BigIntegerField(null=True)
    starts_at_one = models.BooleanField(
        default=False, help_text="Its `run.started` has sequence 1: nothing is missing before it."
    )
    last_event_at = models.DateTimeField(null=True, help_text="When the newest event reached us.")
    marked_lines = models.IntegerField(
        default=0, help_text="Console lines that say something was refused or conflicted."
    )

    status = models.CharField(
        max_length=32, choices=[(s.value, s.value) for s in RunStatus], default=RunStatus.PENDING
    )
    outcome = models.CharField(
        max_length=16, choices=[(o.value, o.value) for o in Outcome], blank=True, default=""
    )
    is_terminal = models.BooleanField(default=False)
    workflow_id = models.CharField(max_length=272, blank=True, default="")
    parent_run_id = models.CharField(max_length=272, blank=True, default="")
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    held = models.BooleanField(
        default=False, help_text="Something unreadable could have been a fail."
    )
    hold_reasons = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    standing = models.CharField(
        max_length=24, blank=True, default="", help_text="State of the run's worst gate."
    )
    verdict_strip = ArrayField(
        models.CharField(max_length=8), default=list, blank=True, help_text="Last five verdicts."
    )
    open_escalations = models.IntegerField(default=0)
    worst_finding = models.CharField(max_length=16, blank=True, default="")

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["host", "run_id"], name="a_run_is_one_run_of_one_host"),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "-last_event_at", "-id"], name="runs_newest_of_workspace"
            ),
            models.Index(fields=["host", "-last_event_at", "-id"], name="runs_newest_of_host"),
            models.Index(
                fields=["workspace", "status", "-last_event_at", "-id"], name="runs_by_status"
            ),
            models.Index(
                fields=["last_event_at"],
                condition=models.Q(is_terminal=False),
                name="runs_that_go_on",
            ),
            models.Index(fields=["id"], condition=models.Q(held=True), name="runs_held"),
        ]

    def __str__(self) -> str:
        return self.run_id

    @property
    def is_paused_job(self) -> bool:
        """Say whether it is a job of the Console's own that goes on when a person has decided."""
        return self.status == RunStatus.PAUSED and self.host.is_own

    @property
    def may_miss_events(self) -> bool:
        """Say whether sequences may be missing, by the counts: where not, there are no gaps."""
        first, last = self.first_sequence, self.last_sequence
        return (
            first is not None
            and last is not None
            and (first > 0 or self.event_count != last - first + 1)
        )
