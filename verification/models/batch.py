"""Many escalations that one person moves at once, each answered for itself."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from verification.domain.many import Many
from verification.models.escalation import Escalation


class Batch(models.Model):
    """What a person chose to do to which escalations. Nothing happens before they say so."""

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    do = models.CharField(max_length=8, choices=[(m.value, m.value) for m in Many])
    to = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    made_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, help_text="Empty: only looked at so far.")
    ended_at = models.DateTimeField(null=True)

    objects: "models.Manager[Batch]" = models.Manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["started_at"],
                condition=Q(started_at__isnull=False, ended_at__isnull=True),
                name="batches_under_way",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.do} by {self.by}"


class BatchItem(models.Model):
    """One of many: not yet done, done, or refused with the reason."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="items")
    escalation = models.ForeignKey(Escalation, on_delete=models.CASCADE, related_name="+")
    done_at = models.DateTimeField(null=True)
    refused = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["batch", "escalation"], name="an_escalation_is_once_in_a_batch"
            ),
        ]
        indexes = [
            models.Index(
                fields=["batch", "id"], condition=Q(done_at__isnull=True), name="batch_items_to_do"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.escalation_id}: {self.refused or self.done_at or 'to do'}"
