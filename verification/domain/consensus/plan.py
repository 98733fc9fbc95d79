"""A coordinator's plan: a closed form, read whole or not at all.

A plan is a boundary: an odd value in it is not skipped, because a plan half understood would run
other work than was planned. Judges are never part of it; the caller names them.

Source: open-multi-agent coordinator task specification and `verifyJudges` overlay.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.queue import (
    LONGEST_WAIT_MS,
    MOST_RETRIES,
    CyclicTasks,
    TaskSpec,
    load,
    normalised,
)
from verification.domain.consensus.rules import MOST_ROUNDS, Panel
from verification.domain.consensus.schemas import JsonSchema, SchemaMismatch

Plan = Sequence[Mapping[str, Any]]
MOST_TASKS = 100
_TEXT = {"type": "string", "pattern": r"\S"}
_COUNT = {"type": "integer", "minimum": 1}
_VERIFY = {
    "anyOf": [
        {"const": True},
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "mode": {"enum": ["refute", "lens"]},
                "quorum": _COUNT,
                "maxRounds": {**_COUNT, "maximum": MOST_ROUNDS},
                "onDissent": {"enum": ["revise", "reject", "keep"]},
            },
        },
    ]
}
TASK_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "title": _TEXT,
    "description": _TEXT,
    "assignee": _TEXT,
    "dependsOn": {"type": "array", "items": _TEXT},
    "memoryScope": {"enum": ["dependencies", "all"]},
    "maxRetries": {"type": "integer", "minimum": 0, "maximum": MOST_RETRIES},
    "retryDelayMs": {"type": "number", "minimum": 0, "maximum": LONGEST_WAIT_MS},
    "retryBackoff": {"type": "number", "exclusiveMinimum": 0},
    "role": _TEXT,
    "priority": {"enum": ["low", "normal", "high", "critical"]},
    "verify": _VERIFY,
}
"""What may be said of a task, in the words of JSON Schema."""
PLAN_FORM = JsonSchema(
    {
        "type": "array",
        "minItems": 1,
        "maxItems": MOST_TASKS,
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["title", "description"],
            "properties": TASK_FIELDS,
        },
    }
)


@dataclass(frozen=True, slots=True)
class PlanSchema:
    """Tells a plan that this team can run from anything else. An OutputSchema."""

    team: tuple[str, ...]

    def read(self, value: object) -> object:
        """Return the plan's tasks as mappings. Raises SchemaMismatch."""
        plan: Any = PLAN_FORM.read(value)
        specs = specs_of(plan, ())
        titles = [normalised(spec.title) for spec in specs]
        names = [spec.assignee for spec in specs if spec.assignee is not None]
        wanted = [normalised(title) for spec in specs for title in spec.depends_on]
        if (
            len(set(titles)) < len(titles)
            or not set(names) <= set(self.team)
            or not set(wanted) <= set(titles)
        ):
            raise SchemaMismatch
        try:
            load(specs, self.team)
        except CyclicTasks as error:
            raise SchemaMismatch from error
        return plan


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person said of a plan."""

    is_approved: bool
    plan: Plan | None = None
    """The plan as they changed it; None: as it came."""

    @property
    def text(self) -> str:
        """Return it as the history holds it. Content."""
        return json.dumps({"approved": self.is_approved, "plan": self.plan})


def read_approval(text: str) -> Approval:
    """Return what `Approval.text` wrote."""
    said = json.loads(text)
    return Approval(said["approved"], said["plan"])


def specs_of(plan: Plan, judges: tuple[Agent, ...]) -> tuple[TaskSpec, ...]:
    """Return the tasks of a plan that was read, verified by the judges where the plan says so.

    Without judges a plan's wish to verify is ignored.
    """
    return tuple(_spec(task, judges) for task in plan)


def _spec(task: Mapping[str, Any], judges: tuple[Agent, ...]) -> TaskSpec:
    defaults = TaskSpec(title="", description="")
    assignee, role = task.get("assignee"), task.get("role")
    return TaskSpec(
        title=task["title"].strip(),
        description=task["description"].strip(),
        assignee=None if assignee is None else assignee.strip(),
        depends_on=tuple(title.strip() for title in task.get("dependsOn", ())),
        sees_all_memory=task.get("memoryScope") == "all",
        max_retries=int(task.get("maxRetries", defaults.max_retries)),
        retry_delay_ms=task.get("retryDelayMs", defaults.retry_delay_ms),
        retry_backoff=task.get("retryBackoff", defaults.retry_backoff),
        role=None if role is None else role.strip(),
        verify=overlay(task.get("verify"), judges),
    )


def overlay(wish: object, judges: tuple[Agent, ...]) -> Panel | None:
    """Lay a plan's wish over the caller's judges, field by field; nothing is filled in or clamped.

    Args:
        wish: True, or a mapping with any of mode, quorum, maxRounds and onDissent; None for none.
        judges: the caller's; none of them means no verification.
    """
    if wish is None or not judges:
        return None
    fields: Mapping[str, Any] = wish if isinstance(wish, dict) else {}
    return Panel(
        judges=judges,
        mode=fields.get("mode"),
        quorum=fields.get("quorum"),
        max_rounds=fields.get("maxRounds"),
        on_dissent=fields.get("onDissent"),
    )
