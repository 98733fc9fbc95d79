"""What can still be told about an event that is not taken: whose it was, and whether it may matter.

Reads a document that broke a rule, so nothing about it is certain. An id that is written twice, or
could not be an id, is not told.
"""

from collections.abc import Iterator

from runs.domain.codemap import CANONICAL, is_vendor_type
from runs.domain.content_free import VERDICTS, digest_of_target
from runs.domain.ids import fault_in_event_id, fault_in_run_id
from runs.domain.limits import Limits
from runs.domain.near_misses import may_mean_verdict
from runs.domain.refusals import Refused
from runs.domain.strict_json import Doubled

MAX_SEQUENCE = 2**53 - 1


def turned_away(
    document: object,
    *,
    error: str,
    reason: str,
    pointer: str,
    limits: Limits,
    holds: bool | None = None,
) -> Refused:
    """The refusal of `document`, with its identity as far as it can be read.

    Args:
        document: the event as sent, or whatever stood in its place.
        error: OpenWOP error code.
        reason: the rule it broke.
        pointer: where, from the event's root.
        limits: as it was read under.
        holds: whether the run must be held; None to tell from the document.
    """
    run_id = _only(document, "runId")
    event_id = _only(document, "eventId")
    return Refused(
        error=error,
        reason=reason,
        pointer=pointer,
        run_id=None if fault_in_run_id(run_id, limits.id_chars) else str(run_id),
        event_id=None if fault_in_event_id(event_id, limits.id_chars) else str(event_id),
        sequence=_sequence(document),
        verdict=_verdict(document),
        target_digest=digest_of_target(_said(document, "target")),
        holds=_may_be_verdict(document) if holds is None else holds,
    )


def is_sequence(value: object) -> bool:
    """Whether a value can be an event's number: an integer in 0 … 2^53−1, never a flag."""
    return type(value) is int and 0 <= value <= MAX_SEQUENCE


def _sequence(document: object) -> int | None:
    for name in ("sequence", "seq"):
        value = _only(document, name)
        if isinstance(value, int) and is_sequence(value):
            return value
    return None


def _verdict(document: object) -> str | None:
    said = _said(document, "verdict")
    return said if isinstance(said, str) and said in VERDICTS else None


def _said(document: object, key: str) -> object:
    """What the payload says under a key, if it says it once."""
    return _only(_only(document, "payload"), key)


def _may_be_verdict(document: object) -> bool:
    names = [name for name in _written(document, "type") if isinstance(name, str)]
    if any(may_mean_verdict(name) for name in names):
        return True
    if any(name in CANONICAL or is_vendor_type(name) for name in names):
        return False
    payloads = [*_written(document, "payload"), *_written(document, "data")]
    return any(isinstance(each, dict) and "verdict" in each for each in payloads)


def _only(document: object, key: str) -> object:
    """The value of a key that is written once."""
    values = list(_written(document, key))
    return values[0] if len(values) == 1 else None


def _written(document: object, key: str) -> Iterator[object]:
    """Every value that the text gives the key, also where it gives several."""
    if isinstance(document, Doubled):
        yield from (value for name, value in document.pairs if name == key)
    elif isinstance(document, dict) and key in document:
        yield document[key]
