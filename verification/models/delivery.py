"""The outbox: decisions on their way to hosts, as frozen bytes."""

from django.db import models

from runs.models import Host, Run
from verification.domain.delivery import Door, State
from verification.models.content import Content
from verification.models.escalation import Escalation, Resolution
from verification.models.review import Comment, Vote


class Delivery(models.Model):
    """One decision that a host must learn of, exactly as decided.

    Every attempt sends the same bytes with the same idempotency key. `fence` rises with every
    attempt, so that a worker that was thought dead cannot record an outdated outcome.
    """

    escalation = models.ForeignKey(Escalation, on_delete=models.CASCADE, related_name="deliveries")
    resolution = models.OneToOneField(
        Resolution, null=True, on_delete=models.CASCADE, related_name="delivery"
    )
    comment = models.OneToOneField(
        Comment, null=True, on_delete=models.CASCADE, related_name="delivery",
        help_text="A turn that leaves the pause open.",
    )  # fmt: skip
    vote = models.OneToOneField(
        Vote, null=True, on_delete=models.CASCADE, related_name="delivery",
        help_text="One of several that the host's own quorum asks for.",
    )  # fmt: skip
    door = models.CharField(
        max_length=16, choices=[(d.value, d.value) for d in Door], default=Door.INTERRUPT.value
    )
    after_sequence = models.BigIntegerField(
        default=-1, help_text="The host's last line before it: what proves a turn comes later."
    )
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="deliveries")
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="deliveries")
    node_id = models.CharField(max_length=256)
    idempotency_key = models.CharField(max_length=64, unique=True)
    content = models.ForeignKey(Content, on_delete=models.PROTECT, related_name="+")
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(
        null=True, help_text="When a person had it sent again; the seven days start anew."
    )

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
    missed_at = models.DateTimeField(null=True, help_text="When people were told of no effect.")

    class Meta:
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=models.Q(next_attempt_at__isnull=False),
                name="deliveries_due",
            ),
            models.Index(fields=["run", "created_at", "id"], name="deliveries_in_order"),
            models.Index(fields=["state"], name="deliveries_by_state"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(resolution=None)
                | (models.Q(comment=None) & models.Q(vote=None)),
                name="a_delivery_says_one_thing",
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


class HostRest(models.Model):
    """What is remembered of a host that fails: how often in a row, and until when it rests."""

    host = models.OneToOneField(Host, primary_key=True, on_delete=models.CASCADE, related_name="+")
    failures = models.IntegerField(default=0)
    rests_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.host}: {self.failures} in a row"


class ReviewWebhook(models.Model):
    """Where a host without interrupts is told of decisions, signed."""

    host = models.OneToOneField(
        Host, primary_key=True, on_delete=models.CASCADE, related_name="review_webhook"
    )
    url = models.URLField(max_length=512)
    sealed_secret = models.BinaryField()

    def __str__(self) -> str:
        return self.url
