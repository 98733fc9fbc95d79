"""Hosts of the workspaces that a person administers: how each is, and how to connect it."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from openwop_console.pages.findings import meters_of
from openwop_console.pages.settings_frame import administered, person_of, tabs
from runs.actions.due import look_at_host
from runs.actions.hosts import create_key, revoke_key
from runs.actions.webhook_secrets import rotate_secret
from runs.models import Host, HostKey
from runs.queries.hosts import REFUSED_DAYS, host_rows, refused_by_reason
from verification.queries.hosts import conformance_of

_TAB = "settings-hosts"


@require_GET
@never_cache
def view(request: HttpRequest) -> HttpResponse:
    """List the hosts."""
    mine = administered(person_of(request))
    hosts = list(
        Host.objects.filter(workspace__in=mine).select_related("workspace").order_by("slug")
    )
    shown = {
        "tabs": tabs(request, _TAB),
        "rows": host_rows(hosts, timezone.now().date()),
        "days": REFUSED_DAYS,
    }
    return render(request, "settings/hosts.html", shown)


@require_http_methods(["GET", "POST"])
@never_cache
def host(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a host; make or revoke a key, make a secret, or have the host read now."""
    mine = administered(person_of(request))
    found = get_object_or_404(
        Host.objects.select_related("workspace"), slug=slug, workspace__in=mine
    )
    if request.method == "GET":
        return _page(request, found)
    if found.is_own:
        raise Http404
    match request.POST.get("do"):
        case "key":
            return _page(request, found, made=("key", create_key(host=found)))
        case "secret":
            return _page(request, found, made=("webhook secret", rotate_secret(host=found)))
        case "revoke":
            key = get_object_or_404(HostKey, host=found, key_id=request.POST.get("key", ""))
            revoke_key(key_id=key.key_id)
            messages.success(request, f"Key {key.key_id} is refused from now on.")
        case "read":
            _read(request, found)
        case _:
            return _page(request, found, status=422)
    return redirect("settings-host", found.slug)


def _read(request: HttpRequest, found: Host) -> None:
    if not settings.PULL or not found.base_url:
        messages.error(request, "The Console does not know where this host answers.")
        return
    look_at_host(host=found, now=timezone.now())
    messages.success(request, "A worker reads the host now. Reload to see how that went.")


def _page(
    request: HttpRequest, found: Host, made: tuple[str, str] | None = None, status: int = 200
) -> HttpResponse:
    today = timezone.now().date()
    shown: dict[str, Any] = {
        "tabs": tabs(request, _TAB),
        "row": host_rows([found], today)[0],
        "host": found,
        "made": made,
        "keys": found.keys.order_by("-created_at"),
        "refused": refused_by_reason(found, today),
        "days": REFUSED_DAYS,
        "card": conformance_of(found),
        "meter": next(iter(meters_of(request.user, found.slug)), None),
        "is_read": settings.PULL and bool(found.base_url),
        "ways": _ways(found),
    }
    return render(request, "settings/host.html", shown, status=status)


def _ways(found: Host) -> list[tuple[str, str]]:
    """Return the ways to connect a host, each as a title and words to copy."""
    base = str(settings.CONSOLE_URL).rstrip("/")
    door = f"{base}{reverse('api:webhook', args=[found.slug])}"
    return [
        (
            "Send events with curl",
            f"curl {base}{reverse('api:events')} \\\n"
            '  -H "Authorization: Bearer $OPENWOP_CONSOLE_KEY" \\\n'
            "  -H 'Content-Type: application/x-ndjson' --data-binary @events.jsonl",
        ),
        (
            "Or from a file, with a progress bar",
            "OPENWOP_CONSOLE_KEY=… openwop-console ingest events.jsonl",
        ),
        ("Or have the host sign webhooks to", door),
        (
            "Or have the Console read it",
            f"openwop-console hosts connect {found.slug} --base-url https://…",
        ),
    ]
