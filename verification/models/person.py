"""What belongs to one person: tokens, how they are told of things, and what they were told."""

from django.conf import settings
from django.db import models

from runs.models import Workspace
from verification.domain.notifying import Mode, Note
from verification.models.delivery import Delivery
from verification.models.escalation import Escalation
from verification.models.job import Job


class PersonalToken(models.Model):
    """A secret with which a person's own programs act as that person. Only its hash is kept."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens"
    )
    name = models.CharField(max_length=64)
    token_id = models.CharField(max_length=32, unique=True, help_text="The readable part.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the secret part, in hex.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    objects: "models.Manager[PersonalToken]" = models.Manager()

    def __str__(self) -> str:
        return self.token_id


class Replay(models.Model):
    """One answer of the API to a request with an `Idempotency-Key`: given again, word for word."""

    caller = models.CharField(max_length=64, help_text="person:7")
    key = models.CharField(max_length=128)
    digest = models.CharField(max_length=64, help_text="SHA-256 over address and body.")
    status = models.IntegerField()
    answer: "models.JSONField[object, object]" = models.JSONField(help_text="Without content.")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["caller", "key"], name="a_key_stands_for_one_request"),
        ]

    def __str__(self) -> str:
        return f"{self.caller}: {self.status}"


class Wish(models.Model):
    """How one person wants to be told."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="wish"
    )
    mode = models.CharField(
        max_length=8, choices=[(m.value, m.value) for m in Mode], default=Mode.AT_ONCE.value
    )
    by_mail = models.BooleanField(default=False)
    webhook_url = models.URLField(max_length=512, blank=True, default="")
    webhook_form = models.CharField(
        max_length=8, choices=[("slack", "Slack"), ("plain", "Plain")], default="slack"
    )

    def __str__(self) -> str:
        return f"{self.user}: {self.mode}"


class Notification(models.Model):
    """One thing that one person is told: a line under the bell, and a timer for other ways.

    It is about an escalation or about a job. The timer is a row that is looked at again when it
    fires: what was claimed or decided since is not sent. It carries no content.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications"
    )
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=24, choices=[(n.value, n.value) for n in Note])
    escalation = models.ForeignKey(
        Escalation, null=True, on_delete=models.CASCADE, related_name="+"
    )
    job = models.ForeignKey(Job, null=True, on_delete=models.CASCADE, related_name="+")
    delivery = models.ForeignKey(Delivery, null=True, on_delete=models.CASCADE, related_name="+")
    made_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)
    send_at = models.DateTimeField(null=True, help_text="When to send it on; empty: bell only.")
    sent_at = models.DateTimeField(null=True)
    dropped_because = models.CharField(max_length=32, blank=True, default="")
    tries = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(escalation__isnull=False, job__isnull=True)
                | models.Q(escalation__isnull=True, job__isnull=False),
                name="a_notification_is_about_one_matter",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-made_at"], name="notifications_of_a_person"),
            models.Index(
                fields=["send_at"],
                condition=models.Q(send_at__isnull=False),
                name="notifications_due",
            ),
            models.Index(fields=["escalation", "kind"], name="notifications_of_a_matter"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.user}"
