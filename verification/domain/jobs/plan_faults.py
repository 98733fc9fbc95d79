"""Why a plan cannot be run by a team, in sentences for whoever has to change it.

What a plan may be is decided by `consensus.plan` alone; this only explains its refusals, and never
finds a plan in order that would be refused there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.domain.consensus.plan import MOST_TASKS, PLAN_FORM, TASK_FIELDS, PlanSchema
from verification.domain.consensus.queue import normalised
from verification.domain.consensus.rules import MOST_ROUNDS
from verification.domain.consensus.schemas import Miss, SchemaMismatch


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that keeps a plan from being run. Says nothing of the plan's words."""

    task: int | None
    """Its place in the plan, from 0; None: the plan as a whole."""
    field: str
    """Empty: the task as a whole."""
    sentence: str


def faults_in(plan: object, team: Sequence[str]) -> list[Fault]:
    """Return why this team cannot run a plan; nothing where it can."""
    try:
        PlanSchema(tuple(team)).read(plan)
    except SchemaMismatch:
        return _explained(plan, team)
    return []


def _explained(plan: Any, team: Sequence[str]) -> list[Fault]:
    found = [fault for miss in PLAN_FORM.misses(plan) for fault in _of_form(miss, plan)]
    if not found:
        found = [*_of_titles(plan), *_of_team(plan, team), *_of_order(plan)]
    return found or [Fault(None, "", "Tasks wait for each other in a circle.")]


def _of_form(miss: Miss, plan: Any) -> Iterator[Fault]:
    match miss.path:
        case ():
            yield Fault(None, "", f"A plan is a list of 1 to {MOST_TASKS} tasks.")
        case (int(place),):
            yield from _of_members(miss, plan[place], place)
        case (int(place), str(field), *_):
            yield Fault(place, field, _sentence(miss, field))


def _of_members(miss: Miss, task: Any, place: int) -> Iterator[Fault]:
    if miss.keyword == "required":
        for name in ("title", "description"):
            if name not in task:
                yield Fault(place, name, "It is missing.")
    elif miss.keyword == "additionalProperties":
        for name in task:
            if name not in TASK_FIELDS:
                yield Fault(place, "", _UNKNOWN)
    else:
        yield Fault(place, "", "An object is expected here.")


_UNKNOWN = f"It says something that a plan cannot say. There are: {', '.join(TASK_FIELDS)}."
_VERIFY = (
    "Either true, or any of mode (refute, lens), quorum (from 1), maxRounds "
    f"(1 to {MOST_ROUNDS}) and onDissent (revise, reject, keep). "
    "Judges are named by the request, never by a plan."
)
_SENTENCES = {
    "pattern": "It must not be empty.",
    "minimum": "It is too small.",
    "exclusiveMinimum": "It must be more than 0.",
}
_TYPES = {
    "string": "A text is expected here.",
    "integer": "A whole number is expected here.",
    "number": "A number is expected here.",
    "array": "A list of titles is expected here.",
}


def _sentence(miss: Miss, field: str) -> str:
    form = TASK_FIELDS.get(field, {})
    if field == "verify":
        return _VERIFY
    if miss.keyword == "enum":
        return f"One of {', '.join(form['enum'])} is expected."
    if len(miss.path) > 2:
        return "Every title in it must be a text that says something."
    if miss.keyword == "type":
        return _TYPES[form["type"]]
    if miss.keyword == "maximum":
        return f"At most {form['maximum']:g} is possible."
    return _SENTENCES.get(miss.keyword, "It cannot be that.")


def _of_titles(plan: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    titles = [normalised(task["title"]) for task in plan]
    for place, title in enumerate(titles):
        if title in titles[:place]:
            yield Fault(place, "title", "Every task needs a title of its own.")


def _of_team(plan: Sequence[Mapping[str, Any]], team: Sequence[str]) -> Iterator[Fault]:
    for place, task in enumerate(plan):
        if "assignee" in task and task["assignee"].strip() not in team:
            yield Fault(place, "assignee", f"Nobody of the team: {', '.join(team)}.")


def _of_order(plan: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    titles = {normalised(task["title"]) for task in plan}
    for place, task in enumerate(plan):
        wanted = {normalised(title) for title in task.get("dependsOn", ())}
        if not wanted <= titles:
            yield Fault(place, "dependsOn", "It waits for a task that is not in the plan.")
