"""Queues of a workspace: the one that exists from the start, and changes by administrators."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from runs.models import Role
from verification.actions.audit import actor_of, record
from verification.domain.errors import VerificationError
from verification.domain.routing import Matter, Risk, Rule, chosen
from verification.models import Queue
from verification.situations import role_of

FIELDS = (
    "name", "rank", "reasons", "hosts", "workflows", "agents", "least_risk", "required_reviews",
    "second_person_for", "bars_conflicts", "lease_s", "due_s", "on_timeout", "sample_percent",
)  # fmt: skip
"""What an administrator sets."""


class NotAdmin(VerificationError):
    """Only administrators of the workspace may do this."""

    def __str__(self) -> str:
        return "Only an admin of the workspace may do that."


class DefaultQueueStays(VerificationError):
    """The queue that takes what no other wants cannot be removed."""

    def __str__(self) -> str:
        return "The default queue stays: it takes what no other queue wants."


def default_queue(workspace: int) -> Queue:
    """Return the queue that takes what no other wants, made now if the workspace is new."""
    found, _ = Queue.objects.get_or_create(
        workspace_id=workspace,
        is_default=True,
        defaults={"slug": "default", "name": "Default", "rank": 1000},
    )
    return found


def queue_for(workspace: int, matter: Matter) -> Queue:
    """Return the queue that a matter goes to."""
    named = Queue.objects.filter(workspace=workspace, is_default=False)
    others = list(named.order_by("rank", "pk"))
    at = chosen([rule_of(each) for each in others], matter)
    return default_queue(workspace) if at is None else others[at]


def rule_of(queue: Queue) -> Rule:
    """Return what a queue takes."""
    return Rule(
        reasons=frozenset(queue.reasons),
        hosts=frozenset(queue.hosts),
        workflows=tuple(queue.workflows),
        agents=tuple(queue.agents),
        least_risk=Risk(queue.least_risk),
    )


@transaction.atomic
def save_queue(
    *, queue: Queue, values: Mapping[str, Any], leads: Sequence[User], by: User
) -> Queue:
    """Create or change a queue.

    Args:
        queue: new, or as it is.
        values: by name, of `FIELDS`; checked for form by the caller.
        leads: who decides where reviewers differ, and when time ran out.
        by: an administrator.

    Raises:
        NotAdmin: they are not.
    """
    check_admin(by, queue.workspace_id)
    changed = sorted(name for name in FIELDS if getattr(queue, name) != values[name])
    for name in FIELDS:
        setattr(queue, name, values[name])
    is_new = queue.pk is None
    queue.save()
    queue.leads.set(leads)
    record(
        workspace=queue.workspace_id,
        actor=actor_of(by),
        action="queue.created" if is_new else "queue.changed",
        subject=f"queue:{queue.slug}",
        detail={"changed": changed, "leads": sorted(each.pk for each in leads)},
    )
    return queue


@transaction.atomic
def remove_queue(*, queue: Queue, by: User) -> None:
    """Remove a queue; what is in it goes to the default one.

    Raises:
        NotAdmin: the person is not an administrator.
        DefaultQueueStays: it is the one that takes the rest.
    """
    check_admin(by, queue.workspace_id)
    if queue.is_default:
        raise DefaultQueueStays
    moved = queue.escalations.update(queue=default_queue(queue.workspace_id))
    record(
        workspace=queue.workspace_id,
        actor=actor_of(by),
        action="queue.removed",
        subject=f"queue:{queue.slug}",
        detail={"moved": moved},
    )
    queue.delete()


def check_admin(by: User, workspace: int) -> None:
    """Pass when the person is an administrator of the workspace. Raises NotAdmin."""
    if role_of(by, workspace) != Role.ADMIN.value:
        raise NotAdmin
