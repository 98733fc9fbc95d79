"""What a person submits about an escalation, read strictly.

One list of the actions there are, and one reader that turns a submitted JSON object into a
`Decision` or says where it is wrong. It refuses unknown keys, so that nobody can pass along who
decided, where to deliver, or a resume value of their own making: the Console fills those in.
Whether the action is offered, and to whom, is for `choices` and `lifecycle` to say.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from verification.domain.errors import VerificationError

MAX_TEXT = 10_000
"""Characters of a reason or a feedback text."""


class Action(StrEnum):
    """What a person can do with an escalation. Stored; add, never repurpose."""

    UPHOLD = "uphold"
    SEND_BACK = "send_back"
    OVERRIDE = "override"
    CONFIRM = "confirm"
    DISPUTE = "dispute"
    RELEASE_HOLD = "release_hold"
    CANNOT_DECIDE = "cannot_decide"
    ANSWER = "answer"
    ACCEPT = "accept"
    REJECT = "reject"
    REFINE = "refine"
    EDIT_ACCEPT = "edit-accept"
    ASK = "ask"
    RATIFY = "ratify"
    REPLACE = "replace"
    REPORT_EVENT = "report_event"
    REPLY = "reply"
    CLOSE_CONVERSATION = "close_conversation"
    AUTHORIZED = "authorized"
    DECLINED = "declined"


LETS_THROUGH = frozenset(
    {Action.OVERRIDE, Action.RELEASE_HOLD, Action.ACCEPT, Action.EDIT_ACCEPT, Action.RATIFY}
)
"""Actions that open what was shut: four eyes and conflicts of interest are about these."""

LEAVES_OPEN = frozenset({Action.CANNOT_DECIDE, Action.ASK, Action.REPLY})
"""Actions after which somebody still has to decide."""


class Scope(StrEnum):
    """How much of an artifact a refinement is about. Source: OpenWOP interrupt.md, Approval."""

    WHOLE = "whole"
    SECTION = "section"
    ITEMS = "items"


@dataclass(frozen=True, slots=True)
class Refinement:
    """What should change about an artifact, as `refineFeedback` carries it."""

    text: str = ""
    scope: Scope = Scope.WHOLE
    section_path: str = ""
    item_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided, before anyone checked whether they may."""

    action: Action
    reason: str = ""
    """Why, for colleagues and auditors. Stays in the Console."""
    feedback: str = ""
    """What the host is told."""
    refinement: Refinement | None = None
    answers: Mapping[str, Any] = field(default_factory=dict)
    """Values by field name, already typed."""
    edited: Any = None
    """The artifact or decision as the person changed it."""


class UnreadableDecision(VerificationError):
    """A submitted decision is not of the form it must have. Never carries the value."""

    def __init__(self, pointer: str, reason: str) -> None:
        self.pointer = pointer
        self.reason = reason
        super().__init__(f"The decision cannot be read: {reason} at {pointer or '/'}.")


_ACTIONS = frozenset(action.value for action in Action)
_SCOPES = frozenset(scope.value for scope in Scope)
_KEYS = frozenset(
    {"action", "expectedVersion", "reason", "feedback", "refineFeedback", "answers"}
    | {"editedArtifactData", "seenPosition", "seenDigest"}
)
_REFINE_KEYS = frozenset({"scope", "sectionPath", "itemIds", "tags", "text"})


def read_decision(document: object) -> Decision:
    """Return the decision that a JSON object states.

    `expectedVersion`, `seenPosition` and `seenDigest` belong to what the person saw; they are
    allowed here and read by `read_seen`.

    Raises:
        UnreadableDecision: with the RFC 6901 pointer and a reason word.
    """
    given = _closed(document, "", _KEYS)
    refinement = given.get("refineFeedback")
    answers = given.get("answers", {})
    if not isinstance(answers, Mapping):
        raise UnreadableDecision("/answers", "type")
    return Decision(
        action=read_action(given.get("action")),
        reason=_text(given, "reason", ""),
        feedback=_text(given, "feedback", ""),
        refinement=None if refinement is None else _refinement(refinement),
        answers=dict(answers),
        edited=given.get("editedArtifactData"),
    )


def read_action(value: object) -> Action:
    """Return the action of that exact name; `approve`, `edit` and `timeout` are none."""
    if not isinstance(value, str) or value not in _ACTIONS:
        raise UnreadableDecision("/action", "action_unknown")
    return Action(value)


def read_seen(document: Mapping[str, Any]) -> tuple[int, int | None, str | None]:
    """Return the version, position and digest that the person had on screen.

    The version is required; a whole number, not a string, float or boolean.
    """
    version = document.get("expectedVersion")
    if type(version) is not int or version < 0:
        raise UnreadableDecision("/expectedVersion", "type")
    position = document.get("seenPosition")
    if position is not None and (type(position) is not int or position < 0):
        raise UnreadableDecision("/seenPosition", "type")
    digest = document.get("seenDigest")
    if digest is not None and not isinstance(digest, str):
        raise UnreadableDecision("/seenDigest", "type")
    return version, position, digest


def _refinement(value: object) -> Refinement:
    given = _closed(value, "/refineFeedback", _REFINE_KEYS)
    scope = given.get("scope", Scope.WHOLE.value)
    if not isinstance(scope, str) or scope not in _SCOPES:
        raise UnreadableDecision("/refineFeedback/scope", "enum")
    return Refinement(
        text=_text(given, "text", "/refineFeedback"),
        scope=Scope(scope),
        section_path=_text(given, "sectionPath", "/refineFeedback"),
        item_ids=_texts(given, "itemIds"),
        tags=_texts(given, "tags"),
    )


def _closed(value: object, pointer: str, keys: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnreadableDecision(pointer, "type")
    if set(value) - keys:
        raise UnreadableDecision(pointer, "unexpected_key")
    return value


def _text(given: Mapping[str, Any], key: str, pointer: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise UnreadableDecision(f"{pointer}/{key}", "type")
    return checked_text(value, f"{pointer}/{key}")


def _texts(given: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = given.get(key, [])
    pointer = f"/refineFeedback/{key}"
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise UnreadableDecision(pointer, "type")
    return tuple(checked_text(value, pointer) for value in values)


def checked_text(value: str, pointer: str) -> str:
    """Return the text without blanks at its ends; refuse what cannot be stored or is too long."""
    if "\x00" in value:
        raise UnreadableDecision(pointer, "nul_character")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise UnreadableDecision(pointer, "lone_surrogate")
    if len(value) > MAX_TEXT:
        raise UnreadableDecision(pointer, "too_long")
    return value.strip()
