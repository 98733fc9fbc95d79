"""What people's programs send: one JSON object, read strictly, and the key that makes it one."""

from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request

from runs.domain.careful_json import JsonRefused
from runs.domain.strict_json import parse
from runs.refusal import Refusal
from verification.actions.replays import KEY

LONGEST_BODY = 1024 * 1024


def json_object(request: Request) -> tuple[bytes, Mapping[str, Any]]:
    """Return the bytes and the one JSON object that they are; nothing sent is an empty object.

    Raises:
        Refusal: 413 or 400.
        UnsupportedMediaType: 415.
    """
    raw: bytes = request.read(LONGEST_BODY + 1)
    kind = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    if len(raw) > LONGEST_BODY:
        details = {"reason": "body_too_large", "limit": LONGEST_BODY}
        raise Refusal(413, "payload_too_large", "A decision is smaller than that.", details)
    if not raw and not kind:
        return b"", {}
    if kind != "application/json":
        raise UnsupportedMediaType(kind)
    try:
        document = parse(raw) if raw else {}
    except JsonRefused as refused:
        details = {"reason": refused.reason, "pointer": refused.pointer}
        message = "The body is not readable as JSON."
        raise Refusal(400, "validation_error", message, details) from refused
    if not isinstance(document, dict):
        details = {"reason": "type", "pointer": ""}
        raise Refusal(400, "validation_error", "Send one JSON object.", details)
    return raw, document


def idempotency_key(request: Request, *, is_required: bool) -> str:
    """Return the request's `Idempotency-Key`; empty where none is sent. Raises Refusal (400)."""
    key = str(request.META.get("HTTP_IDEMPOTENCY_KEY", ""))
    if (is_required and not key) or (key and not KEY.fullmatch(key)):
        message = "Send an Idempotency-Key of 8 to 128 letters, digits, `.`, `_`, `~` or `-`."
        raise Refusal(400, "idempotency_key_invalid", message, {"reason": "header"})
    return key
