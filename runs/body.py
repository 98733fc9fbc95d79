"""A request's body as bytes, with what its headers say about it."""

from dataclasses import dataclass

from django.conf import settings
from rest_framework.request import Request

from runs.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Body:
    """What was sent, unread."""

    raw: bytes
    media_type: str
    """Without parameters, lower case."""
    charset: str
    encoding: str
    """`Content-Encoding`, lower case; empty when there is none."""


def read_body(request: Request) -> Body:
    """Return the body. Raises Refusal 413 when it is larger than the limit."""
    media_type, _, parameters = request.META.get("CONTENT_TYPE", "").partition(";")
    raw = request.read(settings.MAX_BODY_BYTES + 1)
    if len(raw) > settings.MAX_BODY_BYTES:
        raise too_large(settings.MAX_BODY_BYTES)
    return Body(
        raw=raw,
        media_type=media_type.strip().lower(),
        charset=_charset(parameters),
        encoding=request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower(),
    )


def too_large(limit: int) -> Refusal:
    """Return the refusal of a body above the limit, naming the limit and its setting."""
    return Refusal(
        413,
        "payload_too_large",
        "The body is larger than this Console takes; send smaller batches.",
        {
            "reason": "body_too_large",
            "limit": limit,
            "setting": "OPENWOP_CONSOLE_MAX_BODY_BYTES",
        },
    )


def _charset(parameters: str) -> str:
    for part in parameters.split(";"):
        name, _, value = part.strip().partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return ""
