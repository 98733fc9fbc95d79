"""How a host's connection was tried last, and what it subscribed us to."""

from typing import Any

from django.db import models

from runs.models.host import Host


class ConnectionTest(models.Model):
    """The latest test of a host's connection. `run_id` is new with every test: it is the fence."""

    host = models.OneToOneField(
        Host, on_delete=models.CASCADE, primary_key=True, related_name="connection_test"
    )
    run_id = models.CharField(
        max_length=272, unique=True, help_text="Canary events carry it; no run ever has it."
    )
    asked_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    lines: "models.JSONField[list[dict[str, Any]], list[dict[str, Any]]]" = models.JSONField(
        default=list, help_text="What was tried: name, state, words and fix; no content."
    )
    heard_at = models.DateTimeField(
        null=True, help_text="When the host itself sent the canary; empty: it did not."
    )

    def __str__(self) -> str:
        return f"{self.host} at {self.asked_at:%Y-%m-%d %H:%M}"


class WebhookSubscription(models.Model):
    """A subscription that the Console made at a host, so that it delivers its events here."""

    host = models.OneToOneField(
        Host, on_delete=models.CASCADE, primary_key=True, related_name="webhook_subscription"
    )
    webhook_id = models.CharField(max_length=272, help_text="The host's name for it.")
    url = models.CharField(max_length=512, help_text="Where the host was told to deliver.")
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.host}: {self.webhook_id}"
