"""What a Django request brings to the door of events, read no further than the limit."""

from rest_framework.request import Request

from runs.door import Headers
from runs.limits import limits


def headers_of(request: Request) -> Headers:
    """Return the headers that the door reads."""
    meta = request.META
    return Headers(
        authorization=meta.get("HTTP_AUTHORIZATION", ""),
        content_type=meta.get("CONTENT_TYPE", ""),
        content_encoding=meta.get("HTTP_CONTENT_ENCODING", ""),
        idempotency_key=meta.get("HTTP_IDEMPOTENCY_KEY"),
    )


def read_body(request: Request) -> bytes | None:
    """Return the body; None when it is larger than the limit."""
    most = limits().body_bytes
    raw: bytes = request.read(most + 1)
    return raw if len(raw) <= most else None
