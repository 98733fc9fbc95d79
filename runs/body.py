"""A request's body as bytes, read no further than the limit."""

from rest_framework.request import Request

from runs.actions.ingest import Body
from runs.domain.answers import message_of
from runs.limits import LIMIT_BEHIND, limits
from runs.refusal import Refusal


def read_body(request: Request) -> Body:
    """Return the body. Raises Refusal 413 when it is larger than the limit."""
    most = limits().body_bytes
    raw = request.read(most + 1)
    if len(raw) > most:
        _, setting = LIMIT_BEHIND["body_too_large"]
        details = {"reason": "body_too_large", "limit": most, "setting": setting}
        raise Refusal(413, "payload_too_large", message_of("body_too_large"), details)
    return Body(
        raw=raw,
        content_type=request.META.get("CONTENT_TYPE", ""),
        content_encoding=request.META.get("HTTP_CONTENT_ENCODING", ""),
    )
