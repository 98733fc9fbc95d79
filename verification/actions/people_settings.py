"""What administrators do about people, and people about their own password: each on the record.

A person who is in other workspaces too, or administers the whole Console, keeps their password:
whoever administers one workspace must not come into another by it.
"""

import secrets

from django.contrib.auth.models import User
from django.db import transaction

from runs.actions import people
from runs.models import Membership, Role, Workspace
from verification.actions.audit import actor_of, record
from verification.domain.errors import VerificationError


class LastAdmin(VerificationError):
    """Nobody would administer the workspace any more."""

    def __init__(self) -> None:
        super().__init__("Nobody else administers this workspace: make somebody else admin first.")


class NotYours(VerificationError):
    """The person belongs to more than this workspace."""

    def __init__(self, username: str) -> None:
        super().__init__(
            f"{username} is in other workspaces too, or administers the whole Console: "
            "the command line can set their password."
        )


@transaction.atomic
def add_person(*, workspace: Workspace, by: User, username: str, email: str, role: Role) -> str:
    """Add a person and return their first password, to be shown once.

    Raises:
        NameTaken: somebody has that name.
    """
    password = people.add_person(
        username=username, email=email, workspace=workspace.slug, role=role
    )
    added = User.objects.get(username=username)
    _put_on_record(workspace, "person.added", by, added, {"role": role.value})
    return password


@transaction.atomic
def set_role(*, member: Membership, by: User, role: Role) -> None:
    """Give a member another role.

    Raises:
        LastAdmin: they are the only one who administers the workspace.
    """
    held = _locked(member)
    if held.role == role.value:
        return
    _keep_an_admin(held)
    people.grant(user=held.user, workspace=held.workspace, role=role)
    detail = {"was": held.role, "role": role.value}
    _put_on_record(held.workspace, "person.role_changed", by, held.user, detail)


@transaction.atomic
def remove_person(*, member: Membership, by: User) -> None:
    """Take a member out of a workspace. What they did stays on record under their name.

    Raises:
        LastAdmin: they are the only one who administers the workspace.
    """
    held = _locked(member)
    _keep_an_admin(held)
    held.delete()
    _put_on_record(held.workspace, "person.removed", by, held.user, {"was": held.role})


@transaction.atomic
def new_password(*, member: Membership, by: User) -> str:
    """Give a member a new first password, to be shown once; the old one and all sessions end.

    Raises:
        NotYours: they are somebody elsewhere too.
    """
    user = member.user
    elsewhere = Membership.objects.filter(user=user).exclude(workspace=member.workspace_id)
    if user.is_superuser or elsewhere.exists():
        raise NotYours(user.get_username())
    password = secrets.token_urlsafe(12)
    user.set_password(password)
    user.save(update_fields=["password"])
    _put_on_record(member.workspace, "person.password_reset", by, user, {})
    return password


@transaction.atomic
def change_own_password(*, user: User, password: str) -> None:
    """Let somebody have the password that they chose; their other sessions end."""
    user.set_password(password)
    user.save(update_fields=["password"])
    for member in Membership.objects.filter(user=user).select_related("workspace"):
        _put_on_record(member.workspace, "person.password_changed", user, user, {})


def _locked(member: Membership) -> Membership:
    """Return a membership, with all that administer its workspace locked against each other."""
    Workspace.objects.select_for_update().get(pk=member.workspace_id)
    return Membership.objects.select_related("user", "workspace").get(pk=member.pk)


def _keep_an_admin(member: Membership) -> None:
    others = Membership.objects.filter(workspace=member.workspace, role=Role.ADMIN.value)
    if member.role == Role.ADMIN.value and not others.exclude(pk=member.pk).exists():
        raise LastAdmin


def _put_on_record(
    workspace: Workspace, action: str, by: User, about: User, detail: dict[str, str]
) -> None:
    record(
        workspace=workspace.pk,
        actor=actor_of(by),
        action=action,
        subject=f"person:{about.pk}",
        detail=detail,
    )
