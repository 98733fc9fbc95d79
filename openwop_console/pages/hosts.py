"""Hosts of the workspaces that a person administers: how each is, and a new one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from openwop_console.pages import shown_once
from openwop_console.pages.host_form import NewHostForm
from openwop_console.pages.settings_frame import administered, person_of, tabs
from openwop_console.pages.shown_once import Secret
from runs.actions.hosts import HostExists
from runs.models import Host
from runs.queries.hosts import REFUSED_DAYS, host_rows
from verification.actions.audit import actor_of
from verification.actions.host_settings import add_host

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
        "may_add": bool(mine),
    }
    return render(request, "settings/hosts.html", shown)


@require_http_methods(["GET", "POST"])
@never_cache
def new(request: HttpRequest) -> HttpResponse:
    """Show the form of a new host, and add it; its key and secret are shown on its page, once."""
    form = NewHostForm(request.POST or None, workspaces=administered(person_of(request)))
    if request.method == "POST" and form.is_valid() and (slug := _add(request, form)):
        return redirect("settings-host", slug)
    shown = {"tabs": tabs(request, _TAB), "form": form}
    return render(request, "settings/host_new.html", shown, status=422 if form.errors else 200)


def _add(request: HttpRequest, form: NewHostForm) -> str:
    """Add the host and return its id; empty where the form says why not."""
    given = form.cleaned_data
    try:
        added = add_host(
            by=actor_of(person_of(request)),
            name=given["name"],
            workspace=given["workspace"],
            base_url=given["base_url"],
            api_key=given["api_key"],
            protocol_major=given["protocol"],
            tenant=given["tenant"],
        )
    except HostExists as exists:
        form.add_error("name", str(exists))
        return ""
    secrets = [Secret("key", added.key), Secret("webhook secret", added.webhook_secret)]
    shown_once.keep(request, page=f"host:{added.id}", secrets=secrets)
    return added.id
