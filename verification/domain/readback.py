"""What a run's log says about an interrupt that a host calls closed: was it this decision?

Asked after a 404, 409 or 410. Hosts record resolutions in many ways: in full, as the action alone,
as a node's output, or not at all. What is not recorded is not guessed: the answer is then
`unknown`, and nobody is told that the decision arrived.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from runs.domain.log import LogLine
from verification.domain.effect import EffectKind, Suspension, effects, payload_of
from verification.domain.frozen import FrozenBody, NotCanonical, canonical


class ReadBack(StrEnum):
    """The answer."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"
    """The interrupt is closed; what closed it is not recorded."""
    OVERTAKEN = "overtaken"
    """The run was cancelled or the time ran out; nobody's decision closed it."""
    OPEN = "open"
    """No line closes it."""
    UNREAD = "unread"
    """The log could not be read."""


_STAMPED = frozenset({"decidedBy", "resolvedBy", "answeredBy", "resolvedAt", "answeredAt"})
"""Keys that a host fills in from its own knowledge."""
_OUTCOMES = {"accepted": "accept", "rejected": "reject", "edit": "edit-accept"}
_PLAIN = frozenset({"accept", "reject"})
"""Actions that say everything there is to say."""
_KNOWN = _PLAIN | {"refine", "edit-accept"}
_ABSENT = object()


def compare(lines: Iterable[LogLine], suspension: Suspension, sent: FrozenBody) -> ReadBack:
    """Compare what closed a pause with the decision that was sent.

    Args:
        lines: the run's log from the pause on.
        suspension: the pause.
        sent: the frozen resolve body.
    """
    ours = sent.resume_value
    closing = [effect for effect in effects(lines, suspension) if effect.kind in _CLOSING]
    if not closing:
        return ReadBack.OPEN
    if closing[0].kind is EffectKind.OVERTAKEN:
        return ReadBack.OVERTAKEN
    judged = (_judge(effect.line, ours) for effect in closing)
    return next((found for found in judged if found is not ReadBack.UNKNOWN), ReadBack.UNKNOWN)


_CLOSING = frozenset({EffectKind.RESUMED, EffectKind.ENDED, EffectKind.OVERTAKEN})


def _judge(line: LogLine, ours: Any) -> ReadBack:
    payload = payload_of(line)
    recorded = _recorded_value(line.type, payload)
    if recorded is not _ABSENT:
        return ReadBack.EQUAL if _says_the_same(recorded, ours) else ReadBack.DIFFERENT
    if line.type == "node.completed":
        return _judge_output(payload, ours)
    return _judge_action(_recorded_action(payload), ours)


def _recorded_value(type_: str, payload: Mapping[str, Any]) -> Any:
    """Return the resume value that a line records in full."""
    if "resumeValue" in payload:
        return payload["resumeValue"]
    if type_ == "approval.received" and "decidedAt" in payload:
        return {key: value for key, value in payload.items() if key not in {"nodeId", "comment"}}
    if type_ == "clarification.resolved" and "answers" in payload:
        return {"answers": payload["answers"]}
    return _ABSENT


def _recorded_action(payload: Mapping[str, Any]) -> str | None:
    """Return the action that a line records without the rest."""
    error = payload.get("error")
    code = error.get("code") if isinstance(error, Mapping) else payload.get("code")
    if code in {"interrupt_rejected", "approval_rejected"}:
        return "reject"
    said = payload.get("action") or payload.get("outcome")
    return _OUTCOMES.get(said, said) if isinstance(said, str) else None


def _judge_output(payload: Mapping[str, Any], ours: Any) -> ReadBack:
    """Judge a node's output: some hosts hand the resume value on as it is."""
    outputs = payload.get("outputs")
    output = outputs.get("output") if isinstance(outputs, Mapping) else None
    if not isinstance(output, Mapping) or not isinstance(ours, Mapping) or not output:
        return _judge_action(_recorded_action(payload), ours)
    if _says_the_same(output, ours):
        return ReadBack.EQUAL
    if output.get("action") in _KNOWN and ours.get("action") in _KNOWN:
        is_anothers = "decidedAt" in output and _bare(output)["decidedAt"] != _instant(
            ours.get("decidedAt")
        )
        return ReadBack.DIFFERENT if is_anothers else _judge_action(output["action"], ours)
    is_all_ours = set(output) - _STAMPED <= set(ours) and output.keys() & ours.keys()
    return ReadBack.DIFFERENT if is_all_ours else ReadBack.UNKNOWN


def _judge_action(recorded: str | None, ours: Any) -> ReadBack:
    sent = ours.get("action") if isinstance(ours, Mapping) else None
    if recorded not in _KNOWN or sent not in _KNOWN:
        return ReadBack.UNKNOWN
    if recorded != sent:
        return ReadBack.DIFFERENT
    return ReadBack.EQUAL if sent in _PLAIN else ReadBack.UNKNOWN


def _says_the_same(recorded: Any, ours: Any) -> bool:
    """Compare two resume values, leaving out what hosts stamp and how they spell instants."""
    if isinstance(recorded, Mapping) and isinstance(ours, Mapping):
        recorded, ours = _bare(recorded), _bare(ours)
        if "decidedAt" not in recorded:
            ours.pop("decidedAt", None)
    try:
        return canonical(recorded) == canonical(ours)
    except NotCanonical:
        return False


def _bare(value: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: part for key, part in value.items() if key not in _STAMPED}
    if "decidedAt" in kept:
        kept["decidedAt"] = _instant(kept["decidedAt"])
    return kept


def _instant(value: object) -> object:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return value
    return value if moment.tzinfo is None else moment.timestamp()
