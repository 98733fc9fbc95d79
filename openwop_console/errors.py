"""Turns exceptions of the API into OpenWOP error envelopes, or RFC 9457 problems on request."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from runs.auth import KeyRefused
from runs.refusal import Refusal

PROBLEM = "application/problem+json"


class AlwaysJson(BaseContentNegotiation):
    """The API speaks JSON whatever a client says it accepts; only errors have a second shape."""

    def select_parser(self, request: Request, parsers: Sequence[BaseParser]) -> BaseParser | None:
        """Return the parser of the view's only format."""
        return parsers[0] if parsers else None

    def select_renderer(
        self,
        request: Request,
        renderers: Sequence[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer, which is JSON."""
        return renderers[0], renderers[0].media_type or "application/json"

_KNOWN: dict[type[Exception], tuple[int, str, str]] = {
    exceptions.NotAuthenticated: (
        401, "unauthenticated", "Send a host key: `Authorization: Bearer owc_…`.",
    ),
    exceptions.AuthenticationFailed: (
        401, "unauthenticated", "The credentials are not valid, or not any more.",
    ),
    exceptions.MethodNotAllowed: (
        405, "method_not_allowed", "This address does not take that method; see /api/docs.",
    ),
    exceptions.UnsupportedMediaType: (
        415, "unsupported_media_type", "Send application/json or application/x-ndjson.",
    ),
    exceptions.ParseError: (400, "validation_error", "The body is not readable as JSON."),
    exceptions.ValidationError: (400, "validation_error", "The request does not fit; see details."),
    exceptions.PermissionDenied: (403, "forbidden", "This key or person may not do that."),
    PermissionDenied: (403, "forbidden", "This key or person may not do that."),
    exceptions.Throttled: (429, "rate_limited", "Too many requests; wait and send again."),
    exceptions.NotFound: (404, "not_found", "There is no such thing here for you."),
    Http404: (404, "not_found", "There is no such thing here for you."),
}  # fmt: skip


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return DRF's answer to an exception; None hands it on as a server error."""
    refusal = refusal_of(error)
    if refusal is None:
        return None
    request = context["request"]
    view = context.get("view")
    response = Response(
        as_sent(refusal, wants_problem(request)),
        status=refusal.status,
        headers=_headers(refusal, view.get_authenticate_header(request) if view else None),
        content_type=PROBLEM if wants_problem(request) else None,
    )
    response.exception = True
    return response


def refusal_of(error: Exception) -> Refusal | None:
    """Return what an exception means to a client; None when it is ours to mend."""
    if isinstance(error, Refusal):
        return error
    for kind in type(error).__mro__:
        if kind in _KNOWN:
            status, code, message = _KNOWN[kind]
            return Refusal(status, code, message, _details(error), _wait(error))
    return None


def _details(error: Exception) -> dict[str, Any]:
    match error:
        case KeyRefused():
            return {"reason": error.reason}
        case exceptions.ValidationError() if isinstance(error.detail, dict):
            return {"reason": "invalid_field", "pointer": f"/{next(iter(error.detail))}"}
        case _:
            return {}


def _wait(error: Exception) -> int | None:
    if isinstance(error, exceptions.Throttled):
        return max(1, round(getattr(error, "wait", None) or 1))
    return None


def _headers(refusal: Refusal, challenge: str | None) -> dict[str, str]:
    headers = {}
    if refusal.status == 401 and challenge:
        headers["WWW-Authenticate"] = challenge
    if refusal.retry_after_s is not None:
        headers["Retry-After"] = str(refusal.retry_after_s)
    return headers


def wants_problem(request: Any) -> bool:
    """Return whether the client asked for RFC 9457."""
    return PROBLEM in request.META.get("HTTP_ACCEPT", "")


def as_sent(refusal: Refusal, problem: bool) -> dict[str, Any]:
    """Return the body in the shape that was asked for."""
    if not problem:
        return refusal.body()
    return {
        "type": f"urn:openwop:error:{refusal.error}",
        "title": refusal.error.replace("_", " "),
        "status": refusal.status,
        "detail": refusal.message,
        **refusal.details,
    }


def api_not_found(request: HttpRequest, rest: str = "") -> JsonResponse:
    """Answer an unknown API address in the API's own words."""
    status, code, message = _KNOWN[Http404]
    refusal = Refusal(status, code, message, {"reason": "no_such_address"})
    problem = wants_problem(request)
    return JsonResponse(
        as_sent(refusal, problem),
        status=status,
        content_type=PROBLEM if problem else "application/json",
    )
