"""The restricted zone: the only table that holds what people and models wrote."""

from django.db import models

from runs.models import Workspace


class Content(models.Model):
    """One text or body, with an end date. Everything else points here by id and digest.

    What is erased leaves its digest behind.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=32)
    body = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, help_text="When retention removes it.")
    erased_at = models.DateTimeField(
        null=True, help_text="The body is gone; size and digest stay, so that records still fit."
    )

    class Meta:
        indexes = [
            models.Index(
                fields=["expires_at"],
                condition=models.Q(erased_at=None),
                name="content_to_erase",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.sha256[:12]}"
