"""Queues: which escalations go where, and by which rules people work them there."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from runs.models import Workspace
from verification.domain.routing import Risk
from verification.domain.timing import OnTimeout


class Queue(models.Model):
    """One queue of a workspace. The one that takes whatever no other wants exists from the start.

    An empty routing field matches anything; workflows and agents may hold `*`.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="queues")
    slug = models.SlugField(max_length=64)
    name = models.CharField(max_length=128)
    rank = models.PositiveSmallIntegerField(default=100, help_text="The lowest is asked first.")
    is_default = models.BooleanField(default=False, help_text="Takes what no other queue wants.")

    reasons = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    hosts = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    workflows = ArrayField(models.CharField(max_length=272), default=list, blank=True)
    agents = ArrayField(models.CharField(max_length=256), default=list, blank=True)
    least_risk = models.CharField(
        max_length=8, choices=[(risk.value, risk.value) for risk in Risk], default=Risk.LOW.value
    )

    required_reviews = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1), MaxValueValidator(9)]
    )
    second_person_for = ArrayField(models.CharField(max_length=24), default=list, blank=True)
    bars_conflicts = models.BooleanField(default=True)
    lease_s = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(30)], help_text="Empty: the setting."
    )
    due_s = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(60)], help_text="Empty: the setting."
    )
    on_timeout = models.CharField(
        max_length=16,
        choices=[(each.value, each.value) for each in OnTimeout],
        default=OnTimeout.KEEP_WAITING.value,
    )
    sample_percent = models.FloatField(
        default=0, validators=[MinValueValidator(0), MaxValueValidator(100)]
    )
    leads = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="leads")

    objects: "models.Manager[Queue]" = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "slug"], name="a_queue_has_its_own_slug"),
            models.UniqueConstraint(
                fields=["workspace"],
                condition=models.Q(is_default=True),
                name="one_queue_takes_the_rest",
            ),
            models.CheckConstraint(
                condition=models.Q(required_reviews__gte=1, required_reviews__lte=9),
                name="a_queue_requires_one_to_nine_reviews",
            ),
        ]

    def __str__(self) -> str:
        return self.slug
