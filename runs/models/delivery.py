"""Webhooks: secrets that go out of use, and evidence of what came. Never what it said."""

from django.db import models

from runs.models.host import Host


class RetiringSecret(models.Model):
    """A webhook secret that was replaced and still verifies for a while.

    The one in force is the host's own `sealed_webhook_secret`.
    """

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="retiring_secrets")
    sealed = models.BinaryField()
    valid_until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.host} until {self.valid_until:%Y-%m-%d %H:%M}"


class ReceivedDelivery(models.Model):
    """One signed body that a host delivered, as often as it came.

    A replay inside the window of its signature, and a host's own retry, are the same body: they
    raise `times` and add no row.
    """

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="deliveries_received")
    body_sha256 = models.BinaryField(max_length=32)
    subscription_id = models.CharField(
        max_length=128, blank=True, default="", help_text="As the host calls it; not signed."
    )
    run_id = models.CharField(max_length=272, blank=True, default="")
    sequence = models.BigIntegerField(null=True)
    spelling = models.CharField(max_length=64, help_text="How the host signs.")
    outcome = models.CharField(
        max_length=64, help_text="accepted, duplicate, bell, or why its event was refused."
    )
    at = models.DateTimeField(help_text="When it first came.")
    last_at = models.DateTimeField(help_text="When it came again, or first.")
    times = models.IntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["host", "body_sha256"], name="a_delivered_body_is_kept_once"
            ),
        ]
        indexes = [
            models.Index(fields=["host", "-last_at"], name="deliveries_newest_of_host"),
            models.Index(fields=["last_at"], name="deliveries_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.host}: {self.outcome}"
