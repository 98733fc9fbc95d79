"""The tenant and who belongs to it."""

from django.conf import settings
from django.db import models


class Role(models.TextChoices):
    """What a person may do in a workspace. Stored; add, never repurpose."""

    VIEWER = "viewer", "Viewer"
    OPERATOR = "operator", "Operator"
    REVIEWER = "reviewer", "Reviewer"
    ADMIN = "admin", "Admin"
    AUDITOR = "auditor", "Auditor"


class Workspace(models.Model):
    """A tenant: nothing is visible across its wall."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=128)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """One person's role in one workspace."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.VIEWER)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "user"], name="a_person_has_one_role_in_a_workspace"
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="a_role_is_one_of_the_known_ones"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} {self.role} in {self.workspace}"
