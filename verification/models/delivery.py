"""The outbox: decisions on their way to hosts, as frozen bytes."""

from django.db import models

from runs.models import Host, Run
from verification.domain.delivery import State
from verification.models.content import Content
from verification.models.escalation import Resolution


class Delivery(models.Model):
    """One decision that a host must learn of, exactly as decided.

    Every attempt sends the same bytes with the same idempotency key. `fence` rises with every
    attempt, so that a worker that was thought dead cannot record an outdated outcome.
    """

    resolution = models.OneToOneField(Resolution, on_delete=models.CASCADE, related_name="delivery")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="deliveries")
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="deliveries")
    node_id = models.CharField(max_length=256)
    idempotency_key = models.CharField(max_length=64, unique=True)
    content = models.ForeignKey(Content, on_delete=models.PROTECT, related_name="+")
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    state = models.CharField(max_length=16, choices=[(s.value, s.value) for s in State])
    attempts = models.IntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    fence = models.IntegerField(default=0)
    words = models.CharField(max_length=300, blank=True, default="", help_text="Where it stands.")
    last_status = models.IntegerField(null=True)
    delivered_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)
    effect_position = models.BigIntegerField(
        null=True, help_text="The host's own line that proves the decision took effect."
    )
    effect_kind = models.CharField(max_length=16, blank=True, default="")
    effect_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=models.Q(next_attempt_at__isnull=False),
                name="deliveries_due",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.idempotency_key}: {self.state}"


class Attempt(models.Model):
    """One try to deliver, and how it ended."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="tries")
    number = models.IntegerField()
    at = models.DateTimeField()
    status = models.IntegerField(null=True, help_text="HTTP status; empty: no answer.")
    outcome = models.CharField(max_length=64)
    ms = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["delivery", "number"], name="a_try_has_its_own_number"),
        ]

    def __str__(self) -> str:
        return f"try {self.number}: {self.outcome}"
