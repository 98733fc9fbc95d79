"""What stands around every page: navigation, theme, login."""

from shutil import which
from typing import Any

from django.contrib.auth import views as auth
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from runs.models import Viewer
from verification.queries.audit import workspaces_audited
from verification.queries.bell import bell_of
from verification.queries.jobs import waiting_plans
from verification.queries.queue import waiting_for

COMMAND = "openwop-console" if which("openwop-console") else ".venv/bin/openwop-console"
"""The command line as somebody types it: by its name where that is found, as in the container, else
in the folder that the README sets up."""

THEMES = ("light", "dark", "system")
_YEAR_S = 365 * 24 * 3600

NAV = (
    ("Runs", "runs", "/runs", "runs", ""),
    ("Queue", "queue", "/queue", "queue", "queue-badge"),
    ("Jobs", "jobs", "/jobs", "jobs", "jobs-badge"),
    ("Findings", "findings", "/findings", "findings", ""),
    ("Analytics", "analytics", "/analytics", "analytics", ""),
)


class Login(auth.LoginView):
    """The login page; whoever is signed in already goes on."""

    redirect_authenticated_user = True


def frame(request: HttpRequest) -> dict[str, Any]:
    """Give every template the navigation and the reader's theme."""
    theme = request.COOKIES.get("theme", "system")
    counts = waiting_counts(request.user) if request.user.is_authenticated else {}
    return {
        "nav": [
            {
                "label": label,
                "url": reverse(name),
                "active": request.path.startswith(prefix),
                "icon": icon,
                "badge_id": badge,
                "badge": counts.get(badge, 0),
            }
            for label, name, prefix, icon, badge in NAV
        ],
        "theme": theme if theme in THEMES else "system",
        "bell": bell_of(request.user, timezone.now()),
        "command_line": COMMAND,
        "may_audit": bool(workspaces_audited(request.user)),
    }


def waiting_counts(viewer: Viewer) -> dict[str, int]:
    """Return how many wait for a person, by the badge of the navigation that says it."""
    return {"queue-badge": waiting_for(viewer), "jobs-badge": waiting_plans(viewer).count()}


def back_to(address: str, *, otherwise: str) -> HttpResponseRedirect:
    """Send a person back to a page of ours; to the page of a name where the address is none.

    Not `redirect()`, which takes what is no address for the name of a page, and fails over it.
    """
    is_ours = address.startswith("/") and url_has_allowed_host_and_scheme(address, None)
    return HttpResponseRedirect(address if is_ours else reverse(otherwise))


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the reader's theme in a cookie and go back."""
    chosen = request.POST.get("theme", "system")
    response = back_to(request.POST.get("next", ""), otherwise="home")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=_YEAR_S, samesite="Lax", httponly=True)
    return response
