"""Our requests for a person, and what the person decided."""

from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from runs.models import Run, Workspace
from verification.domain.lifecycle import State
from verification.domain.routing import Risk
from verification.models.gate import OfRunQuerySet
from verification.models.queue import Queue

OPEN_STATES = (State.OPEN.value, State.CLAIMED.value)


class EscalationQuerySet(OfRunQuerySet):
    """Escalations, narrowed down."""

    def waiting(self) -> Self:
        """Keep those that a person still has to decide."""
        return self.filter(state__in=OPEN_STATES)


class Escalation(models.Model):
    """A request for a person, about one target, interrupt or hold of a run."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="escalations")
    key = models.CharField(max_length=300, help_text="What it is about, stable for the run.")
    target = models.CharField(max_length=256, blank=True, default="")
    reason = models.CharField(max_length=32)
    reasons = ArrayField(models.CharField(max_length=32))
    interrupt: "models.JSONField[Any, Any]" = models.JSONField(
        null=True, help_text="{nodeId, interruptId, kind, sequence} of the host's pause."
    )
    queue = models.ForeignKey(
        Queue, null=True, on_delete=models.SET_NULL, related_name="escalations"
    )
    asked = models.ForeignKey(
        "verification.Content",
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="What the host says it asks, where its events do not; without tokens.",
    )
    ask_host_at = models.DateTimeField(null=True, help_text="When to ask the host for that.")
    risk = models.CharField(
        max_length=8, choices=[(r.value, r.value) for r in Risk], default=Risk.MEDIUM.value
    )
    matter = models.CharField(
        max_length=64, blank=True, default="",
        help_text="Digest of what a decision is about; `version` rises when it changes.",
    )  # fmt: skip
    opened_position = models.BigIntegerField(help_text="The line that caused it.")
    opened_at = models.DateTimeField()
    due_at = models.DateTimeField()

    state = models.CharField(max_length=16, choices=[(s.value, s.value) for s in State])
    version = models.IntegerField(default=1, help_text="Rises with every change of state.")
    claimed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="claims"
    )
    claimed_at = models.DateTimeField(null=True)
    claim_until = models.DateTimeField(null=True)
    first_claimed_at = models.DateTimeField(null=True)
    handed_to_lead_at = models.DateTimeField(null=True, help_text="Only a lead decides since.")
    closed_at = models.DateTimeField(null=True)
    closed_because = models.CharField(max_length=64, blank=True, default="")

    objects = EscalationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "key"],
                condition=models.Q(state__in=OPEN_STATES),
                name="a_matter_is_open_once_in_a_run",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    state=State.CLAIMED.value,
                    claimed_by__isnull=False,
                    claim_until__isnull=False,
                )
                | (~models.Q(state=State.CLAIMED.value) & models.Q(claim_until__isnull=True)),
                name="a_claim_has_a_holder_and_an_end_exactly_while_it_lasts",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "due_at", "id"],
                condition=models.Q(state__in=OPEN_STATES),
                name="escalations_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reason} on {self.key}"


class Resolution(models.Model):
    """What a person decided, with what they had seen. One per escalation, never changed."""

    escalation = models.OneToOneField(
        Escalation, on_delete=models.CASCADE, related_name="resolution"
    )
    action = models.CharField(max_length=24)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    reason = models.TextField(blank=True, default="", help_text="Internal: stays in the Console.")
    content = models.ForeignKey(
        "verification.Content",
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Feedback and answers: they go to the host.",
    )
    seen_position = models.BigIntegerField(help_text="The run's last line that was on screen.")
    seen_digest = models.CharField(max_length=64)
    seconds_to_claim = models.FloatField(null=True, help_text="From opening to the first claim.")
    seconds_to_decide = models.FloatField(null=True, help_text="From this claim to the decision.")

    def __str__(self) -> str:
        return f"{self.action} by {self.by}"
