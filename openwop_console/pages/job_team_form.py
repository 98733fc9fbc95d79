"""The form of a run of tasks or of a team: what is typed becomes the API's own document, and back.

Nothing is judged here but whether numbers are numbers and JSON is JSON; the rest is refused by the
rules that every request meets, and their pointers are led back to the fields.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openwop_console.pages.typed_values import json_value, whole
from verification.domain.consensus.queue import normalised
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.states import Operation

Typed = Mapping[str, str]
Document = Mapping[str, Any]

PARTS = {
    "member": ("name", "model", "settings"),
    "judge": ("name", "model", "settings"),
    "task": ("title", "description", "assignee", "dependsOn", "verify", "more"),
}
FEWEST = {"member": 2, "judge": 3, "task": 3}
"""Rows that the form has at least."""
_COUNTS = ("atOnce", "maxTokenBudget")
_MEMBERS = ("workspace", "goal", "onRejected", "criteria", "approvePlan", "maxCostBudget", *_COUNTS)
_COORDINATOR = ("name", "model", "settings")
_USUAL = {"onRejected": "skip"}


@dataclass(frozen=True, slots=True)
class Made:
    """The document that a form stands for, and which row each of its entries came from."""

    document: dict[str, Any]
    rows: Mapping[str, Sequence[int]]


def typed_in(sent: Mapping[str, str], add: str = "") -> dict[str, str]:
    """Return what was typed, by field.

    Args:
        sent: the form as it came.
        add: the kind of row that one more is wanted of.
    """
    typed = {name: sent.get(name, "") for name in _MEMBERS}
    typed |= {f"coordinator-{part}": sent.get(f"coordinator-{part}", "") for part in _COORDINATOR}
    for kind, parts in PARTS.items():
        many = max([FEWEST[kind], *_numbers(sent, kind)]) + (kind == add)
        for number in range(1, many + 1):
            typed |= {f"{kind}-{number}-{p}": sent.get(f"{kind}-{number}-{p}", "") for p in parts}
    return {name: text.replace("\r\n", "\n").strip() for name, text in typed.items()}


def _numbers(sent: Mapping[str, str], kind: str) -> list[int]:
    found = [name.split("-")[1] for name in sent if name.startswith(f"{kind}-")]
    return [int(each) for each in found if each.isascii() and each.isdigit() and len(each) < 4]


def rows_in(typed: Typed, kind: str) -> list[dict[str, Any]]:
    """Return the rows of a kind, blank ones too, as `{number, part: text}`."""
    numbers = sorted(set(_numbers(typed, kind)))
    return [
        {"number": n, **{part: typed.get(f"{kind}-{n}-{part}", "") for part in PARTS[kind]}}
        for n in numbers
    ]


def made_of(typed: Typed, operation: Operation) -> Made:
    """Return the document that was typed. Raises JobRefused, with a pointer into that document."""
    kept = {
        kind: [row for row in rows_in(typed, kind) if any(row[part] for part in parts)]
        for kind, parts in PARTS.items()
    }
    document: dict[str, Any] = {"operation": operation.value}
    for name in ("workspace", "goal", "onRejected"):
        if typed[name] and typed[name] != _USUAL.get(name):
            document[name] = typed[name]
    document["team"] = [_agent(row, f"/team/{n}") for n, row in enumerate(kept["member"])]
    judges = "judges" if operation is Operation.TASKS else "verifyJudges"
    if kept["judge"]:
        document[judges] = [_agent(row, f"/{judges}/{n}") for n, row in enumerate(kept["judge"])]
    if operation is Operation.TASKS:
        document |= {"tasks": _tasks(kept["task"])}
        document.pop("goal", None)
    else:
        document |= _coordinator(typed)
    document |= _limits(typed)
    numbers = {kind: [row["number"] for row in rows] for kind, rows in kept.items()}
    return Made(document, numbers)


def _agent(row: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    agent: dict[str, Any] = {"name": row["name"], "model": row["model"]}
    if row["settings"]:
        agent["settings"] = json_value(row["settings"], f"{pointer}/settings")
    return agent


def _coordinator(typed: Typed) -> dict[str, Any]:
    row = {part: typed[f"coordinator-{part}"] for part in _COORDINATOR}
    said: dict[str, Any] = {"approvePlan": True} if typed["approvePlan"] else {}
    return said | ({"coordinator": _agent(row, "/coordinator")} if any(row.values()) else {})


def _limits(typed: Typed) -> dict[str, Any]:
    said: dict[str, Any] = {name: whole(typed[name], f"/{name}") for name in _COUNTS if typed[name]}
    if typed["maxCostBudget"]:
        said["maxCostBudget"] = _dollars(typed["maxCostBudget"])
    if typed["criteria"]:
        said["criteria"] = [each.strip() for each in typed["criteria"].split(",") if each.strip()]
    return said


def _tasks(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    titles = {str(row["number"]): row["title"] for row in rows}
    return [_task(row, titles, f"/tasks/{n}") for n, row in enumerate(rows)]


def _task(row: Mapping[str, Any], titles: Mapping[str, str], pointer: str) -> dict[str, Any]:
    task: dict[str, Any] = {"title": row["title"], "description": row["description"]}
    if row["assignee"]:
        task["assignee"] = row["assignee"]
    wanted = [each.strip() for each in row["dependsOn"].split(",") if each.strip()]
    if wanted:
        task["dependsOn"] = [titles.get(each) or each for each in wanted]
    if row["verify"]:
        task["verify"] = True
    more = json_value(row["more"], f"{pointer}/more") if row["more"] else {}
    if not isinstance(more, dict):
        raise JobRefused("type", f"{pointer}/more", "An object is expected here.")
    return task | more


def _dollars(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not math.isfinite(amount):
        where = "/maxCostBudget"
        raise JobRefused("type", where, "A number of US dollars is expected here.")
    return amount


def typed_of(document: Document) -> dict[str, str] | None:
    """Return a document as it is typed; None where the form has no room for all it says."""
    try:
        typed = typed_in(_flat(document))
        made = made_of(typed, Operation(document.get("operation", "")))
    except (JobRefused, AttributeError, KeyError, TypeError, ValueError):
        return None
    usual = {name: value for name, value in document.items() if value != _USUAL.get(name)}
    return typed if made.document == usual else None


def _flat(document: Document) -> dict[str, str]:
    judges = document.get("judges") or document.get("verifyJudges") or []
    flat = {name: _text(document[name]) for name in _MEMBERS if name in document}
    flat["criteria"] = ", ".join(document.get("criteria", []))
    flat["approvePlan"] = "yes" if document.get("approvePlan") else ""
    for number, each in enumerate(document["team"], 1):
        flat |= {f"member-{number}-{part}": _text(value, 2) for part, value in each.items()}
    for number, each in enumerate(judges, 1):
        flat |= {f"judge-{number}-{part}": _text(value) for part, value in each.items()}
    for part, value in document.get("coordinator", {}).items():
        flat[f"coordinator-{part}"] = _text(value, 2)
    tasks = document.get("tasks", [])
    numbers = {normalised(task["title"]): str(n) for n, task in enumerate(tasks, 1)}
    for number, task in enumerate(tasks, 1):
        flat |= {f"task-{number}-{part}": text for part, text in _flat_task(task, numbers).items()}
    return flat


def _flat_task(task: Document, numbers: Mapping[str, str]) -> dict[str, str]:
    flat = {part: task[part] for part in ("title", "description", "assignee") if part in task}
    wanted = [numbers.get(normalised(title), title) for title in task.get("dependsOn", [])]
    flat["dependsOn"] = ", ".join(wanted)
    flat["verify"] = "yes" if task.get("verify") is True else ""
    known = {"title", "description", "assignee", "dependsOn"}
    known |= {"verify"} if task.get("verify") is True else set()
    more = {name: value for name, value in task.items() if name not in known}
    return flat | {"more": _text(more) if more else ""}


def _text(value: object, indent: int | None = None) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=indent, ensure_ascii=False)


_LISTS = {
    "team": ("member", "Member"),
    "judges": ("judge", "Judge"),
    "verifyJudges": ("judge", "Judge"),
    "tasks": ("task", "Task"),
}
_LABELS = {
    "goal": "Goal", "coordinator": "Coordinator", "atOnce": "Tasks at once", "criteria": "Criteria",
    "maxTokenBudget": "Token budget", "maxCostBudget": "Money budget", "workspace": "Workspace",
    "onRejected": "If judges reject", "approvePlan": "Plan",
}  # fmt: skip


def field_of(pointer: str, rows: Mapping[str, Sequence[int]]) -> tuple[str, str]:
    """Return the id and the label of the field that a pointer into the document leads to."""
    name, *rest = pointer.strip("/").split("/")
    if name == "coordinator":
        part = rest[0] if rest and rest[0] in _COORDINATOR else "name"
        return f"coordinator-{part}", _LABELS[name]
    if name not in _LISTS:
        return name or "form", _LABELS.get(name, "")
    kind, label = _LISTS[name]
    place = int(rest[0]) if rest and rest[0].isdigit() else 0
    number = rows[kind][place] if place < len(rows[kind]) else 1
    part = _part(PARTS[kind], rest[1:])
    return f"{kind}-{number}-{part}", f"{label} {number}" if rest else f"{label}s"


def _part(parts: Sequence[str], rest: Sequence[str]) -> str:
    """Return the field of a row that the rest of a pointer leads to."""
    if not rest:
        return parts[0]
    return rest[0] if rest[0] in parts else parts[-1]
