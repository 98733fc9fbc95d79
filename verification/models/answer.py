"""What callers of the gate API were told, and the key that evidence is signed with."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from runs.models import Run
from verification.domain.gate_answers import AnswerBasis, GateDecision
from verification.domain.gates import GateState
from verification.models.gate import OfRunQuerySet


class GateReceipt(models.Model):
    """One answer about one target: what was said, to whom, and over which verdicts."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="receipts")
    target = models.CharField(max_length=272)
    asked_by = models.CharField(max_length=160, help_text="key:ab12, person:7")
    answered_at = models.DateTimeField()
    expires_at = models.DateTimeField(help_text="When to ask again.")
    decision = models.CharField(max_length=8, choices=[(d.value, d.value) for d in GateDecision])
    basis = models.CharField(max_length=8, choices=[(b.value, b.value) for b in AnswerBasis])
    state = models.CharField(max_length=24, choices=[(s.value, s.value) for s in GateState])
    held = models.BooleanField(help_text="The run was held.")
    complete = models.BooleanField(help_text="No sequence of the run was missing.")
    position = models.BigIntegerField(help_text="The run's last line that the answer knew of.")
    verdicts = ArrayField(
        models.CharField(max_length=160), help_text="Event ids of the verdicts that stood."
    )

    objects = OfRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(decision=GateDecision.PASS.value)
                | models.Q(held=False, complete=True),
                name="nothing_passes_while_held_or_incomplete",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "target", "-answered_at"], name="receipts_of_a_target"),
        ]

    def __str__(self) -> str:
        return f"{self.decision} on {self.target}"


class SigningKey(models.Model):
    """The installation's own key pair for a purpose. Made once; the private half is sealed."""

    purpose = models.CharField(max_length=32, unique=True)
    key_id = models.CharField(max_length=32)
    public_key = models.CharField(max_length=64, help_text="Base64 of the raw bytes.")
    sealed_private_key = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.purpose}: {self.key_id}"
