"""What a verified delivery tells: an event to take, or that there is one, or a word to repeat.

Bodies come wrapped as `{runId, workspaceId, event}`, as the bare event, or as a CloudEvent with the
event as its data. Most live hosts leave out the event's id or its payload: such a delivery is a
bell, and the run is read from its host instead.

Source: OpenWOP webhooks.md §Delivery; cloudevents-mapping.md; deliveries recorded from live hosts.
"""

from dataclasses import dataclass

from runs.domain.batch import item_at
from runs.domain.careful_json import Examined
from runs.domain.ids import fault_in_run_id
from runs.domain.limits import Limits
from runs.domain.near_misses import may_mean_verdict
from runs.domain.refusals import VALIDATION_ERROR, BodyRefused, Refused
from runs.domain.strict_json import DEEPEST_READABLE, JsonRefused, examine
from runs.domain.turned_away import is_sequence

_ABOUT_A_RUN = frozenset({"runId", "event", "eventId", "data"})
_LONGEST_CHALLENGE = 512

MEDIA_TYPES = frozenset({"application/json", "application/cloudevents+json"})


@dataclass(frozen=True, slots=True)
class Told:
    """An event, still to be read, or why it cannot be."""

    item: object | Refused
    run_id: str
    """As far as it could be read; empty otherwise."""
    sequence: int | None


@dataclass(frozen=True, slots=True)
class Bell:
    """Word that a run has an event, without the event."""

    run_id: str
    sequence: int | None
    may_be_verdict: bool
    """The event could be one that closes a gate."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A host that registers us wants to hear its own word back. Source: OpenWOP RFC 0201."""

    word: str


def delivery_of(raw: bytes, limits: Limits) -> Told | Bell | Challenge:
    """What the body of a delivery tells.

    Raises:
        BodyRefused: nothing of it can be taken.
    """
    try:
        body = examine(raw, max_depth=DEEPEST_READABLE)
    except JsonRefused as refused:
        raise BodyRefused(VALIDATION_ERROR, refused.reason, refused.pointer) from None
    if (challenge := _challenge_in(body)) is not None:
        return challenge
    path, event = _event_in(body.document)
    item = item_at(path, event, body, limits)
    if isinstance(item, Refused) or not isinstance(item, dict):
        refused_run = item.run_id if isinstance(item, Refused) else None
        return Told(item, refused_run or "", None)
    if path == ("event",):
        _check_run(body, item)
    return _told(item, limits)


def _challenge_in(body: Examined) -> Challenge | None:
    document = body.document
    if body.faults or not isinstance(document, dict) or _ABOUT_A_RUN & document.keys():
        return None
    word = document.get("challenge")
    is_fit = isinstance(word, str) and word.isprintable() and 0 < len(word) <= _LONGEST_CHALLENGE
    return Challenge(str(word)) if is_fit else None


def _event_in(document: object) -> tuple[tuple[str, ...], object]:
    """Find the event in a body, with its place.

    Raises:
        BodyRefused: it has none.
    """
    if not isinstance(document, dict):
        raise BodyRefused(VALIDATION_ERROR, "json_not_object")
    if "specversion" in document:
        path: tuple[str, ...] = ("data",)
    elif "event" in document and not {"type", "eventId"} & document.keys():
        path = ("event",)
    else:
        return (), document
    if path[0] not in document:
        raise BodyRefused(VALIDATION_ERROR, "required", f"/{path[0]}")
    event = document[path[0]]
    if not isinstance(event, dict):
        raise BodyRefused(VALIDATION_ERROR, "type", f"/{path[0]}")
    return path, event


def _check_run(body: Examined, event: dict[str, object]) -> None:
    """Refuse a wrapper that names another run than its event does."""
    wrapper = body.document if isinstance(body.document, dict) else {}
    if "runId" not in wrapper:
        raise BodyRefused(VALIDATION_ERROR, "required", "/runId")
    if wrapper["runId"] != event.get("runId"):
        raise BodyRefused(VALIDATION_ERROR, "run_id_mismatch", "/runId")


def _told(event: dict[str, object], limits: Limits) -> Told | Bell:
    run_id, name = event.get("runId"), event.get("type")
    sequence = event.get("sequence", event.get("seq"))
    known = sequence if type(sequence) is int and is_sequence(sequence) else None
    if "eventId" in event and "payload" in event:
        return Told(event, run_id if type(run_id) is str else "", known)
    if fault := fault_in_run_id(run_id, limits.id_chars):
        reason = fault if "runId" in event else "required"
        raise BodyRefused(VALIDATION_ERROR, reason, "/runId")
    return Bell(str(run_id), known, type(name) is str and may_mean_verdict(name))
