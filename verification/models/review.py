"""What reviewers say before and beside a decision: votes, comments, drafts.

Texts are in `Content`; these rows say who, when and what kind.
"""

from django.conf import settings
from django.db import models

from verification.models.content import Content
from verification.models.escalation import Escalation


class Vote(models.Model):
    """One person's say on an escalation: hidden from others until theirs is in."""

    escalation = models.ForeignKey(Escalation, on_delete=models.CASCADE, related_name="votes")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    action = models.CharField(max_length=24)
    substance = models.CharField(
        max_length=64, help_text="Digest of answers and edits: people agree only on the same."
    )
    is_leads = models.BooleanField(default=False)
    reason = models.TextField(blank=True, default="", help_text="Internal: stays in the Console.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["escalation", "by"], name="a_person_votes_once"),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.by}"


class Comment(models.Model):
    """A note on an escalation: internal, passed on with a release, or a turn that the host gets."""

    escalation = models.ForeignKey(Escalation, on_delete=models.CASCADE, related_name="comments")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    kind = models.CharField(max_length=16, help_text="note, cannot_decide, ask, reply")
    content = models.ForeignKey(Content, on_delete=models.PROTECT, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["escalation", "at"], name="comments_in_order")]

    def __str__(self) -> str:
        return f"{self.kind} by {self.by}"


class Draft(models.Model):
    """What a person had typed about an escalation when they last paused; outlives a claim."""

    escalation = models.ForeignKey(Escalation, on_delete=models.CASCADE, related_name="drafts")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()
    content = models.ForeignKey(Content, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["escalation", "by"], name="a_person_has_one_draft"),
        ]

    def __str__(self) -> str:
        return f"draft of {self.by}"
