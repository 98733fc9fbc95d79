"""`/metrics`: how the installation is, for a program that asks every few seconds.

It is for whoever runs the installation, so it has a token of its own: no host key, no personal
token and nobody's session opens it.
"""

import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import InterfaceError, OperationalError, connection, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from openwop_console.error_pages import refused
from openwop_console.errors import database_away
from openwop_console.measured import Measured
from runs.refusal import refused_because

KEPT_S = 5.0
"""For how long an answer serves all who ask a process."""
PATIENCE_S = 5.0
"""How long anybody waits while another asks."""
STATEMENT_MS = 2000
"""How long one statement may take."""


class Kept:
    """One answer for all who ask within a few seconds; one of them asks the database."""

    def __init__(self, ask: Callable[[], bytes]) -> None:
        """Keep what `ask` returns."""
        self._ask = ask
        self._one_asks = threading.Lock()
        self._answer = b""
        self._good_until = 0.0

    def answer(self) -> bytes:
        """Return it. Raises OperationalError when the database is away, or another waits for it."""
        if not self._one_asks.acquire(timeout=PATIENCE_S):
            raise OperationalError("another has asked and has no answer yet")
        try:
            if time.monotonic() >= self._good_until:
                self._answer = self._ask()
                self._good_until = time.monotonic() + KEPT_S
            return self._answer
        finally:
            self._one_asks.release()


def asked() -> bytes:
    """Ask the database for every figure and return them in the text format."""
    registry = CollectorRegistry()
    registry.register(Measured())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{STATEMENT_MS}ms'")
        return generate_latest(registry)


kept = Kept(asked)


@csrf_exempt
@login_not_required
def view(request: HttpRequest) -> HttpResponse:
    """Answer whoever has the token; where none is set there is no such address."""
    if not settings.METRICS_TOKEN:
        raise Http404
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    is_known = constant_time_compare(given, settings.METRICS_TOKEN)
    if not is_known or scheme.lower() != "bearer":
        return refused(request, refused_because("metrics_token", 401, "unauthenticated"))
    return _figures(request)


@require_safe
def _figures(request: HttpRequest) -> HttpResponse:
    headers = {"Cache-Control": "no-store"}
    try:
        answer = kept.answer()
    except (OperationalError, InterfaceError):
        return refused(request, database_away())
    return HttpResponse(answer, content_type=CONTENT_TYPE_PLAIN_0_0_4, headers=headers)
