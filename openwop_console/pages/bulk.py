"""Many escalations at once: what was chosen, what would be skipped, and what became of each."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from openwop_console.pages.settings_frame import person_of
from runs.models import Role
from verification.actions.bulk import MOST, Many, Outcome, may_move_many, move_many, preview
from verification.models import Escalation
from verification.queries.queue import filtered

_WORDS = {
    Many.ASSIGN: ("Hand over", "handed over"),
    Many.RELEASE: ("Release", "released"),
    Many.CLOSE: ("Close as moot", "closed"),
}


@require_POST
def view(request: HttpRequest) -> HttpResponse:
    """Show what would be done to the chosen; with `sure`, do it and show what became of each."""
    person, posted = person_of(request), request.POST
    if posted.get("do", "") not in set(Many):
        messages.error(request, "Choose what to do.")
        return redirect("queue")
    many = Many(posted["do"])
    rows = _chosen(posted, person)
    may = {pk: may_move_many(person, pk, many) for pk in {row.workspace_id for row in rows}}
    allowed = [row for row in rows if may[row.workspace_id]]
    if not allowed:
        messages.error(request, "Your role does not include that, or nothing was chosen.")
        return redirect("queue")
    to = _reviewers(allowed).filter(username=posted.get("to", "")).first()
    is_done = "sure" in posted and (many is not Many.ASSIGN or to is not None)
    outcomes = move_many(rows=allowed, many=many, by=person, to=to) if is_done else None
    shown = {
        "verb": _WORDS[many][0],
        "done_word": _WORDS[many][1],
        "do": many.value,
        "is_done": is_done,
        "outcomes": [_outcome(each) for each in outcomes or preview(allowed, many)],
        "moved": sum(not each.refused for each in outcomes or ()),
        "people": list(_reviewers(allowed)) if many is Many.ASSIGN else [],
        "too_many": len(rows) >= MOST,
        "back": reverse("queue"),
    }
    return render(request, "verification/bulk.html", shown)


def _chosen(posted: QueryDict, person: User) -> list[Escalation]:
    """Return the chosen escalations: those ticked, or all that match the filter."""
    visible = Escalation.objects.visible_to(person).select_related("run__host", "claimed_by")
    if "all" in posted:
        query = QueryDict(posted.get("query", "")[:2000]).dict()
        rows = filtered(visible, person, query, timezone.now())
    else:
        ids = [int(each[:18]) for each in posted.getlist("id") if each.isascii() and each.isdigit()]
        rows = visible.filter(pk__in=ids)
    return list(rows.order_by("due_at", "pk")[:MOST])


def _reviewers(rows: list[Escalation]) -> Any:
    return (
        User.objects.filter(
            memberships__workspace__in={row.workspace_id for row in rows},
            memberships__role__in=(Role.REVIEWER.value, Role.ADMIN.value),
            is_active=True,
        )
        .distinct()
        .order_by("username")
    )


def _outcome(each: Outcome) -> dict[str, Any]:
    row = each.escalation
    return {
        "id": row.pk,
        "url": reverse("escalation", args=[row.pk]),
        "reason": row.reason,
        "name": row.run.workflow_id or row.run.run_id,
        "refused": each.refused,
    }
