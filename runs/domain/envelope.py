"""Reads one event as it travels: strict about what orders and identifies it, tolerant of the rest.

Required fields are exact. Optional ones may be null, unknown ones are kept, and a payload that
misses its schema is stored with a note. Verdicts alone are refused for their payload, and a refusal
that may have been a verdict says so, because turning a malformed `fail` away must not open a gate.

Source: OpenWOP run-event.schema.json, v1 and v2; RFC 0090.
"""

import hashlib
from collections.abc import Collection
from datetime import datetime

import orjson

from runs.domain import content_free
from runs.domain.codemap import CANONICAL, is_vendor_type
from runs.domain.ids import fault_in_event_id, fault_in_id, fault_in_run_id
from runs.domain.limits import Limits
from runs.domain.log import Envelope
from runs.domain.near_misses import near_miss
from runs.domain.omissions import FactsTooLarge, omission, remains
from runs.domain.payloads import mismatches
from runs.domain.refusals import PAYLOAD_TOO_LARGE, VALIDATION_ERROR, Refused
from runs.domain.timestamps import instant
from runs.domain.turned_away import is_sequence, turned_away

_READ = frozenset(
    {"eventId", "runId", "type", "payload", "timestamp", "sequence", "nodeId", "causationId"}
)
_FIELD_WITH_DECISION = {
    "runOrchestrator.decided": "decision",
    "core.workflowChain.confidence-escalated": "originalDecision",
}
_LONGEST_VERSION = 256
_ABSENT = object()


class EnvelopeRefused(Exception):
    """An event is not taken. `refused` says why, and what could still be read of it."""

    def __init__(self, refused: Refused) -> None:
        self.refused = refused
        super().__init__(f"event refused: {refused.reason} at {refused.pointer or 'its root'}")


class _Wrong(Exception):
    """The first rule that a document breaks."""

    def __init__(
        self,
        reason: str,
        pointer: str,
        *,
        error: str = VALIDATION_ERROR,
        holds: bool | None = None,
    ) -> None:
        self.reason, self.pointer, self.error, self.holds = reason, pointer, error, holds
        super().__init__(reason)


def read(
    document: object,
    *,
    now: datetime,
    limits: Limits,
    vocabulary: Collection[str] | None = None,
) -> Envelope:
    """The event that `document` is.

    Args:
        document: one event, as `strict_json` parsed it.
        now: our clock.
        limits: what is taken.
        vocabulary: the only criteria that the host's verdicts may name, if it registered them.

    Raises:
        EnvelopeRefused: with everything that may be told about it.
    """
    try:
        return _read(document, now, limits, vocabulary)
    except _Wrong as wrong:
        refused = turned_away(
            document,
            error=wrong.error,
            reason=wrong.reason,
            pointer=wrong.pointer,
            limits=limits,
            holds=wrong.holds,
        )
        raise EnvelopeRefused(refused) from None


def _read(
    document: object, now: datetime, limits: Limits, vocabulary: Collection[str] | None
) -> Envelope:
    if not isinstance(document, dict):
        raise _Wrong("json_not_object", "")
    event_id = document.get("eventId", _ABSENT)
    if fault := fault_in_event_id(event_id, limits.id_chars):
        raise _missing_or(fault, event_id, "/eventId")
    run_id = document.get("runId", _ABSENT)
    if fault := fault_in_run_id(run_id, limits.id_chars):
        raise _missing_or(fault, run_id, "/runId")
    name, near = _name(document, limits)
    payload = document.get("payload", _ABSENT)
    if payload is _ABSENT:
        raise _Wrong("required", "/payload")
    timestamp, skew_s = _timestamp(document, now, limits)
    sequence = _sequence(document)
    node_id = _optional_id(document, "nodeId", limits)
    causation_id = _optional_id(document, "causationId", limits)
    extra = _extra(document)
    _check_content(name, payload, extra, vocabulary)
    packed = _packed(
        {
            "eventId": event_id,
            "runId": run_id,
            "type": name,
            "payload": payload,
            "timestamp": timestamp,
            "sequence": sequence,
            "nodeId": node_id,
            "causationId": causation_id,
            "extra": extra,
        }
    )
    is_large = len(packed) > limits.payload_bytes
    return Envelope(
        run_id=run_id,
        event_id=event_id,
        sequence=sequence,
        type=name,
        wire_type=document["type"],
        timestamp=timestamp,
        payload=_kept_payload(name, payload, limits) if is_large else payload,
        node_id=node_id,
        causation_id=causation_id,
        extra=_kept_extra(extra, limits) if is_large else extra,
        digest=hashlib.sha256(packed).digest(),
        mismatches=mismatches(name, payload),
        near_miss_of=near,
        skew_s=skew_s,
    )


def _missing_or(reason: str, value: object, place: str) -> _Wrong:
    return _Wrong("required" if value is _ABSENT else reason, place)


def _name(document: dict[str, object], limits: Limits) -> tuple[str, str | None]:
    """The event's v1 name, and the type that an unknown name probably means."""
    sent = document.get("type", _ABSENT)
    if type(sent) is not str:
        raise _missing_or("type_invalid", sent, "/type")
    name = CANONICAL.get(sent)
    if name is not None:
        return name, None
    if len(sent) > limits.type_chars or not is_vendor_type(sent):
        raise _Wrong("type_invalid", "/type")
    return sent, near_miss(sent)


def _timestamp(
    document: dict[str, object], now: datetime, limits: Limits
) -> tuple[datetime, float]:
    """The host's clock at the event, and by how many seconds it is ahead of ours."""
    sent = document.get("timestamp", _ABSENT)
    timestamp = instant(sent)
    if timestamp is None:
        raise _missing_or("timestamp_invalid", sent, "/timestamp")
    skew_s = (timestamp - now).total_seconds()
    if skew_s > limits.skew_s:
        raise _Wrong("timestamp_in_future", "/timestamp")
    return timestamp, skew_s


def _sequence(document: dict[str, object]) -> int:
    """The host's number for the event; some hosts say `seq`, or say both."""
    sent = document.get("sequence", _ABSENT)
    if sent is _ABSENT:
        sent = document.get("seq", _ABSENT)
    if type(sent) is int and is_sequence(sent):
        return sent
    raise _missing_or("sequence_invalid", sent, "/sequence")


def _optional_id(document: dict[str, object], field: str, limits: Limits) -> str | None:
    sent = document.get(field)
    if sent is None:
        return None
    if fault := fault_in_id(sent, limits.id_chars):
        raise _Wrong(fault, f"/{field}")
    return str(sent)


def _extra(document: dict[str, object]) -> dict[str, object]:
    """The keys that are kept but not read, without those that only repeat one that is."""
    extra = {key: sent for key, sent in document.items() if key not in _READ and sent is not None}
    if not extra:
        return extra
    if "seq" in extra and ("sequence" not in document or extra["seq"] == document["sequence"]):
        del extra["seq"]
    if "data" in extra and extra["data"] == document["payload"]:
        del extra["data"]
    version = extra.get("schemaVersion", 0)
    if type(version) is not int or version < 0:
        raise _Wrong("type", "/schemaVersion")
    engine = extra.get("engineVersion", 0)  # a string in v1, an integer in v2
    if not (type(engine) is int and engine >= 0) and not (
        type(engine) is str and len(engine) <= _LONGEST_VERSION
    ):
        raise _Wrong("type", "/engineVersion")
    return extra


def _check_content(
    name: str, payload: object, extra: dict[str, object], vocabulary: Collection[str] | None
) -> None:
    """Refuse what a verdict, or the criteria of a decision, may not carry."""
    if name == "agent.verified":
        fault = content_free.fault_in_verdict(payload, vocabulary)
        fault = fault or content_free.fault_in_extra(extra)
    elif name in _FIELD_WITH_DECISION:
        fault = content_free.fault_in_decision(payload, _FIELD_WITH_DECISION[name])
    else:
        return
    if fault:
        raise _Wrong(*fault, holds=True)


def _packed(facts: dict[str, object]) -> bytes:
    """The canonical form of an event: equal for equal facts, through whichever door they come.

    Keys are sorted, the name is the v1 name, the timestamp is the instant, and an optional field
    that is null is one that was not sent. Digests are stored and compared for as long as a run is
    kept: another form would turn every repeat into a conflict.
    """
    return orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)


def _kept_payload(name: str, payload: object, limits: Limits) -> object:
    packed = orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)
    if len(packed) <= limits.payload_bytes:
        return payload
    try:
        return remains(name, payload, packed)
    except FactsTooLarge:
        raise _Wrong("payload_too_large", "/payload", error=PAYLOAD_TOO_LARGE, holds=True) from None


def _kept_extra(extra: dict[str, object], limits: Limits) -> dict[str, object]:
    packed = orjson.dumps(extra, option=orjson.OPT_SORT_KEYS)
    return extra if len(packed) <= limits.payload_bytes else omission(packed)
