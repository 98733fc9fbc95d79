"""One host, for its administrators: whether it is connected, how to, and what it shows."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from openwop_console.pages import shown_once
from openwop_console.pages.findings import meters_of
from openwop_console.pages.host_form import AddressForm, address_form
from openwop_console.pages.host_moves import act, connected
from openwop_console.pages.sending import curl, ways
from openwop_console.pages.settings_frame import administered, tabs
from runs.models import Host, HostKey, RetiringSecret, Viewer, WebhookSubscription
from runs.queries.hosts import REFUSED_DAYS, host_rows, refused_by_reason
from verification.actions.connecting import canary_event, delivery_path
from verification.queries.connections import report_of
from verification.queries.hosts import conformance_of

_SHOWN_KEYS = 50
_KEYS = ("key", "new key")
"""Labels of secrets that a host sends events with."""


@require_http_methods(["GET", "POST"])
@never_cache
def view(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a host; change what it is let in with, try it, or have it read now."""
    found = find(request.user, slug)
    if found is None:
        raise Http404
    if request.method == "GET":
        return _page(request, found)
    if found.is_own:
        raise Http404
    do = request.POST.get("do", "")
    if do == "connect":
        form = address_form(found, request.POST)
        if not form.is_valid() or not connected(request, found, form):
            return _page(request, found, form=form, status=422)
    elif not act(request, found, do):
        return _page(request, found, status=422)
    return redirect("settings-host", found.slug)


def find(viewer: Viewer, slug: str) -> Host | None:
    """Return a host of a workspace that the viewer administers."""
    if not viewer.is_authenticated:
        return None
    mine = administered(viewer)  # type: ignore[arg-type]  # whoever is signed in is a User
    return Host.objects.select_related("workspace").filter(slug=slug, workspace__in=mine).first()


def _page(
    request: HttpRequest, found: Host, form: AddressForm | None = None, status: int = 200
) -> HttpResponse:
    today = timezone.now().date()
    keys = list(found.keys.filter(is_canary=False).order_by("-created_at")[:_SHOWN_KEYS])
    made = shown_once.taken(request, page=f"host:{found.slug}")
    wanted = request.GET.get("revoke", "")
    retiring = RetiringSecret.objects.filter(host=found, valid_until__gt=timezone.now())
    shown: dict[str, Any] = {
        "tabs": tabs(request, "settings-hosts"),
        "row": host_rows([found], today)[0],
        "made": made,
        "keys": keys,
        "now": timezone.now(),
        "sure": next((each for each in keys if each.key_id == wanted and _is_good(each)), None),
        "refused": refused_by_reason(found, today),
        "days": REFUSED_DAYS,
        "card": conformance_of(found),
        "meter": next(iter(meters_of(request.user, found.slug)), None),
        "is_read": settings.PULL and bool(found.base_url),
        "form": form or address_form(found),
        "ways": ways(timezone.now(), next((each.text for each in made if each.label in _KEYS), "")),
        "delivers_to": f"{settings.CONSOLE_URL}{delivery_path(found)}",
        "subscription": WebhookSubscription.objects.filter(host=found).first(),
        "retiring": retiring.order_by("-valid_until").first(),
        "live_url": "" if found.is_own else f"/ws/settings/hosts/{found.slug}/",
    }
    return render(request, "settings/host.html", shown | connection(found), status=status)


def _is_good(key: HostKey) -> bool:
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > timezone.now())


def connection(found: Host) -> dict[str, Any]:
    """Gather what the page shows of the latest test of the connection."""
    report = report_of(found, timezone.now())
    return {
        "host": found,
        "report": report,
        "canary": canary_words(report.canary_run) if report and report.canary_run else "",
    }


def canary_words(run_id: str) -> str:
    """Return the command by which a host sends the canary of a test itself."""
    return curl(canary_event(run_id, timezone.now()))
