"""On whose behalf a job runs: which person or key, in which workspace."""

from django.contrib.auth.models import User

from runs.models import HostKey, Run, Viewer, Workspace, workspaces_of
from verification.actions.jobs import Asker
from verification.domain.errors import VerificationError
from verification.domain.jobs.refusals import JobRefused
from verification.models import Job
from verification.situations import MAY_ASK


class MayNotAsk(VerificationError):
    """The key or the person may not start or cancel jobs."""

    def __init__(self) -> None:
        super().__init__("This key or person may not start or cancel jobs here.")


class WorkspaceUnclear(JobRefused):
    """The person belongs to several workspaces, or to none."""

    def __init__(self) -> None:
        sentence = "Say in which of your workspaces: send `workspace`."
        super().__init__("workspace_required", "/workspace", sentence)


def asker_of(viewer: Viewer, *, workspace: str = "", about: Run | None = None) -> Asker:
    """Return who asks.

    Args:
        viewer: a host key asks in its host's workspace, a person in one of theirs.
        workspace: slug, where the person said which.
        about: the run that the job is about decides, where there is one.

    Raises:
        MayNotAsk: they may not.
        WorkspaceUnclear: it cannot be told where.
    """
    match viewer:
        case HostKey():
            if "consensus:write" not in viewer.scopes:
                raise MayNotAsk
            return Asker(f"key:{viewer.key_id}", viewer.host.workspace, viewer.host)
        case User():
            tenant = about.workspace if about is not None else _workspace(viewer, workspace)
            if not may_ask(viewer, tenant):
                raise MayNotAsk
            return Asker(f"person:{viewer.pk}", tenant)
        case _:
            raise MayNotAsk


def may_ask(user: User, workspace: Workspace) -> bool:
    """Say whether a person may start and cancel jobs in a workspace."""
    if user.is_superuser:
        return True
    return workspace.memberships.filter(user=user, role__in=MAY_ASK).exists()


def canceller_of(viewer: Viewer, job: Job) -> str:
    """Return the name under which a viewer cancels a job that they see. Raises MayNotAsk."""
    if isinstance(viewer, HostKey) and "consensus:write" in viewer.scopes:
        return f"key:{viewer.key_id}"
    if isinstance(viewer, User) and may_ask(viewer, job.workspace):
        return f"person:{viewer.pk}"
    raise MayNotAsk


def _workspace(user: User, slug: str) -> Workspace:
    theirs = Workspace.objects.filter(pk__in=workspaces_of(user))
    found = list(theirs.filter(slug=slug) if slug else theirs[:2])
    if len(found) != 1:
        raise WorkspaceUnclear
    return found[0]
