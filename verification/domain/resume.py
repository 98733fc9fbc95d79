"""From a person's decision to the value that resumes a host's interrupt: one table.

The shapes are the same in both protocol majors; only the path differs, and only the second major
has `credential`. Where specification and live hosts disagree, the table lists both forms, the one
that live hosts take first, and the interrupt's own `resumeSchema` chooses. A decision about a gate
becomes whatever the interrupt offers that means the same, and otherwise nothing: the host then
reads the gate. Nothing here invents an action that the host did not offer.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from verification.domain.decisions import Action, Decision, Refinement
from verification.domain.errors import VerificationError
from verification.domain.interrupt_request import InterruptKind, InterruptRequest
from verification.domain.resume_schema import ResumeMismatch, mismatches


class NotOffered(VerificationError):
    """The escalation does not offer this action."""

    def __init__(self, action: Action, offered: tuple[Action, ...]) -> None:
        self.action = action
        self.offered = offered
        super().__init__(f"{action} is not possible here; possible: {', '.join(offered) or '-'}.")


class WhyNothing(StrEnum):
    """Why a decision is not sent."""

    NO_INTERRUPT = "no_interrupt"
    """The run does not wait; the host reads the gate, or is told by webhook."""
    NOT_ASKED = "not_asked"
    """The run waits for something else than this decision; the host reads the gate."""
    UNDECIDED = "undecided"
    """Somebody else must decide first."""


@dataclass(frozen=True, slots=True)
class NothingToDeliver:
    """The decision stands, and no host is waiting to be told."""

    why: WhyNothing


@dataclass(frozen=True, slots=True)
class Resume:
    """The value that the host is sent."""

    value: Any


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision with when and by whom, as the host will see it."""

    decision: Decision
    decided_at: datetime
    decided_by: str
    """An opaque id; never a name or an address."""


def resume_for(decided: Decided, interrupt: InterruptRequest | None) -> Resume | NothingToDeliver:
    """Return what the host is sent.

    Raises:
        NotOffered: the interrupt offers nothing of that meaning.
        ResumeMismatch: no form of the decision satisfies the interrupt's resumeSchema.
    """
    action = decided.decision.action
    if action is Action.CANNOT_DECIDE:
        return NothingToDeliver(WhyNothing.UNDECIDED)
    if interrupt is None:
        return NothingToDeliver(WhyNothing.NO_INTERRUPT)
    meant = meaning_at(action, interrupt)
    if meant is None:
        return NothingToDeliver(WhyNothing.NOT_ASKED)
    if meant not in offered_by(interrupt):
        raise NotOffered(action, offered_by(interrupt))
    return Resume(_first_that_fits(meant, decided, interrupt))


def offered_by(interrupt: InterruptRequest) -> tuple[Action, ...]:
    """Return the actions that an interrupt takes, in the host's order."""
    if interrupt.kind is not InterruptKind.APPROVAL:
        return _OFFERED[interrupt.kind]
    if not _takes_approvals(interrupt):
        return (Action.ANSWER,)
    known = {action.value for action in _APPROVAL_ACTIONS}
    actions = dict.fromkeys(interrupt.actions)
    stated = tuple(Action(action) for action in actions if action in known)
    # A host that does not say takes at least the two that every approval has.
    return stated or (() if interrupt.actions else (Action.ACCEPT, Action.REJECT))


def meaning_at(action: Action, interrupt: InterruptRequest) -> Action | None:
    """Return the interrupt's own action that says the same; None when it asks something else."""
    if action not in GATE_ACTIONS:
        return action
    return _GATE_ACTION_MEANS.get(interrupt.kind, {}).get(action)


def entered(decision: Decision) -> Any:
    """Return the value that a form without questions made: one value, or an object by property."""
    if decision.edited is not None:
        return decision.edited
    answers = dict(decision.answers)
    return answers["value"] if set(answers) == {"value"} else answers


def _first_that_fits(action: Action, decided: Decided, interrupt: InterruptRequest) -> Any:
    first: ResumeMismatch | None = None
    forms = _whole_value if action is Action.ANSWER else _FORMS[interrupt.kind]
    if interrupt.kind is InterruptKind.CLARIFICATION:
        forms = _clarification
    for value in forms(action, decided, interrupt):
        wrong = mismatches(value, interrupt.resume_schema)
        if not wrong:
            return value
        first = first or ResumeMismatch(wrong)
    raise first or NotOffered(action, offered_by(interrupt))


GATE_ACTIONS = frozenset(
    {Action.UPHOLD, Action.SEND_BACK, Action.OVERRIDE, Action.RELEASE_HOLD}
    | {Action.CONFIRM, Action.DISPUTE}
)
"""Decisions about a result; what an interrupt makes of them is below."""
_APPROVAL_ACTIONS = (
    Action.ACCEPT, Action.REJECT, Action.REFINE, Action.EDIT_ACCEPT, Action.ASK,
)  # fmt: skip

_GATE_ACTION_MEANS: Mapping[InterruptKind, Mapping[Action, Action]] = {
    InterruptKind.APPROVAL: {
        Action.UPHOLD: Action.REJECT,
        Action.OVERRIDE: Action.ACCEPT,
        Action.SEND_BACK: Action.REFINE,
    },
    InterruptKind.LOW_CONFIDENCE: {
        Action.UPHOLD: Action.REJECT,
        Action.OVERRIDE: Action.RATIFY,
    },
    InterruptKind.CLARIFICATION: {
        Action.UPHOLD: Action.ANSWER,
        Action.OVERRIDE: Action.ANSWER,
        Action.SEND_BACK: Action.ANSWER,
    },
}

_OFFERED: Mapping[InterruptKind, tuple[Action, ...]] = {
    InterruptKind.CLARIFICATION: (Action.ANSWER,),
    InterruptKind.EXTERNAL_EVENT: (Action.REPORT_EVENT,),
    InterruptKind.LOW_CONFIDENCE: (Action.RATIFY, Action.REJECT, Action.REPLACE),
    InterruptKind.CONVERSATION: (Action.REPLY, Action.CLOSE_CONVERSATION),
    InterruptKind.CONVERSATION_TURN: (Action.ANSWER,),
    InterruptKind.CREDENTIAL: (Action.AUTHORIZED, Action.DECLINED),
    InterruptKind.CUSTOM: (Action.ANSWER,),
}


def _approval(action: Action, decided: Decided, interrupt: InterruptRequest) -> Iterator[Any]:
    decision = decided.decision
    said: dict[str, Any] = {}
    match action:
        case Action.REFINE:
            said["refineFeedback"] = _refine_feedback(decision)
        case Action.EDIT_ACCEPT:
            said["editedArtifactData"] = entered(decision)
        case _ if decision.feedback:
            said["feedback"] = decision.feedback
    stamp = _stamp(decided)
    yield {"action": action.value, **stamp, **said}
    yield {"action": action.value, "decidedAt": stamp["decidedAt"], **said}
    yield {"action": action.value, **said}


def _clarification(action: Action, decided: Decided, interrupt: InterruptRequest) -> Iterator[Any]:
    answers = dict(decided.decision.answers)
    yield {"answers": answers}
    yield {"answers": [{"id": id_, "answer": answer} for id_, answer in answers.items()]}
    yield entered(decided.decision)


def _external_event(action: Action, decided: Decided, interrupt: InterruptRequest) -> Iterator[Any]:
    given = entered(decided.decision)
    extra = given if isinstance(given, Mapping) else {}
    yield {**extra, **interrupt.correlation}
    yield {"eventPayload": {**extra, **interrupt.correlation}}


def _low_confidence(action: Action, decided: Decided, interrupt: InterruptRequest) -> Iterator[Any]:
    edited = entered(decided.decision)
    approval = {"action": "accept", **_stamp(decided)}
    match action:
        case Action.RATIFY:
            if interrupt.decision is not None:
                yield interrupt.decision
            yield {"ratified": True}
            yield approval
        case Action.REPLACE:
            yield edited
            yield {"decision": edited}
        case _:
            yield {"rejected": True}
            yield {**approval, "action": "reject"}


def _conversation(action: Action, decided: Decided, interrupt: InterruptRequest) -> Iterator[Any]:
    if action is Action.CLOSE_CONVERSATION:
        yield {"operation": "close"}
    else:
        yield {"operation": "exchange", "turn": {"content": decided.decision.feedback}}


def _whole_value(action: Action, decided: Decided, interrupt: InterruptRequest) -> Iterator[Any]:
    yield entered(decided.decision)
    yield dict(decided.decision.answers)


def _credential(action: Action, decided: Decided, interrupt: InterruptRequest) -> Iterator[Any]:
    yield {"outcome": action.value}


_Form = Callable[[Action, Decided, InterruptRequest], Iterator[Any]]
_FORMS: Mapping[InterruptKind, _Form] = {
    InterruptKind.APPROVAL: _approval,
    InterruptKind.CLARIFICATION: _clarification,
    InterruptKind.EXTERNAL_EVENT: _external_event,
    InterruptKind.LOW_CONFIDENCE: _low_confidence,
    InterruptKind.CONVERSATION: _conversation,
    InterruptKind.CONVERSATION_TURN: _whole_value,
    InterruptKind.CREDENTIAL: _credential,
    InterruptKind.CUSTOM: _whole_value,
}
"""The table: every form a decision may take, the one to try first leading."""


def _takes_approvals(interrupt: InterruptRequest) -> bool:
    """Say whether an approval's resumeSchema, if any, admits the protocol's own approval values."""
    if interrupt.resume_schema is None:
        return True
    action = interrupt.actions[0] if interrupt.actions else Action.ACCEPT.value
    decision = Decision(Action.ACCEPT, feedback="-", edited={})
    sample = Decided(decision, datetime(2026, 1, 1, tzinfo=UTC), "someone")
    forms = [
        {**value, "action": action}
        for kind in (Action.ACCEPT, Action.REFINE, Action.EDIT_ACCEPT)
        for value in _approval(kind, sample, interrupt)
    ]
    bare = [{k: v for k, v in form.items() if k != "feedback"} for form in forms]
    return any(not mismatches(form, interrupt.resume_schema) for form in (*forms, *bare))


def _stamp(decided: Decided) -> dict[str, Any]:
    at = decided.decided_at.astimezone(UTC).isoformat(timespec="milliseconds")
    return {"decidedAt": at.replace("+00:00", "Z"), "decidedBy": decided.decided_by}


def _refine_feedback(decision: Decision) -> dict[str, Any]:
    refinement = decision.refinement or Refinement(text=decision.feedback)
    stated = {
        "scope": refinement.scope.value,
        "sectionPath": refinement.section_path,
        "itemIds": list(refinement.item_ids),
        "tags": list(refinement.tags),
        "text": refinement.text or decision.feedback,
    }
    return {key: value for key, value in stated.items() if value}
