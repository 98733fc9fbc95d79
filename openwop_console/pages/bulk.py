"""Many escalations at once: what was chosen, how far it is, what became of each."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from openwop_console.pages.run import address_of
from openwop_console.pages.settings_frame import person_of
from runs.models import Viewer
from verification.actions.bulk import MOST, may_move_many, prepare, start
from verification.domain.lifecycle import State
from verification.domain.many import Many, foreseen
from verification.models import Batch, BatchItem, Escalation
from verification.queries.queue import decider_named, deciders, filtered

PAGE = 200
_WORDS = {
    Many.ASSIGN: ("Hand over", "handed over"),
    Many.RELEASE: ("Release", "released"),
    Many.CLOSE: ("Close as moot", "closed"),
}


@require_http_methods(["GET", "HEAD", "POST"])
def choose(request: HttpRequest) -> HttpResponse:
    """Keep what was chosen, and show what would be done to it; nothing is done yet."""
    person, posted = person_of(request), request.POST
    if request.method != "POST":
        return redirect("queue")
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
    batch = prepare(rows=allowed, many=many, by=person)
    return redirect("queue-batch", batch.pk)


@require_GET
def view(request: HttpRequest, batch: int) -> HttpResponse:
    """Show what would be done, how far it is, or what became of each."""
    found = _visible(request, batch)
    shown = content(found, request.GET.dict())
    return render(request, "verification/bulk.html", {**shown, "live_url": _live_url(found)})


@require_POST
def begin(request: HttpRequest, batch: int) -> HttpResponse:
    """Do it. Whoever asks twice is shown how far it is."""
    found = _visible(request, batch)
    to = decider_named(_workspaces(found), request.POST.get("to", ""))
    if found.do == Many.ASSIGN and to is None:
        messages.error(request, "Choose who is to have them.")
    else:
        start(batch=found.pk, to=to)
    return redirect("queue-batch", found.pk)


def find(viewer: Viewer, batch: int) -> Batch | None:
    """Return a batch, if it is the viewer's own."""
    if not isinstance(viewer, User):
        return None
    return Batch.objects.select_related("to").filter(pk=batch, by=viewer).first()


def content(found: Batch, query: Mapping[str, str]) -> dict[str, Any]:
    """Gather what the page shows and what changes while it is open."""
    verb, done_word = _WORDS[Many(found.do)]
    counts = found.items.aggregate(
        total=Count("pk"),
        done=Count("pk", filter=Q(done_at__isnull=False)),
        refused=Count("pk", filter=~Q(refused="")),
    )
    rows = found.items.select_related("escalation__run__host").order_by("pk")
    page = Paginator(rows, PAGE).get_page(query.get("page", "1"))
    is_asked = found.started_at is None
    return {
        "batch": found,
        "verb": verb,
        "done_word": done_word,
        "is_asked": is_asked,
        "is_done": not is_asked and counts["done"] == counts["total"],
        "moved": counts["done"] - counts["refused"],
        **counts,
        "items": [_item(each, found) for each in page],
        "page": _pager(page) if page.has_other_pages() else None,
        "people": list(deciders(_workspaces(found))) if is_asked and found.do == "assign" else [],
        "is_cut": counts["total"] >= MOST,
        "most": MOST,
        "back": reverse("queue"),
        "begin_url": reverse("queue-begin", args=[found.pk]),
        "query": f"page={page.number}",
    }


def _live_url(found: Batch) -> str:
    return f"/ws/queue/many/{found.pk}/"


def _pager(page: "Page[BatchItem]") -> dict[str, str]:
    return {
        "text": f"{page.start_index()}–{page.end_index()} of {page.paginator.count}",
        "newer_url": f"?page={page.previous_page_number()}" if page.has_previous() else "",
        "older_url": f"?page={page.next_page_number()}" if page.has_next() else "",
    }


def _chosen(posted: QueryDict, person: User) -> list[Escalation]:
    """Return the chosen escalations: those ticked, or all that match the filter."""
    visible = Escalation.objects.visible_to(person)
    if "all" in posted:
        query = QueryDict(posted.get("query", "")[:2000]).dict()
        rows = filtered(visible, person, query, timezone.now())
    else:
        ids = [int(each[:18]) for each in posted.getlist("id") if each.isascii() and each.isdigit()]
        rows = visible.filter(pk__in=ids)
    return list(rows.order_by("due_at", "pk")[:MOST])


def _workspaces(found: Batch) -> list[int]:
    rows = found.items.order_by().values_list("escalation__workspace", flat=True)
    return list(rows.distinct())


def _item(each: BatchItem, batch: Batch) -> dict[str, Any]:
    """Return one line. What would be skipped is foreseen; what was skipped is known."""
    row, many = each.escalation, Many(batch.do)
    refused = each.refused
    if batch.started_at is None:
        refused = foreseen(State(row.state), many)
    return {
        "id": row.pk,
        "url": reverse("escalation", args=[row.pk]),
        "reason": row.reason,
        "name": row.run.workflow_id or row.run.run_id,
        "target": row.target,
        "run_id": row.run.run_id,
        "run_url": address_of(row.run),
        "host": row.run.host.slug,
        "refused": refused,
        "is_done": each.done_at is not None,
    }


def _visible(request: HttpRequest, batch: int) -> Batch:
    found = find(request.user, batch)
    if found is None:
        raise Http404
    return found
