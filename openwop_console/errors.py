"""Turns exceptions of the API into OpenWOP error envelopes, or RFC 9457 problems on request.

Whatever goes wrong has one answer, whichever edge it went wrong at. An answer repeats nothing of
what was sent.
"""

from collections.abc import Iterable
from typing import Any

import orjson
from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from runs.auth import KeyRefused
from runs.door import NoKey, too_large
from runs.refusal import Refusal, refused_because

JSON = "application/json"
PROBLEM = "application/problem+json"
CHALLENGE = 'Bearer realm="openwop-console"'
DATABASE_RETRY_S = 2


class AlwaysJson(BaseContentNegotiation):
    """The API speaks JSON whatever a client says it accepts; only errors have a second shape."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """Return the parser of the view's only format."""
        return next(iter(parsers), None)

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer, which is JSON."""
        first = next(iter(renderers))
        return first, first.media_type or JSON


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
    BadRequest: (400, "validation_error", "The request cannot be read."),
    MultiPartParserError: (400, "validation_error", "The form cannot be read."),
    Http404: (404, "not_found", "There is no such thing here for you."),
}  # fmt: skip


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return DRF's answer to an exception; None hands it on as a server error."""
    refusal = refusal_of(error)
    if refusal is None:
        return None
    is_problem = wants_problem(context["request"].META.get("HTTP_ACCEPT", ""))
    response = Response(
        as_sent(refusal, problem=is_problem),
        status=refusal.status,
        headers=headers_of(refusal),
        content_type=PROBLEM if is_problem else None,
    )
    response.exception = True
    return response


def refusal_of(error: Exception) -> Refusal | None:
    """Return what an exception means to a client; None when it is ours to mend."""
    match error:
        case Refusal():
            return error
        case OperationalError() | InterfaceError():
            return database_away()
        case SuspiciousOperation() if not isinstance(error, RequestDataTooBig):
            return refused_because("bad_host", 400, "validation_error")
        case RequestDataTooBig():
            return too_large()
    for kind in type(error).__mro__:
        if kind in _KNOWN:
            status, code, message = _KNOWN[kind]
            return Refusal(status, code, message, _details(error), _wait(error))
    return None


def database_away() -> Refusal:
    """Return the answer while the database is away, or too slow."""
    return refused_because("database_away", 503, "service_unavailable", DATABASE_RETRY_S)


def _details(error: Exception) -> dict[str, Any]:
    match error:
        case KeyRefused() | NoKey():
            return {"reason": error.reason}
        case exceptions.ValidationError() if isinstance(error.detail, dict):
            return {"reason": "invalid_field", "pointer": f"/{next(iter(error.detail))}"}
        case _:
            return {}


def _wait(error: Exception) -> int | None:
    if isinstance(error, exceptions.Throttled):
        return max(1, round(getattr(error, "wait", None) or 1))
    return None


def internal_error() -> Refusal:
    """Return the answer to a failure that is ours."""
    return Refusal(
        500, "internal_error", "The Console failed; it was logged. Sending again is harmless."
    )


def headers_of(refusal: Refusal) -> dict[str, str]:
    """Return the headers that go with a refusal."""
    headers = {}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = CHALLENGE
    if refusal.retry_after_s is not None:
        headers["Retry-After"] = str(refusal.retry_after_s)
    return headers


def wants_problem(accept: str) -> bool:
    """Return whether the client asked for RFC 9457, by its `Accept` header."""
    return PROBLEM in accept


def as_sent(refusal: Refusal, *, problem: bool) -> dict[str, Any]:
    """Return the body in the shape that was asked for."""
    if not problem:
        return refusal.body()
    return {
        **refusal.details,
        "type": f"urn:openwop:error:{refusal.error}",
        "title": refusal.error.replace("_", " "),
        "status": refusal.status,
        "detail": refusal.message,
    }


def packed(refusal: Refusal, accept: str) -> tuple[str, bytes]:
    """Return the content type and the bytes of a refusal, for edges without a renderer."""
    problem = wants_problem(accept)
    return PROBLEM if problem else JSON, orjson.dumps(as_sent(refusal, problem=problem))
