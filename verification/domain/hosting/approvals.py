"""A person's decision about a console run, as OpenWOP spells it: an approval with a few actions.

What can be chosen is what the queue's page offers; here it only gets OpenWOP's names. Whoever
decides is never read from what is sent. Source: OpenWOP interrupt.md, approval; suspend-request
schema.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from verification.domain.choices import Choice, Need
from verification.domain.decisions import Action, Decision, UnreadableDecision, read_decision

NODE = "gate"
"""The node at which a console run asks for a person about its result: its gate."""

_WORDS = {
    Action.OVERRIDE: "accept",
    Action.RELEASE_HOLD: "accept",
    Action.CONFIRM: "accept",
    Action.UPHOLD: "reject",
    Action.DISPUTE: "reject",
    Action.SEND_BACK: "refine",
}
_KEYS = frozenset({"action", "decidedAt", "decidedBy", "feedback", "refineFeedback"})
"""What a resume value may hold. `decidedAt` and `decidedBy` are ours to say and are not read."""


def offered(choices: Iterable[Choice]) -> dict[str, Choice]:
    """Return the choices that OpenWOP has a word for, by it."""
    return {_WORDS[each.action]: each for each in choices if each.action in _WORDS}


def node(task: int | None) -> str:
    """Return the node that asks about a task of a run, or where that is none, about the run."""
    return NODE if task is None else f"{NODE}-task-{task}"


def title(verdict: str, task: int | None) -> str:
    """Return what is asked, in words without content."""
    came_to = f"The judges came to {verdict or 'no verdict'}"
    if task is None:
        return f"{came_to}. May the answer be used?"
    return f"{came_to} on task {task}. May its result be used?"


def interrupt(
    *, interrupt_id: str, node: str, title: str, artifact: str, choices: Mapping[str, Choice]
) -> dict[str, Any]:
    """Return the pause as a client reads it.

    Args:
        interrupt_id: names it.
        node: that asks.
        title: what is asked, in one sentence without content.
        artifact: id of what is to be approved.
        choices: as `offered` returns them.
    """
    return {
        "interruptId": interrupt_id,
        "nodeId": node,
        "kind": "approval",
        "key": interrupt_id,
        "data": {
            "artifactId": artifact,
            "artifactType": "answer",
            "title": title,
            "actions": sorted(choices),
            "requiredApprovals": 1,
        },
        "resumeSchema": {
            "type": "object",
            "required": ["action"],
            "properties": {
                "action": {"enum": sorted(choices)},
                "feedback": {"type": "string"},
                "refineFeedback": {"type": "object"},
            },
            "allOf": [
                {
                    "if": {"properties": {"action": {"const": word}}},
                    "then": {"anyOf": _texts(choice)},
                }
                for word, choice in sorted(choices.items())
                if _wants_text(choice)
            ],
        },
    }


def _texts(choice: Choice) -> list[dict[str, Any]]:
    ways = [{"required": ["feedback"]}]
    if choice.action is Action.SEND_BACK:
        ways.append({"required": ["refineFeedback"]})
    return ways


def _wants_text(choice: Choice) -> bool:
    return Need.REQUIRED in (choice.reason, choice.feedback)


def decision_in(value: object, choices: Mapping[str, Choice]) -> Decision:
    """Return the decision that a resume value states.

    Args:
        value: `resumeValue`, as sent.
        choices: what is offered now, by OpenWOP's words.

    Raises:
        UnreadableDecision: with a pointer into the body and a reason word.
    """
    if not isinstance(value, Mapping):
        raise UnreadableDecision("/resumeValue", "type")
    if set(value) - _KEYS:
        raise UnreadableDecision("/resumeValue", "unexpected_key")
    word = value.get("action")
    choice = choices.get(word) if isinstance(word, str) else None
    if choice is None:
        raise UnreadableDecision("/resumeValue/action", "action_not_offered")
    said = {name: value[name] for name in ("feedback", "refineFeedback") if name in value}
    try:
        decision = read_decision({"action": choice.action.value, **said})
    except UnreadableDecision as wrong:
        raise UnreadableDecision(f"/resumeValue{wrong.pointer}", wrong.reason) from wrong
    if choice.reason is not Need.NO:
        decision = replace(decision, reason=decision.feedback)
    if _wants_text(choice) and not decision.feedback and decision.refinement is None:
        raise UnreadableDecision("/resumeValue/feedback", "required")
    return decision if choice.feedback is not Need.NO else replace(decision, feedback="")
