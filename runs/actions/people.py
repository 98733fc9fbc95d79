"""People and their roles."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction

from runs.models import Membership, Role, Workspace

DEFAULT_WORKSPACE = "default"


@transaction.atomic
def ensure_admin(*, username: str, password: str) -> None:
    """Make sure that an administrator with this name and password exists."""
    user, _ = get_user_model().objects.get_or_create(
        username=username, defaults={"is_staff": True, "is_superuser": True}
    )
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    workspace, _ = Workspace.objects.get_or_create(
        slug=DEFAULT_WORKSPACE, defaults={"name": "Default"}
    )
    grant(user=user, workspace=workspace, role=Role.ADMIN)


def grant(*, user: User, workspace: Workspace, role: Role) -> None:
    """Give a person a role in a workspace, in place of the one they had."""
    Membership.objects.update_or_create(
        user=user, workspace=workspace, defaults={"role": role.value}
    )
