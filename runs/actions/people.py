"""People and their roles."""

import secrets

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


@transaction.atomic
def add_person(*, username: str, email: str, workspace: str, role: Role) -> str:
    """Add a person to an existing workspace and return their first password, shown this once.

    Raises:
        Workspace.DoesNotExist: there is no such workspace.
        NameTaken: somebody has that name.
    """
    tenant = Workspace.objects.get(slug=workspace)
    people = get_user_model().objects
    if people.filter(username=username).exists():
        raise NameTaken(username)
    password = secrets.token_urlsafe(12)
    user = people.create_user(username, email=email, password=password)
    grant(user=user, workspace=tenant, role=role)
    return password


class NameTaken(Exception):
    """Somebody has that user name."""

    def __init__(self, username: str) -> None:
        self.username = username
        super().__init__(f"The name {username} is taken.")
