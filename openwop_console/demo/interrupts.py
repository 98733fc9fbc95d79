"""What a host may ask of a person, and what an answer does to the question.

Pure rules over values: no network, no clock. How a dialect spells question and answer is not known
here. Source: OpenWOP suspend-request.schema.json and interrupt.md, interrupt-profiles.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import jsonschema_rs


class Kind(StrEnum):
    """The interrupt kinds that scripts and recordings use."""

    APPROVAL = "approval"
    CLARIFICATION = "clarification"
    EXTERNAL_EVENT = "external-event"
    CONVERSATION = "conversation"
    LOW_CONFIDENCE = "low-confidence"


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a person, as the published schema describes it."""

    kind: Kind
    node_id: str
    data: Mapping[str, Any]
    resume_schema: Mapping[str, Any] | None = None
    recorded_data: Mapping[str, Any] | None = None
    """The data as the recorded host spelled them; used when replaying in that host's dialect."""
    waiting_status: str | None = None
    """The run status the recorded host showed, where it differs from what the kind implies."""
    cause: str | None = None
    """eventId of the event that led here."""


class Outcome(StrEnum):
    """What an accepted answer means for the interrupt."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REFINED = "refined"


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's say on an approval."""

    action: str
    voter: str | None
    at: str


@dataclass(frozen=True, slots=True)
class Habits:
    """Where hosts differ in what they accept as an answer."""

    counts_repeat_votes: bool = False
    """A second vote of one person counts again."""
    reads_event_payload: bool = True
    """An external event may carry its correlation keys inside `eventPayload`."""
    names_questions: bool = True
    """Answers must use the ids of the questions; some hosts ask one question without an id."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer that fits its question."""

    outcome: Outcome
    votes: Sequence[Vote] = field(default_factory=tuple)


class AnswerRefused(Exception):
    """An answer does not fit its question; the interrupt stays open."""


class ActionNotOffered(AnswerRefused):
    """The action is not one of those the interrupt lists."""

    def __init__(self, allowed: Sequence[str], received: object) -> None:
        super().__init__(allowed, received)
        self.allowed = list(allowed)
        self.received = received

    def __str__(self) -> str:
        return f"resumeValue.action must be one of {', '.join(self.allowed)}."


class CorrelationMismatch(AnswerRefused):
    """An external event does not carry the value a correlation key asks for."""

    def __init__(self, key: str, expected: object, received: object, *, is_absent: bool) -> None:
        super().__init__(key, expected, received)
        self.key = key
        self.expected = expected
        self.received = received
        self.is_absent = is_absent

    def __str__(self) -> str:
        return f"The external event does not match correlation key {self.key!r}."


class AnswersMissing(AnswerRefused):
    """A clarification came without an answer to each of its questions."""

    def __str__(self) -> str:
        return "resumeValue.answers must hold a text for each question."


class SchemaViolated(AnswerRefused):
    """The answer does not satisfy the interrupt's resumeSchema."""

    def __str__(self) -> str:
        return "resumeValue does not satisfy resumeSchema."


def judge(ask: Ask, value: object, *, votes: Sequence[Vote], at: str, habits: Habits) -> Judged:
    """Say what an answer does to an interrupt.

    Args:
        ask: the question.
        value: the `resumeValue` as received.
        votes: the votes already cast on it.
        at: ISO time to write on a vote.
        habits: what the host that is played accepts.

    Raises:
        AnswerRefused: it does not fit; nothing changes.
    """
    given = value if isinstance(value, dict) else {}
    match ask.kind:
        case Kind.APPROVAL:
            return _approval(ask, given, votes, at, habits)
        case Kind.LOW_CONFIDENCE:
            was_rejected = given.get("rejected") is True or given.get("action") == "reject"
            outcome = Outcome.REJECTED if was_rejected else Outcome.ACCEPTED
            return Judged(outcome, (Vote(str(given.get("action", "resolve")), None, at),))
        case Kind.EXTERNAL_EVENT:
            _check_correlation(ask, given, habits)
            return Judged(Outcome.ACCEPTED, (Vote("external-event", None, at),))
        case Kind.CLARIFICATION:
            _check_answers(ask, given, habits)
            return Judged(Outcome.ACCEPTED, (Vote("resolve", None, at),))
        case Kind.CONVERSATION:
            return Judged(Outcome.ACCEPTED, (Vote("resolve", None, at),))


def check_resume_schema(ask: Ask, value: object) -> None:
    """Refuse a value that misses the interrupt's own schema. Raises SchemaViolated."""
    schema = ask.resume_schema
    if schema is not None and not jsonschema_rs.is_valid(dict(schema), value):
        raise SchemaViolated


def _approval(
    ask: Ask, value: Mapping[str, Any], votes: Sequence[Vote], at: str, habits: Habits
) -> Judged:
    allowed = [str(action) for action in ask.data.get("actions", ())]
    action = value.get("action")
    if allowed and action not in allowed:
        raise ActionNotOffered(allowed, action)
    voter = value.get("voter") or value.get("decidedBy")
    others = [vote for vote in votes if _stays(vote, voter, habits)]
    cast = [*others, Vote(str(action or "accept"), voter if isinstance(voter, str) else None, at)]
    return Judged(_tally(ask, cast), tuple(cast))


def _stays(vote: Vote, voter: object, habits: Habits) -> bool:
    return habits.counts_repeat_votes or voter is None or vote.voter != voter


def _tally(ask: Ask, votes: Sequence[Vote]) -> Outcome:
    """Source: interrupt-profiles.md, openwop-interrupt-quorum; `ask` leaves the question open."""
    if votes[-1].action == "refine":
        return Outcome.REFINED
    required = int(ask.data.get("requiredApprovals", 1))
    rejects = sum(vote.action == "reject" for vote in votes)
    needs_majority = ask.data.get("rejectionPolicy") == "majority"
    if rejects > (required // 2 if needs_majority else 0):
        return Outcome.REJECTED
    accepts = sum(vote.action not in ("reject", "ask") for vote in votes)
    return Outcome.ACCEPTED if accepts >= required else Outcome.PENDING


def _check_correlation(ask: Ask, value: Mapping[str, Any], habits: Habits) -> None:
    """Hosts match the correlation keys at the top level; the spec puts them in `eventPayload`."""
    payload = value.get("eventPayload") if habits.reads_event_payload else None
    carried = {**payload, **value} if isinstance(payload, dict) else value
    for key, expected in ask.data.get("correlation", {}).items():
        if carried.get(key) != expected:
            raise CorrelationMismatch(key, expected, carried.get(key), is_absent=key not in carried)


def _check_answers(ask: Ask, value: Mapping[str, Any], habits: Habits) -> None:
    """Answers come as an object (live hosts, event schema) or as a list (interrupt.md)."""
    answers = value.get("answers")
    if isinstance(answers, list):
        answers = {item.get("id"): item.get("answer") for item in answers if isinstance(item, dict)}
    if not isinstance(answers, dict) or not answers:
        raise AnswersMissing
    asked = ask.data.get("questions", ()) if habits.names_questions else ()
    wanted = [str(question["id"]) for question in asked]
    texts = [answers.get(name) for name in wanted] or list(answers.values())
    if not all(isinstance(text, str) and text for text in texts):
        raise AnswersMissing
