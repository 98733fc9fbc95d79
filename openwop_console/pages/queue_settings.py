"""Queues of a workspace, for its administrators: rules, and what a rule would have taken."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from openwop_console.pages.queue_form import QueueForm
from openwop_console.pages.settings_frame import person_of, tabs, workspace_of
from verification.actions.queues import default_queue, remove_queue, save_queue
from verification.domain.errors import VerificationError
from verification.models import Queue
from verification.queries.dry_runs import dry_run

_TAB = "settings-queues"


@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """List the queues in the order in which they are asked."""
    workspace = workspace_of(request)
    default_queue(workspace.pk)
    queues = Queue.objects.filter(workspace=workspace).order_by("is_default", "rank", "pk")
    shown = {
        "tabs": tabs(request, _TAB),
        "workspace": workspace,
        "queues": [
            {"queue": each, "waiting": each.escalations.filter(closed_at=None).count()}
            for each in queues
        ],
    }
    return render(request, "settings/queues.html", shown)


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a queue's form; keep it, or try its rule on the last seven days."""
    workspace = workspace_of(request)
    queue = _queue(workspace.pk, slug)
    form = QueueForm(request.POST or None, workspace=workspace, queue=queue)
    tried = None
    if request.method == "POST" and form.is_valid():
        if request.POST.get("do") == "try":
            tried = dry_run(workspace.pk, form.rule(), timezone.now())
        else:
            return _save(request, queue, form)
    shown = {
        "tabs": tabs(request, _TAB), "form": form, "queue": queue, "tried": tried,
        "workspace": workspace,
    }  # fmt: skip
    status = 422 if form.errors else 200
    return render(request, "settings/queue.html", shown, status=status)


@require_POST
def remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove a queue; what waits there goes to the default one."""
    workspace = workspace_of(request)
    found = get_object_or_404(Queue, workspace=workspace, slug=slug)
    try:
        remove_queue(queue=found, by=person_of(request))
    except VerificationError as refused:
        messages.error(request, str(refused))
    return redirect(_TAB)


def _queue(workspace: int, slug: str) -> Queue:
    if slug == "new":
        return Queue(workspace_id=workspace)
    found: Queue = get_object_or_404(Queue, workspace=workspace, slug=slug)
    return found


def _save(request: HttpRequest, queue: Queue, form: QueueForm) -> HttpResponse:
    values = form.values()
    queue.slug = queue.slug or _free_slug(queue.workspace_id, values["name"])
    leads = list(form.cleaned_data["leads"])
    save_queue(queue=queue, values=values, leads=leads, by=person_of(request))
    messages.success(request, f"{queue.name} is kept. It counts for what opens from now on.")
    return redirect(_TAB)


def _free_slug(workspace: int, name: str) -> str:
    wanted = slugify(name)[:56] or "queue"
    wanted = f"{wanted}-queue" if wanted == "new" else wanted
    taken = set(Queue.objects.filter(workspace=workspace).values_list("slug", flat=True))
    candidates = (wanted if n == 1 else f"{wanted}-{n}" for n in range(1, len(taken) + 2))
    return next(each for each in candidates if each not in taken)
