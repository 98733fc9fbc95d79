"""Is the process alive, and can it do its work?"""

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from openwop_console.supervisor.pending import pending_migrations


@login_not_required
@require_GET
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer as long as the process can answer."""
    return JsonResponse({"status": "ok"})


@login_not_required
@require_GET
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database answers and its tables are up to date.

    Redis is not asked: without it pages refresh late and tasks wait, but nothing is lost.
    """
    try:
        pending = pending_migrations()
    except DatabaseError:
        return _unready("database", "The database does not answer.")
    if pending:
        return _unready("migrations", f"{len(pending)} migrations are waiting: run migrate.")
    return JsonResponse({"status": "ok"})


def _unready(part: str, message: str) -> JsonResponse:
    answer = JsonResponse({"status": "unready", "part": part, "message": message}, status=503)
    answer["Retry-After"] = "2"
    return answer
