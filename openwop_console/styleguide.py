"""Every component and state on one page, to look at after a change of the look.

The samples are made up and read no table. Shown in DEBUG and to staff; for others there is no such
page.
"""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

SPRITE = Path(settings.BASE_DIR) / "static" / "icons.svg"
TONES = ("good", "bad", "warn", "person", "busy", "quiet", "alarm")


@require_GET
def view(request: HttpRequest) -> HttpResponse:
    """Show the style guide."""
    if not (settings.DEBUG or getattr(request.user, "is_staff", False)):
        raise Http404
    return render(request, "styleguide.html", samples())


def samples() -> dict[str, Any]:
    """Return made-up values for every component that takes more than words."""
    now = timezone.now()
    return {
        "tones": TONES,
        "icon_names": re.findall(r'<symbol id="([a-z-]+)"', SPRITE.read_text()),
        "tiles": [
            _tile("running", "Running", 4, "running", "busy"),
            _tile("review", "Needs a person", 3, "person", "person", is_active=True),
            _tile("violated", "Gate violated", 1, "lock-broken", "alarm"),
            _tile("goal_met", "Goal met", 12_431, "target", "good"),
            _tile("failed", "Failed", 0, "circle-cross", "bad"),
        ],
        "tabs": [
            {"label": "Mine", "url": "#", "active": True, "count": 2},
            {"label": "Unclaimed", "url": "#", "active": False, "count": 7},
            {"label": "Done", "url": "#", "active": False, "count": None},
        ],
        "chips": [{"label": "Outcome", "value": "Gave up", "clear_url": "#"}],
        "lights": [
            {"word": "Decided", "state": "done", "at": now - timedelta(minutes=2)},
            {"word": "Delivered", "state": "current", "detail": "503, 2 tries"},
            {"word": "Accepted", "state": "waiting"},
            {"word": "Took effect", "state": "waiting"},
        ],
        "troubled": [
            {"word": "Decided", "state": "done", "at": now - timedelta(hours=1)},
            {"word": "Delivered", "state": "done", "at": now - timedelta(minutes=59)},
            {"word": "Accepted", "state": "failed", "detail": "Resolved elsewhere"},
            {"word": "Took effect", "state": "skipped"},
        ],
        "fields": [
            _field(1, "text", "Short text", help="With a word of help."),
            _field(2, "long_text", "Long text"),
            _field(3, "choice", "One of some", choices=[("0", "First"), ("1", "Second")]),
            _field(4, "choices", "Several of some", choices=[("0", "First"), ("1", "Second")]),
            _field(5, "checkbox", "Yes or no"),
            _field(6, "json", "JSON", value='{"kind": "answer"}'),
            _field(7, "fixed", "Fixed", value="whole"),
            _field(8, "withheld", "API key", help="Give it to the host directly."),
        ],
        "earlier": now - timedelta(minutes=12, seconds=4),
        "soon": now + timedelta(seconds=42),
        "later": now + timedelta(hours=2),
        "page": {"text": "Showing 50 of 1,307 runs", "older_url": "#", "newer_url": "#"},
    }


def _tile(
    key: str, label: str, count: int, icon: str, tone: str, *, is_active: bool = False
) -> dict[str, Any]:
    return {
        "key": key, "label": label, "count": count, "icon": icon, "tone": tone,
        "active": is_active, "url": "#",
    }  # fmt: skip


def _field(number: int, kind: str, label: str, **more: Any) -> dict[str, Any]:
    given = {"help": "", "choices": [], "value": "", **more}
    return {
        "name": f"field-{number}", "id": f"field-{number}", "kind": kind, "label": label,
        "is_required": number == 1, **given,
    }  # fmt: skip
