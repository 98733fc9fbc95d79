"""Turns the body of a request into single events, each to be taken or refused by itself.

A body is one event, an array of events, `{"events": [...]}`, or one event a line. Only what makes
all of it unreadable refuses all of it; whatever is wrong inside one event is that event's alone.
What an event must look like is not known here.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum
from functools import lru_cache

from runs.domain.limits import Limits
from runs.domain.pointers import Step
from runs.domain.refusals import (
    PAYLOAD_TOO_LARGE,
    UNSUPPORTED_MEDIA_TYPE,
    VALIDATION_ERROR,
    BodyRefused,
    Refused,
)
from runs.domain.strict_json import (
    DEEPEST_READABLE,
    Examined,
    Fault,
    JsonRefused,
    depth_of,
    examine,
    lines,
)
from runs.domain.turned_away import turned_away


class Form(StrEnum):
    """How a body is written."""

    JSON = "application/json"
    NDJSON = "application/x-ndjson"


_FORMS = {form.value: form for form in Form} | {"application/ndjson": Form.NDJSON}
_UTF8 = frozenset({"utf-8", "utf8"})
_GZIP = frozenset({"gzip", "x-gzip"})
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_TOO_DEEP = Fault("json_too_deep", ())
_ENVELOPE_KEYS = frozenset({"eventId", "runId", "type", "sequence", "payload"})


@dataclass(frozen=True, slots=True)
class Batch:
    """The events of one body, each with its place in it."""

    items: Sequence[tuple[int, object | Refused]]
    """A document that is still to be read as an event, or why there is none."""
    is_single: bool
    """Whether the body was one event by itself, and not a batch of one."""


@lru_cache(maxsize=64)
def form_of(content_type: str) -> Form:
    """How a body of this `Content-Type` is written.

    Raises:
        BodyRefused: `media_type` or `charset_unsupported`. JSON is UTF-8 and nothing else.
    """
    header = Message()
    header["Content-Type"] = content_type
    form = _FORMS.get(header.get_content_type()) if content_type.strip() else None
    if form is None:
        raise BodyRefused(UNSUPPORTED_MEDIA_TYPE, "media_type")
    charset = header.get_content_charset("utf-8")
    if charset not in _UTF8:
        raise BodyRefused(UNSUPPORTED_MEDIA_TYPE, "charset_unsupported")
    return form


def unpacked(raw: bytes, content_encoding: str, limits: Limits) -> bytes:
    """The body as it was before its `Content-Encoding`.

    Raises:
        BodyRefused: `content_encoding` or `body_too_large`.
    """
    encoding = content_encoding.strip().lower()
    if encoding in _GZIP:
        return inflate(raw, limits.body_bytes)
    if encoding not in ("", "identity"):
        raise BodyRefused(UNSUPPORTED_MEDIA_TYPE, "content_encoding")
    if len(raw) > limits.body_bytes:
        raise BodyRefused(PAYLOAD_TOO_LARGE, "body_too_large")
    return raw


def inflate(raw: bytes, limit: int) -> bytes:
    """What one gzip member holds, if it is all of `raw` and at most `limit` bytes large.

    Never inflates more than one byte beyond the limit.

    Raises:
        BodyRefused: `content_encoding` (not gzip, cut off, or with anything behind it) or
            `body_too_large`.

    Source: RFC 1952.
    """
    member = zlib.decompressobj(_GZIP_WINDOW)
    try:
        inflated = member.decompress(raw, limit + 1)
    except zlib.error:
        raise BodyRefused(VALIDATION_ERROR, "content_encoding") from None
    if len(inflated) > limit:
        raise BodyRefused(PAYLOAD_TOO_LARGE, "body_too_large")
    if not member.eof or member.unused_data:
        raise BodyRefused(VALIDATION_ERROR, "content_encoding")
    return inflated


def events_of(raw: bytes, form: Form, limits: Limits) -> Batch:
    """The single events of a body.

    Raises:
        BodyRefused: nothing of it can be taken.
    """
    match form:
        case Form.NDJSON:
            return Batch(_numbered(list(_items_of_lines(raw, limits))), is_single=False)
        case Form.JSON:
            return _events_of_document(raw, limits)


def _items_of_lines(raw: bytes, limits: Limits) -> Iterator[object | Refused]:
    for index, line in enumerate(lines(raw, max_depth=DEEPEST_READABLE)):
        if index >= limits.batch_events:
            raise BodyRefused(PAYLOAD_TOO_LARGE, "batch_too_many")
        match line:
            case Examined():
                yield item_at((), line.document, line, limits)
            case JsonRefused():
                yield _refused(None, line.reason, line.pointer, limits)


def _events_of_document(raw: bytes, limits: Limits) -> Batch:
    try:
        body = examine(raw, max_depth=DEEPEST_READABLE)
    except JsonRefused as refused:
        raise BodyRefused(VALIDATION_ERROR, refused.reason, refused.pointer) from None
    document = body.document
    if isinstance(document, list):
        return items_at((), document, body, limits)
    if not isinstance(document, dict):
        raise BodyRefused(VALIDATION_ERROR, "json_not_object")
    if "events" in document and not _ENVELOPE_KEYS & document.keys():
        return items_at(("events",), _unwrapped(document, body.faults), body, limits)
    return Batch([(0, item_at((), document, body, limits))], is_single=True)


def _unwrapped(document: dict[str, object], faults: Sequence[Fault]) -> list[object]:
    """The list in `{"events": [...]}`, with nothing beside it."""
    for fault in faults:
        if not fault.path:
            raise BodyRefused(VALIDATION_ERROR, fault.reason, fault.pointer)
    if len(document) > 1:
        raise BodyRefused(VALIDATION_ERROR, "additional_property")
    events = document["events"]
    if not isinstance(events, list):
        raise BodyRefused(VALIDATION_ERROR, "type", "/events")
    return events


def item_at(
    path: tuple[str, ...], document: object, body: Examined, limits: Limits
) -> object | Refused:
    """The event that stands at `path` of the body, or its own fault.

    Raises:
        BodyRefused: the fault is around it.
    """
    fault = None
    for each in body.faults:
        if each.path[: len(path)] != path:
            raise BodyRefused(VALIDATION_ERROR, each.reason, each.pointer)
        fault = fault or Fault(each.reason, each.path[len(path) :])
    if fault is None and body.depth > limits.depth and depth_of(document) > limits.depth:
        fault = _TOO_DEEP
    return _item(document, fault, limits)


def items_at(
    path: tuple[str, ...], documents: list[object], body: Examined, limits: Limits
) -> Batch:
    """The events of the list that stands at `path` of the body, each with its own fault.

    Raises:
        BodyRefused: `batch_too_many`, `batch_empty`, or a fault around the list.
    """
    if len(documents) > limits.batch_events:
        raise BodyRefused(PAYLOAD_TOO_LARGE, "batch_too_many")
    outer = len(path)
    faults: dict[Step, Fault] = {}
    for fault in body.faults:
        if len(fault.path) <= outer or fault.path[:outer] != path:
            raise BodyRefused(VALIDATION_ERROR, fault.reason, fault.pointer)
        index, inner = fault.path[outer], fault.path[outer + 1 :]
        faults.setdefault(index, Fault(fault.reason, inner))
    may_be_deep = body.depth > limits.depth + outer + 1
    items = []
    for index, document in enumerate(documents):
        wrong = faults.get(index)
        if wrong is None and may_be_deep and depth_of(document) > limits.depth:
            wrong = _TOO_DEEP
        items.append(_item(document, wrong, limits))
    return Batch(_numbered(items), is_single=False)


def _numbered(items: Sequence[object | Refused]) -> list[tuple[int, object | Refused]]:
    if not items:
        raise BodyRefused(VALIDATION_ERROR, "batch_empty")
    return list(enumerate(items))


def _item(document: object, fault: Fault | None, limits: Limits) -> object | Refused:
    if fault is not None:
        return _refused(document, fault.reason, fault.pointer, limits)
    if not isinstance(document, dict):
        return _refused(document, "item_invalid", "", limits)
    return document


def _refused(document: object, reason: str, at: str, limits: Limits) -> Refused:
    return turned_away(document, error=VALIDATION_ERROR, reason=reason, pointer=at, limits=limits)
