"""A plan as a form: its fields come from the closed schema, and what is typed becomes a plan.

Nothing is judged here. What is no number stays the text that it is, so that the plan's own rules
refuse it and say why.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.domain.consensus.plan import MOST_TASKS, TASK_FIELDS
from verification.domain.consensus.queue import normalised

Typed = Mapping[str, str]
Task = Mapping[str, Any]
VERIFY = "verify"
_LABELS = {
    "title": "Title",
    "description": "Description",
    "assignee": "By",
    "dependsOn": "Waits for",
    "memoryScope": "Sees of shared memory",
    "maxRetries": "Tries again, at most",
    "retryDelayMs": "Waits before (ms)",
    "retryBackoff": "Then longer by (factor)",
    "role": "Role",
    "priority": "Priority",
    "mode": "Judges look",
    "quorum": "Quorum",
    "maxRounds": "Rounds",
    "onDissent": "On dissent",
}
_MAIN = ("title", "description", "assignee", "dependsOn")


@dataclass(frozen=True, slots=True)
class Row:
    """One task of the form."""

    number: int
    """From 1, as it is shown and as other tasks name it."""
    typed: Typed


def fields_of(team: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the fields of a task, drawn from the schema: `{main, verify, more}`.

    Each is `{name, label, kind, choices, nothing}`; `nothing` says what an empty one means.
    """
    drawn = {name: _drawn(name, form, team) for name, form in TASK_FIELDS.items() if name != VERIFY}
    wish = TASK_FIELDS[VERIFY]["anyOf"][1]["properties"]
    return {
        "main": [drawn[name] for name in _MAIN],
        "verify": [_drawn(name, form, team) for name, form in wish.items()],
        "more": [each for name, each in drawn.items() if name not in _MAIN],
    }


def _drawn(name: str, form: Mapping[str, Any], team: Sequence[str]) -> dict[str, Any]:
    choices = list(team) if name == "assignee" else list(form.get("enum", ()))
    kind = "select" if choices else "number" if form["type"] in ("integer", "number") else "text"
    if name == "description":
        kind = "long"
    return {
        "name": name,
        "label": _LABELS.get(name, name),
        "kind": kind,
        "choices": choices,
        "nothing": "whoever is next" if name == "assignee" else "as usual",
    }


def rows_of(plan: Sequence[Task]) -> list[Row]:
    """Return a plan as it is typed."""
    numbers = {normalised(str(task.get("title", ""))): n for n, task in enumerate(plan, 1)}
    return [Row(n, dict(_typed(task, numbers))) for n, task in enumerate(plan, 1)]


def _typed(task: Task, numbers: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for name, value in task.items():
        if name == "dependsOn" and isinstance(value, list):
            yield name, ", ".join(str(numbers.get(normalised(str(t)), t)) for t in value)
        elif name == VERIFY:
            yield name, "yes"
            said = value if isinstance(value, Mapping) else {}
            yield from ((part, str(wish)) for part, wish in said.items())
        else:
            yield name, str(value)


def typed_rows(sent: Mapping[str, str]) -> list[Row]:
    """Return what was typed, without what was left empty or taken out; the rest is counted anew."""
    numbers = sorted({int(n) for n in map(_number_in, sent) if n})[:MOST_TASKS]
    typed = {number: _part(sent, number) for number in numbers}
    kept = [n for n, said in typed.items() if not said.get("remove") and any(said.values())]
    anew = {str(n): str(kept.index(n) + 1) if n in kept else "" for n in numbers}
    return [
        Row(new, typed[old] | {"dependsOn": _renumbered(typed[old].get("dependsOn", ""), anew)})
        for new, old in enumerate(kept, 1)
    ]


def _part(sent: Mapping[str, str], number: int) -> dict[str, str]:
    begin = f"task-{number}-"
    return {k.removeprefix(begin): v.strip() for k, v in sent.items() if k.startswith(begin)}


def _number_in(name: str) -> str:
    begin, _, rest = name.partition("-")
    number = rest.partition("-")[0]
    is_number = number.isascii() and number.isdigit() and 0 < len(number) < 4
    return number if begin == "task" and is_number else ""


def _renumbered(text: str, anew: Mapping[str, str]) -> str:
    """Return a list of tasks with their new numbers, without those that are gone."""
    wanted = [each.strip() for each in text.split(",") if each.strip()]
    return ", ".join(new for each in wanted if (new := anew.get(each, each)))


def plan_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the plan that the typed rows stand for, fit or not."""
    titles = {str(row.number): row.typed.get("title", "").strip() for row in rows}
    return [_task(row.typed, titles) for row in rows]


def _task(typed: Typed, titles: Mapping[str, str]) -> dict[str, Any]:
    task: dict[str, Any] = {name: _text(typed, name) for name in ("title", "description")}
    for name, form in TASK_FIELDS.items():
        text = _text(typed, name)
        if not text or name in task or name == VERIFY:
            continue
        task[name] = _titles(text, titles) if name == "dependsOn" else _value(text, form)
    if typed.get(VERIFY):
        wish = TASK_FIELDS[VERIFY]["anyOf"][1]["properties"]
        said = {k: _value(_text(typed, k), form) for k, form in wish.items() if _text(typed, k)}
        task[VERIFY] = said or True
    return task


def _text(typed: Typed, name: str) -> str:
    return typed.get(name, "").replace("\r\n", "\n").strip()


def _titles(text: str, titles: Mapping[str, str]) -> list[str]:
    return [titles.get(each) or each for part in text.split(",") if (each := part.strip())]


def _value(text: str, form: Mapping[str, Any]) -> Any:
    kind = form.get("type")
    try:
        if kind == "integer":
            return int(text)
        value = float(text) if kind == "number" else text
    except ValueError:
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value
