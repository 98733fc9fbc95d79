"""What became of a coordinator's plan: task by task, as proposed and as run.

What was left open and then settled is told apart from what is different, because only the second
was changed by somebody.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from verification.domain.consensus.queue import normalised

Task = Mapping[str, Any]
"""`{title, description, assignee?, dependsOn?, verify?}`. Content."""


class Change(StrEnum):
    """How a task, or one of its fields, differs."""

    SAME = "same"
    FILLED = "filled"
    """The plan left it open."""
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a task, in words; empty where there is nothing."""

    name: str
    before: str
    after: str
    change: Change


@dataclass(frozen=True, slots=True)
class Line:
    """One task of either plan."""

    title: str
    change: Change
    fields: tuple[Field, ...]


def digest(plan: Sequence[Task]) -> str:
    """Return the SHA-256 of a plan, in hex: what a person saw, without its words."""
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def lines(proposed: Sequence[Task], resolved: Sequence[Task]) -> tuple[Line, ...]:
    """Return the tasks as they are run, and after them those that were taken out.

    Args:
        proposed: as the coordinator gave it.
        resolved: as it is run, where `verify` is `{judges, mode, quorum, maxRounds, onDissent}` or
            None; or another plan.
    """
    before = {normalised(task["title"]): task for task in proposed}
    after = {normalised(task["title"]) for task in resolved}
    kept = [_line(before.get(normalised(task["title"])), task) for task in resolved]
    gone = [_removed(task) for title, task in before.items() if title not in after]
    return (*kept, *gone)


def _line(before: Task | None, after: Task) -> Line:
    title = str(after["title"])
    if before is None:
        fields = _fields({"description": "", "verify": None}, after)
        return Line(title, Change.ADDED, fields)
    fields = _fields(before, after)
    found = [field.change for field in fields]
    worst = next((each for each in (Change.CHANGED, Change.FILLED) if each in found), Change.SAME)
    return Line(title, worst, fields)


def _removed(task: Task) -> Line:
    nothing = {"description": "", "verify": None}
    return Line(str(task["title"]).strip(), Change.REMOVED, _fields(task, nothing))


def _fields(before: Task, after: Task) -> tuple[Field, ...]:
    return (
        _plain("description", _text(before, "description"), _text(after, "description")),
        _assignee(_text(before, "assignee"), _text(after, "assignee")),
        _plain("dependsOn", _titles(before), _titles(after)),
        Field("verify", _verified(before), _verified(after), _of_verify(before, after)),
    )


def _text(task: Task, name: str) -> str:
    return str(task.get(name) or "").strip()


def _titles(task: Task) -> str:
    return ", ".join(str(title).strip() for title in task.get("dependsOn") or ())


def _plain(name: str, before: str, after: str) -> Field:
    is_same = normalised(before) == normalised(after) if name == "dependsOn" else before == after
    return Field(name, before, after, Change.SAME if is_same else Change.CHANGED)


def _assignee(before: str, after: str) -> Field:
    change = Change.CHANGED if before else Change.FILLED
    return Field("assignee", before, after, Change.SAME if before == after else change)


def _verified(task: Task) -> str:
    wish = task.get("verify")
    if wish is None:
        return ""
    said = wish if isinstance(wish, Mapping) else {}
    if "judges" not in said:
        return ", ".join(f"{name} {value}" for name, value in said.items()) or "yes"
    rounds = f"{said['maxRounds']} round{'' if said['maxRounds'] == 1 else 's'}"
    return (
        f"{said['quorum']} of {', '.join(said['judges'])}; {rounds}; "
        f"{said['onDissent']}; {said['mode']}"
    )


def _of_verify(before: Task, after: Task) -> Change:
    wish, panel = before.get("verify"), after.get("verify")
    if wish == panel:
        return Change.SAME
    if wish is None or not isinstance(panel, Mapping) or "judges" not in panel:
        return Change.CHANGED
    said = wish if isinstance(wish, Mapping) else {}
    is_kept = all(panel.get(name) == value for name, value in said.items())
    return Change.FILLED if is_kept else Change.CHANGED
