"""The reviewer queue."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from openwop_console.pages.run import address_of
from runs.models import Viewer
from verification.actions import escalations
from verification.domain.refusals import AlreadyClaimed, NotAllowed
from verification.models import Escalation
from verification.queries.queue import Queue, held, next_for, queue, waiting_for

__all__ = ["claim_next", "content", "view", "waiting_for"]

_LABELS = {"unclaimed": "Unclaimed", "mine": "Mine", "open": "All open", "done": "Done"}


@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """Show the queue."""
    shown = content(request.user, request.GET.dict())
    return render(request, "verification/queue.html", {**shown, "live_url": "/ws/queue/"})


@require_POST
def claim_next(request: HttpRequest) -> HttpResponse:
    """Claim what is due first; if others are faster, the one after it."""
    now = timezone.now()
    while (found := next_for(request.user, now)) is not None:
        try:
            escalations.claim(escalation=found.pk, by=_person(request))
        except AlreadyClaimed:
            continue
        except NotAllowed as refused:
            messages.error(request, str(refused))
            return redirect("queue")
        return redirect("escalation", found.pk)
    messages.info(request, "Nothing is waiting unclaimed.")
    return redirect("queue")


def content(viewer: Viewer, query: Mapping[str, str]) -> dict[str, Any]:
    """Gather what the queue shows for a query string."""
    now = timezone.now()
    found = queue(viewer, query.get("tab", ""), now)
    return {
        "rows": [row(each, viewer) for each in found.rows],
        "tabs": [
            {
                "label": label,
                "url": f"{reverse('queue')}?tab={name}",
                "active": name == found.tab,
                "count": found.counts.get(name),
            }
            for name, label in _LABELS.items()
        ],
        "empty": None if found.rows else _empty(found, viewer),
        "page": {"text": f"The first {len(found.rows)}"} if found.has_more else None,
        "open_count": found.counts["open"],
        "claim_next_url": reverse("claim-next") if found.counts["unclaimed"] else "",
    }


def row(escalation: Escalation, viewer: Viewer) -> dict[str, Any]:
    """Return one line of the queue."""
    now = timezone.now()
    is_held = escalation.claim_until is not None and escalation.claim_until > now
    holder = escalation.claimed_by if is_held else None
    return {
        "id": escalation.pk,
        "url": reverse("escalation", args=[escalation.pk]),
        "reason": escalation.reason,
        "reasons": escalation.reasons,
        "state": "open" if escalation.state == "claimed" and not is_held else escalation.state,
        "target": escalation.target,
        "workflow": escalation.run.workflow_id,
        "run_id": escalation.run.run_id,
        "run_url": address_of(escalation.run),
        "host": escalation.run.host.slug,
        "claimed_by": holder.get_username() if holder else "",
        "is_mine": holder is not None and holder == viewer,
        "due_at": escalation.due_at if escalation.closed_at is None else None,
        "is_overdue": escalation.closed_at is None and escalation.due_at < now,
        "opened_at": escalation.opened_at,
    }


def _empty(found: Queue, viewer: Viewer) -> dict[str, Any]:
    """Say truthfully why a tab is empty."""
    if found.tab == "done":
        return {"kind": "none_done"}
    if found.tab == "mine":
        return {"kind": "none_mine", "url": f"{reverse('queue')}?tab=unclaimed"}
    if not found.counts["open"]:
        return {"kind": "none_open"}
    claims = Escalation.objects.visible_to(viewer).filter(held(timezone.now()))
    holders = claims.order_by("claim_until").values_list("claimed_by__username", "claim_until")
    return {
        "kind": "all_claimed",
        "count": len(holders),
        "holders": ", ".join(sorted({name for name, _ in holders})),
        "frees_at": holders[0][1] if holders else None,
    }


def _person(request: HttpRequest) -> User:
    user = request.user
    assert isinstance(user, User)  # noqa: S101  (pages are for signed-in people: the middleware)
    return user
