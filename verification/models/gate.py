"""What critics said, what that allows, and what a host did about it.

All three tables are derived: a run's rows are replaced whenever its log, its host's capabilities or
a person's decision changes what follows from them.
"""

from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models

from runs.models import CapabilitySnapshot, Host, Run, Viewer
from runs.models.viewer import seen_by


class OfRunQuerySet(models.QuerySet[Any]):
    """Rows that belong to a run and are seen by whoever sees it."""

    def visible_to(self, viewer: Viewer) -> Self:
        """Keep the rows whose run the viewer may know of."""
        return self.filter(seen_by(viewer, workspace="run__workspace_id", host="run__host_id"))


class Verdict(models.Model):
    """One `agent.verified` of a run's log."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="verdicts")
    event_id = models.CharField(max_length=160)
    position = models.BigIntegerField()
    sequence = models.BigIntegerField()
    target = models.CharField(max_length=256)
    verifier = models.CharField(max_length=256)
    verdict = models.CharField(max_length=8)
    criteria = ArrayField(models.CharField(max_length=64), default=list)
    confidence = models.FloatField(null=True)
    standing = models.BooleanField(help_text="The verifier's latest word on this target.")
    subject_position = models.BigIntegerField(
        null=True, help_text="The line that the target names, if it is held."
    )

    objects = OfRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "event_id"], name="a_verdict_is_one_event"),
        ]
        indexes = [
            models.Index(fields=["run", "target", "sequence"], name="verdicts_of_a_target"),
            models.Index(fields=["verifier"], name="verdicts_by_verifier"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} on {self.target}"


class Gate(models.Model):
    """What the standing verdicts on one target allow."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="gates")
    target = models.CharField(max_length=256)
    state = models.CharField(max_length=24)
    binding = models.CharField(max_length=16)
    subject_kind = models.CharField(max_length=24)
    subject_event_id = models.CharField(max_length=160, blank=True, default="")
    subject_position = models.BigIntegerField(null=True)
    actor = models.CharField(max_length=256, blank=True, default="")
    independence = models.CharField(max_length=24, help_text="independent, self_verified, unknown")
    detail: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(
        default=dict, help_text="Turns used, candidates, sentence, what would change it."
    )

    objects = OfRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "target"], name="a_target_has_one_gate"),
        ]
        indexes = [
            models.Index(fields=["target"], name="gates_by_target"),
            models.Index(fields=["actor"], name="gates_by_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.target}: {self.state}"


class Finding(models.Model):
    """Something the Console noticed about a host's behaviour. Withdrawn, never deleted."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="findings")
    kind = models.CharField(max_length=32)
    target = models.CharField(max_length=256, blank=True, default="")
    severity = models.CharField(max_length=16)
    status = models.CharField(max_length=16, default="standing", help_text="standing, withdrawn")
    evidence: "models.JSONField[list[Any], list[Any]]" = models.JSONField(default=list)
    missing: "models.JSONField[list[Any], list[Any]]" = models.JSONField(default=list)
    capabilities: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    explanation = models.TextField()
    would_change = models.TextField(blank=True, default="")
    opened_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_because = models.TextField(blank=True, default="")

    objects = OfRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "kind", "target"], name="a_finding_is_made_once_per_target"
            ),
        ]
        indexes = [
            models.Index(fields=["kind", "status", "-opened_at"], name="findings_by_kind"),
            models.Index(fields=["status", "-opened_at", "-id"], name="findings_newest"),
            models.Index(
                fields=["severity"],
                condition=models.Q(status="standing"),
                name="findings_standing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.severity})"


class Judgement(models.Model):
    """What a run was last judged with, and the results that it committed.

    One row per judged run. `snapshot` makes it a ledger: where the host has advertised something
    newer since, the run is judged again, however the news of it was lost.
    """

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE)
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="+")
    snapshot = models.ForeignKey(
        CapabilitySnapshot, null=True, on_delete=models.SET_NULL, related_name="+",
        help_text="The newest that the host had when it was judged.",
    )  # fmt: skip
    commits = models.IntegerField(default=0)
    unverified = models.IntegerField(default=0, help_text="Commits without a verdict before them.")
    unverified_targets = ArrayField(
        models.CharField(max_length=256), default=list, help_text="The first of them."
    )

    objects = OfRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(unverified__lte=models.F("commits")),
                name="no_more_commits_are_unverified_than_there_are",
            ),
        ]
        indexes = [
            models.Index(fields=["host", "snapshot"], name="judgements_by_snapshot"),
            models.Index(
                fields=["host", "-run"],
                condition=models.Q(unverified__gt=0),
                name="judgements_with_silence",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unverified} of {self.commits} commits unverified"


class Rejudging(models.Model):
    """How far the runs with findings were judged again since the rules are these. One row."""

    rules = models.CharField(max_length=64, blank=True, default="", help_text="Digest of them.")
    after_run = models.BigIntegerField(
        null=True, default=0, help_text="The last run that was judged again. Empty: all were."
    )

    def __str__(self) -> str:
        return f"{self.rules[:8]}: after run {self.after_run}"
