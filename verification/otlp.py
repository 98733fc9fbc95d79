"""Sends spans to an OpenTelemetry collector: OTLP over HTTP, by the SDK's own public ways.

The libraries are loaded when the first span is sent, so that whoever has no collector does not pay
for them. Headers, certificates, compression and timeouts are the standard variables' to say.
Source: OpenTelemetry, OTLP exporter configuration.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened in a span."""

    name: str
    at: datetime
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Timed:
    """A span to send. Attributes are plain values, and no content."""

    number: int
    parent: int | None
    name: str
    attributes: Mapping[str, Any]
    happenings: Sequence[Happening]
    is_ok: bool
    started_at: datetime
    ended_at: datetime


def send(trace: UUID, spans: Sequence[Timed]) -> bool:
    """Send the spans of one trace; false when the collector did not take them.

    Ids follow from the trace and the span's number, so that sending twice changes nothing. Waits no
    longer than the exporter's timeout, ten seconds unless the standard variable says otherwise.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SpanExportResult

    exporter = OTLPSpanExporter(endpoint=settings.OTLP_TRACES)
    try:
        return exporter.export(_ended(trace, spans)) is SpanExportResult.SUCCESS
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]


def _ended(trace: UUID, spans: Sequence[Timed]) -> list[Any]:
    """Return the spans as the SDK has them once they have ended."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.id_generator import IdGenerator
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON
    from opentelemetry.trace import StatusCode, set_span_in_context

    ids = iter([_span_id(trace, each.number) for each in spans])
    ended: list[Any] = []

    class Ids(IdGenerator):
        def generate_trace_id(self) -> int:
            return trace.int

        def generate_span_id(self) -> int:
            return next(ids)

    class Collector(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            ended.append(span)

    provider = TracerProvider(
        resource=Resource.create({"service.name": "openwop-console"}),
        sampler=ALWAYS_ON,
        id_generator=Ids(),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(Collector())
    tracer = provider.get_tracer("openwop_console.jobs")
    begun: dict[int, Any] = {}
    for each in spans:
        above = begun.get(each.parent) if each.parent is not None else None
        span = tracer.start_span(
            each.name,
            context=None if above is None else set_span_in_context(above),
            attributes=dict(each.attributes),
            start_time=_nanoseconds(each.started_at),
        )
        begun[each.number] = span
        for event in each.happenings:
            span.add_event(event.name, dict(event.attributes), _nanoseconds(event.at))
        span.set_status(StatusCode.OK if each.is_ok else StatusCode.ERROR)
    for each in reversed(spans):
        begun[each.number].end(_nanoseconds(each.ended_at))
    return ended[::-1]


def _span_id(trace: UUID, number: int) -> int:
    digest = hashlib.sha256(f"{trace}:{number}".encode()).digest()
    return int.from_bytes(digest[:8]) or 1  # zero is no id


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000
