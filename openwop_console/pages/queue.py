"""The reviewer queue."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods

from openwop_console.pages.run import address_of
from openwop_console.pages.settings_frame import person_of
from runs.models import Viewer, workspaces_of
from runs.templatetags.badges import badge_of
from verification.actions import escalations
from verification.actions.bulk import may_move_many
from verification.domain.many import Many
from verification.domain.refusals import AlreadyClaimed, NotAllowed
from verification.models import Escalation
from verification.queries.jobs import waiting_plans
from verification.queries.queue import (
    FILTERS,
    Queue,
    done_by,
    held,
    next_for,
    queue,
)

_LABELS = {"unclaimed": "Unclaimed", "mine": "Mine", "open": "All open", "done": "Done"}


@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """Show the queue."""
    shown = content(request.user, request.GET.dict())
    return render(request, "verification/queue.html", {**shown, "live_url": "/ws/queue/"})


@require_http_methods(["GET", "HEAD", "POST"])
def claim_next(request: HttpRequest) -> HttpResponse:
    """Claim what is due first; if others are faster, the one after it. By GET: show the queue."""
    if request.method != "POST":
        return redirect("queue")
    now = timezone.now()
    while (found := next_for(request.user, now)) is not None:
        try:
            escalations.claim(escalation=found.pk, by=person_of(request))
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
    found = queue(viewer, query, now)
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
        "chips": _chips(query),
        "empty": None if found.rows else _empty(found, viewer, query),
        "page": {"text": f"The first {len(found.rows)}"} if found.has_more else None,
        "matching": found.matching,
        "query": urlencode(_kept(query)),
        "many": _many(viewer) if found.rows and found.tab != "done" else [],
        "done": done_by(viewer, now),
        "plans": _plans(viewer),
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
        "agent": getattr(escalation, "actor", "") or "",
        "risk": escalation.risk,
        "queue_name": escalation.queue.name if escalation.queue else "",
        "queue_slug": escalation.queue.slug if escalation.queue else "",
        "needs_lead": escalation.handed_to_lead_at is not None,
    }


def _kept(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query[name] for name in ("tab", *FILTERS) if query.get(name)}


def _chips(query: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the filters in force, each with the address without it."""
    kept = _kept(query)
    return [
        {
            "label": name.capitalize(),
            "value": badge_of("reason", kept[name]).word if name == "reason" else kept[name],
            "clear_url": f"?{urlencode({k: v for k, v in kept.items() if k != name})}",
        }
        for name in FILTERS
        if name in kept
    ]


def _plans(viewer: Viewer) -> dict[str, Any] | None:
    """Return how many plans of teams wait, since when, and where; None: none does."""
    waiting = list(waiting_plans(viewer).order_by("paused_at").values_list("uid", "paused_at"))
    if not waiting:
        return None
    uid, since = waiting[0]
    one = reverse("job", args=[uid])
    return {
        "count": len(waiting),
        "since": since,
        "url": one if len(waiting) == 1 else f"{reverse('jobs')}?tab=waiting",
    }


_MANY = {
    Many.RELEASE: "Release",
    Many.ASSIGN: "Hand over",
    Many.CLOSE: "Close as moot",
}


def _many(viewer: Viewer) -> list[dict[str, str]]:
    """Return what the viewer may do to many at once; deciding is never among it."""
    if not isinstance(viewer, User):
        return []
    spaces = workspaces_of(viewer)
    return [
        {"do": many.value, "label": label}
        for many, label in _MANY.items()
        if any(may_move_many(viewer, each, many) for each in spaces)
    ]


def _empty(found: Queue, viewer: Viewer, query: Mapping[str, str]) -> dict[str, Any]:
    """Say truthfully why a tab is empty."""
    if any(query.get(name) for name in FILTERS) and found.counts["open"]:
        return {"kind": "no_match", "clear_url": f"{reverse('queue')}?tab={found.tab}"}
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
