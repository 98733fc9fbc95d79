"""What hosts say about themselves and their runs, read from the bytes of their answers.

Strictly as JSON, for two readers must not disagree; tolerantly as documents, for hosts differ in
their words. Events come out unread, to go the way that every event goes.

Source: OpenWOP rest-endpoints.md, events.md, capabilities.md; the answers of five live hosts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from runs.domain.batch import Batch, items_at
from runs.domain.careful_json import Examined
from runs.domain.ids import fault_in_run_id
from runs.domain.limits import Limits
from runs.domain.projection import RunStatus, status_of
from runs.domain.refusals import VALIDATION_ERROR, BodyRefused, Refused
from runs.domain.sse import Frame
from runs.domain.strict_json import DEEPEST_READABLE, JsonRefused, examine, parse

_ANY_NUMBER = 2**31
_NOT_EVENTS = frozenset({"state.snapshot"})


class Unreadable(Exception):
    """A host's answer is not the document that was asked for."""


@dataclass(frozen=True, slots=True)
class Log:
    """Events of a run as a host gave them."""

    events: Sequence[object | Refused]
    newest: int
    """Highest sequence among them; -1 for none."""
    has_bells: bool = False
    """Some came without their id or payload: there is more to be read than was sent."""

    def above(self, cursor: int | None) -> list[object | Refused]:
        """Return the events above a cursor: hosts that ignore it repeat what is held."""
        return [each for each in self.events if cursor is None or _sequence(each) > cursor]


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One run in a host's list."""

    run_id: str
    status: RunStatus


@dataclass(frozen=True, slots=True)
class RunsPage:
    """One page of a host's runs."""

    runs: Sequence[ListedRun]
    next_cursor: str


def log_in(raw: bytes, *, run_id: str, limits: Limits) -> Log:
    """The events in the answer to a poll.

    Args:
        raw: the whole answer.
        run_id: which run was asked for; events of any other are refused.
        limits: what is taken of one event.

    Raises:
        Unreadable: the answer is not one.
    """
    body = _examined(raw)
    document = body.document
    events = document.get("events") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(events, list):
        raise Unreadable
    try:
        found = items_at(("events",), events, body, _unbounded(limits)) if events else None
    except BodyRefused:
        raise Unreadable from None
    return _log(found, run_id)


def log_in_frame(frame: Frame, *, run_id: str, limits: Limits) -> Log:
    """The events in one frame of a run's stream: one, a batch of them, or none.

    Raises:
        Unreadable: the frame is not one.
    """
    if frame.name in _NOT_EVENTS:
        return Log((), -1)
    body = _examined(frame.data)
    events = body.document if isinstance(body.document, list) else None
    try:
        if events is None:
            return _log(items_at((), [body.document], _as_list(body), limits), run_id)
        return _log(items_at((), events, body, _unbounded(limits)) if events else None, run_id)
    except BodyRefused:
        raise Unreadable from None


def runs_in(raw: bytes, *, limits: Limits) -> RunsPage:
    """The runs in a page of a host's list; what is no run is passed over.

    Raises:
        Unreadable: the answer is not a list of runs.
    """
    document = document_in(raw)
    runs = document.get("runs")
    if not isinstance(runs, list):
        raise Unreadable
    cursor = document.get("nextCursor")
    listed = [
        ListedRun(each["runId"], status_of(each.get("status")))
        for each in runs
        if isinstance(each, dict) and fault_in_run_id(each.get("runId"), limits.id_chars) is None
    ]
    return RunsPage(listed, cursor if isinstance(cursor, str) and len(cursor) <= 512 else "")


def document_in(raw: bytes) -> dict[str, Any]:
    """The JSON object that an answer is.

    Raises:
        Unreadable: it is none, or two readers could disagree about it.
    """
    try:
        document = parse(raw)
    except JsonRefused:
        raise Unreadable from None
    if not isinstance(document, dict):
        raise Unreadable
    return document


def major_of(document: dict[str, Any]) -> int | None:
    """The protocol major to speak to a host, by its discovery document; None: it does not say.

    Where a host speaks both, it is v1: the path that every live host proves.
    """
    spoken = document.get("protocolVersions")
    said = [document.get("protocolVersion"), *(spoken if isinstance(spoken, list) else [])]
    majors = {each.partition(".")[0] for each in said if isinstance(each, str)}
    return 1 if "1" in majors else 2 if "2" in majors else None


def _examined(raw: bytes) -> Examined:
    try:
        return examine(raw, max_depth=DEEPEST_READABLE)
    except JsonRefused:
        raise Unreadable from None


def _as_list(body: Examined) -> Examined:
    """Return a document as the only one of a list, its faults with it."""
    faults = tuple(replace(each, path=(0, *each.path)) for each in body.faults)
    return Examined([body.document], body.depth + 1, faults)


def _unbounded(limits: Limits) -> Limits:
    """Return limits for a list that we asked for: it is taken in parts."""
    return replace(limits, batch_events=_ANY_NUMBER)


def _log(found: Batch | None, run_id: str) -> Log:
    events: list[object | Refused] = []
    newest = -1
    has_bells = False
    for _, item in found.items if found else ():
        if isinstance(item, Refused) or not isinstance(item, dict):
            events.append(item)
            continue
        newest = max(newest, _number(item))
        if "eventId" not in item or "payload" not in item:
            has_bells = True
        elif item.get("runId") != run_id:
            events.append(Refused(VALIDATION_ERROR, "run_id_mismatch", "/runId"))
        else:
            events.append(item)
    return Log(events, newest, has_bells)


def _sequence(event: object | Refused) -> float:
    """Return an event's number; one that cannot be told is above every cursor."""
    if isinstance(event, Refused):
        return math.inf if event.sequence is None else event.sequence
    return _number(event) if isinstance(event, dict) else math.inf


def _number(event: dict[str, object]) -> int:
    sequence = event.get("sequence", event.get("seq"))
    return sequence if type(sequence) is int else -1
