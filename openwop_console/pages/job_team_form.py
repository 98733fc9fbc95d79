"""The form of a run of tasks or of a team: what is typed becomes the API's own document, and back.

Nothing is judged here but whether numbers are numbers and JSON is JSON; the rest is refused by the
rules that every request meets, and their pointers are led back to the fields.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openwop_console.pages.typed_values import json_value, rule_settings, rule_text, whole
from verification.domain.consensus.queue import normalised
from verification.domain.jobs.given import GIVEN
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.states import Operation

Typed = Mapping[str, str]
Document = Mapping[str, Any]
Row = Mapping[str, Any]

PARTS = {
    "member": ("name", "pauseSeconds", "model"),
    "judge": ("name", "model", "settings"),
    "task": (
        "title", "description", "assignee", "dependsOn", "verify", "answer", "revised", "more",
    ),
}  # fmt: skip
"""What has no field of its own is told at the last."""
FEWEST = {"member": 2, "judge": 3, "task": 3}
"""Rows that the form has at least."""
_COUNTS = ("atOnce", "maxTokenBudget")
_MEMBERS = ("workspace", "goal", "onRejected", "criteria", "approvePlan", "maxCostBudget", *_COUNTS)
COORDINATOR = ("name", "model", "pauseSeconds", "answer")
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
    typed |= {f"coordinator-{part}": sent.get(f"coordinator-{part}", "") for part in COORDINATOR}
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
    has_tasks = operation is Operation.TASKS or typed["coordinator-model"] == GIVEN
    rows = kept["task"] if has_tasks else []
    team = enumerate(kept["member"])
    document["team"] = [_member(row, rows, f"/team/{n}") for n, row in team]
    _check_answers(rows, kept["member"])
    judges = "judges" if operation is Operation.TASKS else "verifyJudges"
    if kept["judge"]:
        document[judges] = [_judge(row, f"/{judges}/{n}") for n, row in enumerate(kept["judge"])]
    if operation is Operation.TASKS:
        document |= {"tasks": _tasks(rows)}
        document.pop("goal", None)
    else:
        document |= _coordinator(typed, rows)
    document |= _limits(typed)
    numbers = {kind: [row["number"] for row in rows] for kind, rows in kept.items()}
    return Made(document, numbers)


def _judge(row: Row, pointer: str) -> dict[str, Any]:
    judge: dict[str, Any] = {"name": row["name"], "model": row["model"]}
    if row["settings"]:
        judge["settings"] = rule_settings(row["model"], row["settings"], f"{pointer}/settings")
    return judge


def _member(row: Row, tasks: Sequence[Row], pointer: str) -> dict[str, Any]:
    member: dict[str, Any] = {"name": row["name"], "model": row["model"]}
    if row["model"] == GIVEN:
        replies = {task["title"]: _said(task) for task in tasks if _takes(row, task)}
        member["settings"] = {"replies": replies} | _pause(row, pointer)
    return member


def _takes(member: Row, task: Row) -> bool:
    """Return whether a member says what is given to a task: its own, or one that is nobody's."""
    has_words = bool(task["answer"] or task["revised"])
    return has_words and member["model"] == GIVEN and task["assignee"] in ("", member["name"])


def _said(task: Row) -> str | list[str]:
    versions = [text for text in (task["answer"], task["revised"]) if text]
    return versions if len(versions) > 1 else versions[0]


def _check_answers(tasks: Sequence[Row], team: Sequence[Row]) -> None:
    """Refuse words for a member who answers by itself, where others say what is given."""
    given = {member["name"]: member["model"] == GIVEN for member in team}
    for n, task in enumerate(tasks):
        if task["answer"] and any(given.values()) and not given.get(task["assignee"], True):
            sentence = "The member who does this task answers by itself."
            raise JobRefused("no_reply", f"/tasks/{n}/answer", sentence)


def _pause(row: Typed, pointer: str) -> dict[str, int]:
    text, where = row["pauseSeconds"], f"{pointer}/settings/pauseSeconds"
    return {"pauseSeconds": whole(text, where)} if text else {}


def _coordinator(typed: Typed, plan: Sequence[Row]) -> dict[str, Any]:
    row = {part: typed[f"coordinator-{part}"] for part in COORDINATOR}
    said: dict[str, Any] = {"approvePlan": True} if typed["approvePlan"] else {}
    if not any(row.values()):
        return said
    agent: dict[str, Any] = {"name": row["name"], "model": row["model"]}
    if row["model"] == GIVEN:
        given: dict[str, Any] = {"plan": _tasks(plan)} if plan else {}
        given |= {"answer": row["answer"]} if row["answer"] else {}
        agent["settings"] = given | _pause(row, "/coordinator")
    return said | {"coordinator": agent}


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
        flat |= {f"member-{number}-{part}": text for part, text in _flat_agent(each).items()}
    for number, each in enumerate(judges, 1):
        settings = rule_text(each["model"], each.get("settings"))
        flat |= {f"judge-{number}-{part}": each[part] for part in ("name", "model")}
        flat[f"judge-{number}-settings"] = settings
    coordinator = document.get("coordinator", {})
    flat |= {f"coordinator-{part}": text for part, text in _flat_agent(coordinator).items()}
    tasks = document.get("tasks", coordinator.get("settings", {}).get("plan", []))
    numbers = {normalised(task["title"]): str(n) for n, task in enumerate(tasks, 1)}
    for number, task in enumerate(tasks, 1):
        texts = _flat_task(task, numbers) | _flat_answer(task, document["team"])
        flat |= {f"task-{number}-{part}": text for part, text in texts.items()}
    return flat


def _flat_agent(agent: Document) -> dict[str, str]:
    settings = agent.get("settings", {})
    told = {name: _text(settings[name]) for name in ("pauseSeconds", "answer") if name in settings}
    return {part: agent[part] for part in ("name", "model") if part in agent} | told


def _flat_answer(task: Document, team: Sequence[Document]) -> dict[str, str]:
    """Return what the first member who may do a task is given to say of it."""
    for member in team:
        said = member.get("settings", {}).get("replies", {}).get(task["title"])
        if said and task.get("assignee") in (None, member["name"]):
            versions = said if isinstance(said, list) else [said]
            return dict(zip(("answer", "revised"), versions, strict=False))
    return {}


def _flat_task(task: Document, numbers: Mapping[str, str]) -> dict[str, str]:
    flat = {part: task[part] for part in ("title", "description", "assignee") if part in task}
    wanted = [numbers.get(normalised(title), title) for title in task.get("dependsOn", [])]
    flat["dependsOn"] = ", ".join(wanted)
    flat["verify"] = "yes" if task.get("verify") is True else ""
    known = {"title", "description", "assignee", "dependsOn"}
    known |= {"verify"} if task.get("verify") is True else set()
    more = {name: value for name, value in task.items() if name not in known}
    return flat | {"more": _text(more) if more else ""}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
    if name == "coordinator" and "plan" in rest:
        return "task-1-title", "Plan"
    if name == "coordinator":
        return f"coordinator-{_part(COORDINATOR, rest, 'name')}", _LABELS[name]
    if name not in _LISTS:
        return name or "form", _LABELS.get(name, "")
    kind, label = _LISTS[name]
    place = int(rest[0]) if rest and rest[0].isdigit() else 0
    number = rows[kind][place] if place < len(rows[kind]) else 1
    part = _part(PARTS[kind], rest[1:], PARTS[kind][-1])
    return f"{kind}-{number}-{part}", f"{label} {number}" if rest else f"{label}s"


def _part(parts: Sequence[str], rest: Sequence[str], other: str) -> str:
    """Return the field of a row that the rest of a pointer leads to."""
    if not rest:
        return parts[0]
    return next((each for each in rest if each in parts), other)
