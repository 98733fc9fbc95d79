"""Decisions on their way to hosts: where each stands, sending again, and hosts told by webhook."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from openwop_console.pages import shown_once
from openwop_console.pages.delivery_strip import can_redrive
from openwop_console.pages.settings_frame import administered, person_of, tabs
from openwop_console.pages.shown_once import Secret
from runs.models import Host
from verification.actions.redrive import redrive
from verification.actions.review_webhooks import remove_webhook, set_webhook
from verification.domain.delivery import GIVEN_UP, State
from verification.domain.errors import VerificationError
from verification.models import Delivery, HostRest, ReviewWebhook
from verification.queries.reviewing import deliveries_seen

_TAB = "settings-deliveries"
_PAGE = 100


@require_GET
@never_cache
def view(request: HttpRequest) -> HttpResponse:
    """Show deliveries, those that were given up first."""
    return _page(request)


@require_POST
def send_again(request: HttpRequest) -> HttpResponse:
    """Send the chosen ones again, each answered for itself."""
    person = person_of(request)
    wanted = [each for each in request.POST.getlist("id") if each.isascii() and each.isdigit()]
    found = list(deliveries_seen(person).filter(pk__in=[int(each[:18]) for each in wanted]))
    sent = 0
    for delivery in found:
        try:
            redrive(delivery=delivery.pk, by=person)
            sent += 1
        except VerificationError as refused:
            messages.error(request, f"#{delivery.pk}: {refused}")
    if sent:
        messages.success(request, f"{sent} on the way again, with the same bytes.")
    return redirect(_TAB)


@require_POST
def webhook(request: HttpRequest, host: str) -> HttpResponse:
    """Set or remove the webhook of a host; the secret is shown this once."""
    person = person_of(request)
    found = get_object_or_404(Host, slug=host, is_own=False)
    if found.workspace not in administered(person):
        raise Http404
    try:
        if request.POST.get("do") == "remove":
            remove_webhook(host=found, by=person)
            return redirect(_TAB)
        secret = set_webhook(host=found, url=request.POST.get("url", "").strip(), by=person)
    except VerificationError as refused:
        messages.error(request, str(refused))
        return redirect(_TAB)
    made = Secret(f"webhook secret of {found.slug}", secret)
    shown_once.keep(request, page="deliveries", secrets=[made])
    return redirect(_TAB)


def _page(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    state = request.GET.get("state", "")
    rows = deliveries_seen(person)
    given_up = rows.filter(state__in=GIVEN_UP)
    shown = rows.filter(state=state) if state else rows
    mine = administered(person)
    hosts = Host.objects.filter(workspace__in=mine, is_own=False).order_by("slug")
    hooks = {hook.host_id: hook for hook in ReviewWebhook.objects.filter(host__in=hosts)}
    resting = {rest.host_id: rest for rest in HostRest.objects.filter(host__in=hosts)}
    return render(
        request,
        "settings/deliveries.html",
        {
            "tabs": tabs(request, _TAB),
            "rows": [_row(each) for each in shown[:_PAGE]],
            "given_up": given_up.count(),
            "state": state,
            "states": [each.value for each in State],
            "hosts": [
                {"host": each, "hook": hooks.get(each.pk), "rest": resting.get(each.pk)}
                for each in hosts
            ],
            "made": shown_once.taken(request, page="deliveries"),
        },
    )


def _row(delivery: Delivery) -> dict[str, Any]:
    return {
        "delivery": delivery,
        "url": reverse("escalation", args=[delivery.escalation_id]),
        "can_redrive": can_redrive(delivery),
    }
