"""Who is asking, and which rows are theirs to see.

Every query of the pages and the API starts from `Model.objects.visible_to(viewer)`. What is not
visible does not exist for the viewer: 404, never 403.
"""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q

from runs.models.host import HostKey
from runs.models.workspace import Workspace

Viewer = AbstractBaseUser | AnonymousUser | HostKey


def workspaces_of(viewer: Viewer) -> list[int]:
    """Return the ids of the workspaces whose rows the viewer may see."""
    match viewer:
        case HostKey():
            return [viewer.host.workspace_id]
        case AnonymousUser():
            return []
        case _ if getattr(viewer, "is_superuser", False):
            return list(Workspace.objects.values_list("pk", flat=True))
        case _:
            return list(
                Workspace.objects.filter(memberships__user=viewer.pk).values_list("pk", flat=True)
            )


def seen_by(viewer: Viewer, *, workspace: str, host: str) -> Q:
    """Return the filter that keeps what the viewer may see.

    Args:
        viewer: a person sees the rows of their workspaces, a host key those of its own host.
        workspace: lookup path from the row to its workspace id.
        host: lookup path from the row to its host id.
    """
    if isinstance(viewer, HostKey):
        return Q(**{host: viewer.host_id})
    return Q(**{f"{workspace}__in": workspaces_of(viewer)})
