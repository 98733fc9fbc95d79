"""What the settings pages share: their tabs, and who may change what."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.urls import reverse

from runs.models import Role, Workspace

_TABS = (
    ("Profile", "settings-profile", False),
    ("Notifications", "settings-notifications", False),
    ("Deliveries", "settings-deliveries", False),
    ("Queues", "settings-queues", True),
    ("Hosts", "settings-hosts", True),
    ("People", "settings-people", True),
    ("Retention", "settings-retention", True),
)


def person_of(request: HttpRequest) -> User:
    """Return whoever is signed in; the middleware lets nobody else come this far."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101
    return user


def administered(user: User) -> list[Workspace]:
    """Return the workspaces that a person administers."""
    rows = Workspace.objects.order_by("slug")
    if user.is_superuser:
        return list(rows)
    return list(rows.filter(memberships__user=user, memberships__role=Role.ADMIN.value))


def administers(request: HttpRequest, workspace: int) -> bool:
    """Say whether somebody administers a workspace."""
    return workspace in {each.pk for each in administered(person_of(request))}


def workspace_of(request: HttpRequest) -> Workspace:
    """Return the workspace that `?workspace=` names, or the first that the person administers.

    Raises:
        PermissionDenied: they administer none.
        Http404: not that one.
    """
    mine = administered(person_of(request))
    if not mine:
        raise PermissionDenied
    wanted = request.GET.get("workspace", "")
    for workspace in mine:
        if not wanted or workspace.slug == wanted:
            return workspace
    raise Http404


def tabs(request: HttpRequest, active: str) -> list[dict[str, Any]]:
    """Return the tabs of the settings that a person may open."""
    is_admin = bool(administered(person_of(request)))
    return [
        {"label": label, "url": reverse(name), "active": name == active}
        for label, name, is_for_admins in _TABS
        if is_admin or not is_for_admins
    ]
