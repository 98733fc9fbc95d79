"""The last answer: what a request gets that no view answered, as JSON below /api, else as a page.

Nothing here may need the database: it may be why we are here.
"""

import sys

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

from openwop_console.errors import headers_of, internal_error, packed, refusal_of
from runs.refusal import Refusal

API = ("/api/", "/v1/", "/.well-known/openwop", "/metrics/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that is not one that we serve, such as to another host's name."""
    return _answer(request, refusal_of(exception) or internal_error(), "400.html")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what the caller may not do."""
    if not is_api(request.path):
        return defaults.permission_denied(request, exception)
    return _answer(request, refusal_of(exception) or internal_error(), "403.html")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an address that is not there."""
    if not is_api(request.path):
        return defaults.page_not_found(request, exception)
    return api_not_found(request)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer what went wrong: 503 while the database is away, else 500."""
    error = sys.exc_info()[1]
    refusal = refusal_of(error) if isinstance(error, Exception) else None
    if refusal is None or refusal.status < 500:
        refusal = internal_error()
    return _answer(request, refusal, f"{refusal.status}.html")


def api_not_found(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer an unknown API address in the API's own words."""
    known = refusal_of(Http404())
    assert known is not None  # noqa: S101  (it is in the table of known exceptions)
    refusal = Refusal(404, known.error, known.message, {"reason": "no_such_address"})
    return _answer(request, refusal, "404.html")


def refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """Answer a request that a view of no framework does not carry out."""
    return _answer(request, refusal, f"{refusal.status}.html")


def is_api(path: str) -> bool:
    """Say whether an address is one of the API, whose answers are never pages."""
    return f"{path}/".startswith(API)


def shaped(path: str, accept: str, refusal: Refusal, template: str) -> tuple[str, bytes]:
    """Return the content type and the bytes of a refusal, as fits the address."""
    if is_api(path):
        return packed(refusal, accept)
    return "text/html; charset=utf-8", render_to_string(template).encode()


def _answer(request: HttpRequest, refusal: Refusal, template: str) -> HttpResponse:
    accept = request.META.get("HTTP_ACCEPT", "")
    content_type, body = shaped(request.path, accept, refusal, template)
    return HttpResponse(
        body,
        status=refusal.status,
        content_type=content_type,
        headers={**headers_of(refusal), "Cache-Control": "no-store"},
    )
