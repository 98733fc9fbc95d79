"""Which decisions an escalation offers a person, and what each asks them to fill in.

Made from the reasons the escalation is there, the gate's state, and what the host's interrupt
takes; drawn by pages and listed by the API from the same values. An action that is not in the list
is refused. Who may choose it is for `lifecycle`; how it reaches the host is for `resume`.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from verification.domain.answers import check_complete
from verification.domain.decisions import LEAVES_OPEN, Action, Decision
from verification.domain.errors import VerificationError
from verification.domain.fields import (
    WHOLE,
    FieldKind,
    FormField,
    fields_of_schema,
    text_field,
)
from verification.domain.interrupt_request import InterruptKind, InterruptRequest
from verification.domain.resume import GATE_ACTIONS, NotOffered, meaning_at, offered_by


class Tone(StrEnum):
    """How an action is drawn."""

    NEUTRAL = "neutral"
    GOOD = "good"
    CAUTION = "caution"
    DANGER = "danger"


class Need(StrEnum):
    """Whether a text is asked for."""

    NO = "no"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Choice:
    """One action a person can choose."""

    action: Action
    label: str
    tone: Tone
    help: str
    reason: Need = Need.OPTIONAL
    """Why; stays in the Console."""
    feedback: Need = Need.NO
    """Goes to the host."""
    fields: tuple[FormField, ...] = ()
    is_deliberate: bool = False
    """Never one tap: the reason is typed first."""
    goes_to_host: bool = False
    leaves_open: bool = False
    """Somebody still has to decide afterwards."""


class TextRequired(VerificationError):
    """The action asks for a reason or feedback that was not given."""

    def __init__(self, action: Action, which: str) -> None:
        self.action = action
        self.which = which
        article = "a " if which == "reason" else ""
        super().__init__(f"This action needs {article}{which}.")


ABOUT_THE_RESULT = frozenset(
    {"fail", "low_confidence", "revise_limit", "violation", "consensus_rejected"}
)
"""Reasons that ask a person about a result, whatever its gate."""
SHUT = frozenset({"blocked", "revise_asked", "in_review"})
"""Gate states that a person can open or confirm."""
HELD = "unknown"
PASSED = "passed"
CLOSED = frozenset({"passed", "superseded", "overridden", "upheld"})
"""Gate states in which nothing is left to say about a failed result."""


def choices(
    reasons: Collection[str], gate_state: str | None, interrupt: InterruptRequest | None
) -> tuple[Choice, ...]:
    """Return what a person can do with an escalation, the most cautious first.

    Args:
        reasons: why the escalation is there (`fail`, `ask_user`, `held` …).
        gate_state: of its target; None when it has none.
        interrupt: the host's open pause that it is about; None when the run does not wait.
    """
    offered = list(_about_the_gate(frozenset(reasons), gate_state, interrupt))
    said = {meaning_at(choice.action, interrupt) for choice in offered} if interrupt else set()
    is_a_fallback = interrupt is not None and offered_by(interrupt) == (Action.ANSWER,)
    if interrupt is not None:
        for action in offered_by(interrupt):
            if action not in said or (is_a_fallback and not offered):
                offered.append(_of_interrupt(action, interrupt))
    elif "ask_user" in reasons:
        offered.append(replace(_BASE[Action.ANSWER], fields=(text_field("answer", "Answer"),)))
    return (*offered, _BASE[Action.CANNOT_DECIDE])


def questions_of(interrupt: InterruptRequest) -> tuple[FormField, ...]:
    """Return the questions that a person answers, with the fields for them; none: no answer."""
    return _questions(interrupt) if Action.ANSWER in offered_by(interrupt) else ()


def check_chosen(available: Sequence[Choice], decision: Decision) -> Choice:
    """Return the choice that the decision makes, complete in texts and answers.

    Raises:
        NotOffered: the action is not available.
        TextRequired: a reason or feedback is missing.
        UnreadableDecision: an answer is missing or has no field.
    """
    for choice in available:
        if choice.action is decision.action:
            break
    else:
        raise NotOffered(decision.action, tuple(choice.action for choice in available))
    if choice.reason is Need.REQUIRED and not decision.reason:
        raise TextRequired(choice.action, "reason")
    is_told = decision.feedback or decision.refinement is not None
    if choice.feedback is Need.REQUIRED and not is_told:
        raise TextRequired(choice.action, "feedback")
    if decision.edited is None:
        check_complete(choice.fields, decision.answers)
    return choice


def _about_the_gate(
    reasons: frozenset[str], gate_state: str | None, interrupt: InterruptRequest | None
) -> Iterable[Choice]:
    if gate_state == HELD or "held" in reasons:
        keep = replace(_BASE[Action.UPHOLD], label="Keep held", help="It stays blocked.")
        if _can_say(Action.UPHOLD, interrupt):
            yield _for_host(keep, interrupt)
        yield _BASE[Action.RELEASE_HOLD]
        return
    if "audit_sample" in reasons and gate_state in {PASSED, None}:
        yield _BASE[Action.CONFIRM]
        yield _BASE[Action.DISPUTE]
        return
    if not _asks_about_the_result(reasons, gate_state, interrupt):
        return
    for action in (Action.UPHOLD, Action.SEND_BACK, Action.OVERRIDE):
        if not (action is Action.SEND_BACK and "violation" in reasons) and _can_say(
            action, interrupt
        ):
            yield _for_host(_worded(action, reasons), interrupt)


def _asks_about_the_result(
    reasons: frozenset[str], gate_state: str | None, interrupt: InterruptRequest | None
) -> bool:
    if gate_state in SHUT:
        return True
    about = reasons & ABOUT_THE_RESULT
    if interrupt is not None and about == {"low_confidence"}:
        return False  # the interrupt's own actions say it better
    return bool(about) and gate_state not in CLOSED


def _can_say(action: Action, interrupt: InterruptRequest | None) -> bool:
    """Say whether a gate action does not leave a waiting host without the answer it needs."""
    if interrupt is None:
        return True
    means = meaning_at(action, interrupt)
    return means is None or means in offered_by(interrupt)


def _worded(action: Action, reasons: frozenset[str]) -> Choice:
    choice = _BASE[action]
    for reason in ("violation", "low_confidence"):
        if reason in reasons and "fail" not in reasons and (action, reason) in _LABELS:
            return replace(choice, label=_LABELS[action, reason])
    return choice


def _for_host(choice: Choice, interrupt: InterruptRequest | None) -> Choice:
    """Return a gate's choice with what the waiting host wants to know beside it."""
    if interrupt is None:
        return replace(choice, feedback=choice.feedback if choice.feedback is _MUST else Need.NO)
    means = meaning_at(choice.action, interrupt)
    if means is Action.ANSWER:
        return replace(choice, fields=_questions(interrupt), goes_to_host=True)
    return replace(choice, goes_to_host=means is not None)


def _of_interrupt(action: Action, interrupt: InterruptRequest) -> Choice:
    fields: tuple[FormField, ...] = ()
    match action:
        case Action.ANSWER:
            fields = _questions(interrupt)
        case Action.EDIT_ACCEPT:
            fields = (_json("Edited artifact", "/editedArtifactData", interrupt.artifact),)
        case Action.REPLACE:
            fields = (_json("Decision", "", interrupt.decision),)
        case Action.REPORT_EVENT:
            fields = _event_fields(interrupt)
    is_open = action in LEAVES_OPEN
    return replace(_BASE[action], fields=fields, goes_to_host=True, leaves_open=is_open)


def _questions(interrupt: InterruptRequest) -> tuple[FormField, ...]:
    if interrupt.questions:
        return tuple(text_field(one.id, one.text, one.schema) for one in interrupt.questions)
    if interrupt.kind is InterruptKind.CLARIFICATION and interrupt.resume_schema is None:
        return (text_field("answer", interrupt.prompt or "Answer"),)
    schema = interrupt.resume_schema
    if schema is None and interrupt.kind is InterruptKind.CONVERSATION_TURN:
        schema = {"type": "string"}
    return fields_of_schema(schema)


def _event_fields(interrupt: InterruptRequest) -> tuple[FormField, ...]:
    if interrupt.resume_schema is not None:
        known = interrupt.correlation.keys()
        fields = fields_of_schema(interrupt.resume_schema)
        return tuple(field for field in fields if field.pointer[1:] not in known)
    return (replace(_json("What the event says", "", None), is_required=False),)


def _json(label: str, pointer: str, initial: object) -> FormField:
    return FormField(WHOLE, label, FieldKind.JSON, pointer, is_required=True, initial=initial)


_MUST = Need.REQUIRED
_LABELS = {
    (Action.UPHOLD, "violation"): "Confirm the violation",
    (Action.OVERRIDE, "violation"): "Accept the result after all",
    (Action.UPHOLD, "low_confidence"): "Do not accept the result",
    (Action.OVERRIDE, "low_confidence"): "Accept the result",
}
_TABLE = (
    Choice(Action.UPHOLD, "Uphold", Tone.NEUTRAL, "The result stays blocked.",
           feedback=Need.OPTIONAL),
    Choice(Action.SEND_BACK, "Send back", Tone.CAUTION, "The actor should revise it.",
           feedback=_MUST),
    Choice(Action.OVERRIDE, "Override to pass", Tone.DANGER, "The result may be used.",
           reason=_MUST, feedback=Need.OPTIONAL, is_deliberate=True),
    Choice(Action.CONFIRM, "The pass was right", Tone.GOOD, "Counted; nothing else changes."),
    Choice(Action.DISPUTE, "The pass was wrong", Tone.DANGER, "Counted as a false pass.",
           reason=_MUST, is_deliberate=True),
    Choice(Action.RELEASE_HOLD, "Release the hold", Tone.DANGER,
           "What could not be read was not a fail.", reason=_MUST, is_deliberate=True),
    Choice(Action.CANNOT_DECIDE, "Cannot decide", Tone.NEUTRAL,
           "Somebody else takes it, with your note.", reason=_MUST, leaves_open=True),
    Choice(Action.ANSWER, "Answer", Tone.GOOD, "The host goes on with your answer."),
    Choice(Action.ACCEPT, "Accept", Tone.GOOD, "The host goes on.", feedback=Need.OPTIONAL),
    Choice(Action.REJECT, "Reject", Tone.DANGER, "What the host does then is its own rule.",
           reason=_MUST, feedback=Need.OPTIONAL),
    Choice(Action.REFINE, "Refine", Tone.CAUTION, "The host should change it.", feedback=_MUST),
    Choice(Action.EDIT_ACCEPT, "Edit and accept", Tone.CAUTION, "The host uses your version."),
    Choice(Action.ASK, "Ask", Tone.NEUTRAL, "The host answers; the pause stays.", feedback=_MUST,
           leaves_open=True),
    Choice(Action.RATIFY, "Ratify", Tone.GOOD, "The agent's decision stands."),
    Choice(Action.REPLACE, "Decide differently", Tone.CAUTION, "The host takes your decision.",
           reason=_MUST),
    Choice(Action.REPORT_EVENT, "Report the event", Tone.GOOD, "What the host waits for happened.",
           reason=_MUST),
    Choice(Action.REPLY, "Reply", Tone.NEUTRAL, "One turn; the conversation goes on.",
           reason=Need.NO, feedback=_MUST, leaves_open=True),
    Choice(Action.CLOSE_CONVERSATION, "Close the conversation", Tone.CAUTION,
           "The host goes on without another turn."),
    Choice(Action.AUTHORIZED, "Connected on the host", Tone.GOOD,
           "You gave the credential to the host itself; nothing secret is sent."),
    Choice(Action.DECLINED, "Decline", Tone.CAUTION, "No credential will be connected."),
)  # fmt: skip
_BASE = {choice.action: choice for choice in _TABLE}


def every_action() -> frozenset[Action]:
    """Return the actions that have a choice; all of them do."""
    return frozenset(_BASE) | GATE_ACTIONS
