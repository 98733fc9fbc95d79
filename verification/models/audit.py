"""Who did what, in a chain that shows when a row was changed or taken out."""

from typing import Any

from django.db import models

from runs.models import Workspace


class AuditEntry(models.Model):
    """One mutation by a person, key or worker. `hash` covers the entry and the hash before it."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="audit")
    seq = models.BigIntegerField()
    at = models.DateTimeField()
    actor = models.CharField(max_length=160, help_text="person:7, key:ab12, system:timeout")
    action = models.CharField(max_length=64)
    subject = models.CharField(max_length=300)
    detail: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "seq"], name="audit_entries_are_numbered_without_repeats"
            ),
        ]
        indexes = [models.Index(fields=["workspace", "subject"], name="audit_of_a_subject")]

    def __str__(self) -> str:
        return f"{self.seq}: {self.action}"


class Checkpoint(models.Model):
    """A signed head of a chain: kept elsewhere, it shows that later entries were cut off."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="checkpoints")
    seq = models.BigIntegerField(help_text="Of the last entry that it covers.")
    at = models.DateTimeField()
    document: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "seq"], name="one_checkpoint_per_head"),
        ]

    def __str__(self) -> str:
        return f"{self.workspace} up to {self.seq}"
