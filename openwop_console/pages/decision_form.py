"""The form of a decision: drawn from the choices that are offered, read back as one of them.

What was on screen travels with it, so that a decision about something else is noticed.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import QueryDict

from verification import situations
from verification.domain.answers import assembled, read_answers
from verification.domain.choices import Choice, Need
from verification.domain.decisions import Action, Decision, UnreadableDecision, checked_text
from verification.domain.fields import FieldKind, FormField
from verification.domain.freshness import View
from verification.models import Escalation

REASONS = (
    ("Keeping it shut", (
        "The verdict is right.",
        "The evidence does not support the result.",
        "It needs more than this host can check.",
    )),
    ("Letting it through", (
        "Checked by hand; the result is correct.",
        "The criterion does not apply here.",
        "Accepted as a known risk.",
    )),
)  # fmt: skip
"""Usual reasons, by what they are reasons for."""
_EDITS = frozenset({Action.EDIT_ACCEPT, Action.REPLACE, Action.REPORT_EVENT})
DRAFTED = ("action", "reason", "reason_template", "feedback")
"""Fields that are kept while somebody types; those of questions begin with `answer.`."""


def decision_in(posted: QueryDict, found: Escalation) -> Decision:
    """Read the form as the choice that was made asks."""
    chosen = posted.get("action", "")
    offered = situations.choices_of(found, situations.interrupt_of(found))
    choice = next((each for each in offered if each.action.value == chosen), None)
    if choice is None:
        raise UnreadableDecision("/action", "choose one of the actions")
    answers = read_answers(choice.fields, _submitted(posted, choice))
    is_edit = choice.action in _EDITS
    reason = posted.get("reason", "").strip() or posted.get("reason_template", "")
    return Decision(
        action=choice.action,
        reason=checked_text(reason, "/reason"),
        feedback=checked_text(posted.get("feedback", ""), "/feedback"),
        answers={} if is_edit else answers,
        edited=assembled(choice.fields, answers) if is_edit else None,
    )


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
        return orjson.dumps(field.initial, option=orjson.OPT_INDENT_2).decode()
    return str(field.initial)
