"""The form of a decision: drawn from the choices that are offered, read back as one of them.

What was on screen travels with it, so that a decision about something else is noticed.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.http import QueryDict

from openwop_console.pages.indented import indented
from verification import situations
from verification.domain.answers import assembled, read_answers
from verification.domain.choices import Choice, Need, TextRequired
from verification.domain.decisions import Action, Decision, UnreadableDecision, checked_text
from verification.domain.errors import VerificationError
from verification.domain.fields import FieldKind, FormField
from verification.domain.freshness import View
from verification.models import Escalation

THE_VERDICT_IS_RIGHT = "The verdict is right."
_REASONS = (
    ("shut", "Keeping it shut", frozenset({Action.UPHOLD, Action.SEND_BACK, Action.REJECT}), (
        THE_VERDICT_IS_RIGHT,
        "The evidence does not support the result.",
        "It needs more than this host can check.",
    )),
    ("open", "Letting it through", frozenset(
        {Action.OVERRIDE, Action.RELEASE_HOLD, Action.ACCEPT, Action.EDIT_ACCEPT}
    ), (
        "Checked by hand; the result is correct.",
        "The criterion does not apply here.",
        "Accepted as a known risk.",
    )),
    ("passed", "The pass was right", frozenset({Action.CONFIRM}), (
        "Checked by hand; the result is correct.",
    )),
    ("disputed", "The pass was wrong", frozenset({Action.DISPUTE}), (
        "The evidence does not support the result.",
        "It needs more than this host can check.",
    )),
    ("handed", "Handing it on", frozenset({Action.CANNOT_DECIDE}), (
        "Somebody closer to the matter should decide.",
        "There is not enough here to decide on.",
    )),
)  # fmt: skip
"""Usual reasons by the actions that they are reasons for: key, words, actions, reasons."""
_SENTENCES = {
    "required": "This is needed.",
    "type": "This is not of the kind that is asked for.",
    "enum": "Choose one of the options.",
    "json_invalid": "This is not JSON.",
    "too_long": "This is too long.",
    "reason_unfit": "Choose a reason that fits the action, or write one.",
}
"""What is said at the field; any other fault is said as the refusal says it."""
_EDITS = frozenset({Action.EDIT_ACCEPT, Action.REPLACE, Action.REPORT_EVENT})
DRAFTED = ("action", "reason", "reason_template", "feedback")
"""Fields that are kept while somebody types; those of questions begin with `answer.`."""


def decision_in(posted: QueryDict, found: Escalation) -> Decision:
    """Read the form as the choice that was made asks."""
    choice = _chosen(posted, found)
    if choice is None:
        raise UnreadableDecision("/action", "choose one of the actions")
    answers = read_answers(choice.fields, _submitted(posted, choice))
    is_edit = choice.action in _EDITS
    reason = posted.get("reason", "").strip() or _usual(posted, choice)
    return Decision(
        action=choice.action,
        reason=checked_text(reason, "/reason"),
        feedback=checked_text(posted.get("feedback", ""), "/feedback"),
        answers={} if is_edit else answers,
        edited=assembled(choice.fields, answers) if is_edit else None,
    )


def fault_of(refused: VerificationError, posted: QueryDict, found: Escalation) -> dict[str, str]:
    """Return the field that a refusal is about and what to say there; empty: it is about none."""
    if isinstance(refused, TextRequired):
        return {"field": refused.which, "sentence": str(refused)}
    if not isinstance(refused, UnreadableDecision):
        return {}
    choice = _chosen(posted, found)
    asked = {f"/answers{field.pointer}": field.name for field in choice.fields} if choice else {}
    name = {**asked, "/reason": "reason", "/feedback": "feedback"}.get(refused.pointer, "")
    return {"field": name, "sentence": _SENTENCES.get(refused.reason, str(refused))} if name else {}


def _chosen(posted: QueryDict, found: Escalation) -> Choice | None:
    offered = situations.choices_of(found, situations.interrupt_of(found))
    chosen = posted.get("action", "")
    return next((each for each in offered if each.action.value == chosen), None)


def _usual(posted: QueryDict, choice: Choice) -> str:
    """Return the usual reason that was chosen, if it is one for the action."""
    chosen = posted.get("reason_template", "")
    if chosen and not any(
        choice.action in actions and chosen in reasons for _, _, actions, reasons in _REASONS
    ):
        raise UnreadableDecision("/reason", "reason_unfit")
    return chosen


def usual_reasons(offered: Collection[Choice], *, has_verdict: bool) -> list[dict[str, Any]]:
    """Return the usual reasons of the actions that are offered, by group."""
    actions = {choice.action for choice in offered}
    return [
        {
            "key": key,
            "label": label,
            "reasons": [each for each in reasons if has_verdict or each != THE_VERDICT_IS_RIGHT],
        }
        for key, label, fits, reasons in _REASONS
        if fits & actions
    ]


def _submitted(posted: QueryDict, choice: Choice) -> dict[str, Any]:
    return {
        field.name: posted.getlist(field.name)
        if field.kind is FieldKind.CHOICES
        else posted.get(field.name)
        for field in choice.fields
    }


def seen_in(text: str) -> View:
    """Read back what `seen_text` wrote; what is unreadable was never on screen, and is stale."""
    position, _, rest = text.partition(":")
    digest, _, verdicts = rest.partition(":")
    return View(
        version=0,
        position=int(position) if position.isascii() and position.isdigit() else 0,
        digest=digest,
        verdicts=frozenset(each for each in verdicts.split(",") if each),
    )


def seen_text(found: Escalation) -> str:
    """Write down what is on screen, so that a decision about something else is noticed."""
    view = situations.view_of(found)
    return f"{view.position}:{view.digest}:{','.join(sorted(view.verdicts))}"


def drafted(posted: QueryDict) -> dict[str, str]:
    """Return what a person has typed so far, by field."""
    return {
        name: posted.get(name, "")
        for name in posted
        if name in DRAFTED or name.startswith("answer.")
    }


def with_fault(fields: list[dict[str, Any]], fault: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the fields with what is wrong at the one that a fault is about."""
    return [
        {**field, "error": fault["sentence"]} if field["name"] == fault.get("field") else field
        for field in fields
    ]


def with_drafts(fields: list[dict[str, Any]], typed: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the fields with what was typed in place of what they begin with."""
    return [{**field, "value": typed.get(field["name"], field["value"])} for field in fields]


def drawn_action(choice: Choice, number: int) -> dict[str, Any]:
    """Return one choice as the page draws it, with the key that chooses it."""
    needs = [field.name for field in choice.fields]
    if choice.feedback is not Need.NO:
        needs.append("feedback")
    if choice.reason is not Need.NO:
        needs.append("reason")
    needs += [f"usual-{key}" for key, _, actions, _ in _REASONS if choice.action in actions]
    return {
        "value": choice.action.value,
        "label": choice.label,
        "tone": choice.tone.value,
        "help": choice.help,
        "needs": " ".join(needs),
        "needs_reason": choice.reason is Need.REQUIRED,
        "needs_feedback": choice.feedback is Need.REQUIRED,
        "is_deliberate": choice.is_deliberate,
        "goes_to_host": choice.goes_to_host,
        "shortcut": str(number) if number <= 9 else "",
    }


def drawn_fields(offered: tuple[Choice, ...]) -> list[dict[str, Any]]:
    """Return every field that some choice asks for, each once."""
    known = {field.name: field for choice in offered for field in choice.fields}
    return [
        {
            "name": field.name,
            "id": f"field-{number}",
            "label": field.label,
            "kind": field.kind.value,
            "help": field.help,
            "is_required": field.is_required,
            "choices": [(str(index), str(value)) for index, value in enumerate(field.choices)],
            "value": _initial(field),
        }
        for number, field in enumerate(known.values(), 1)
    ]


def _initial(field: FormField) -> str:
    """Return what a field shows before anything is typed: JSON as people read it."""
    if field.initial is None:
        return ""
    if field.kind is FieldKind.JSON:
        return indented(field.initial)
    return str(field.initial)
