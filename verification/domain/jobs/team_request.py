"""Reads a request for a run of tasks or of a team, as the API and the command line send it.

Source: open-multi-agent runTasks and runTeam options; a plan's closed form is `consensus.plan`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

from verification.domain.consensus.plan import MOST_TASKS, Approval
from verification.domain.consensus.queue import (
    MOST_RETRIES,
    CyclicTasks,
    TaskSpec,
    load,
    normalised,
)
from verification.domain.consensus.rules import (
    MOST_ROUNDS,
    Mode,
    OnDissent,
    Panel,
    Unaccepted,
)
from verification.domain.jobs import members
from verification.domain.jobs.given import GIVEN, Given, given_coordinator, given_member
from verification.domain.jobs.members import Document
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.request import (
    MOST_TOKENS,
    RULE,
    Asked,
    check_independent,
    count,
    judge_prompt_in,
    member_of,
    name_in,
    panel_of,
    schema_in,
    word,
)
from verification.domain.jobs.states import Operation

MOST_MEMBERS = 16
MOST_DOLLARS = 100_000
MOST_AT_ONCE = 64
LONGEST_TITLE = 200
LONGEST_DIGEST = 128

_COMMON = frozenset(
    {
        "operation", "workspace", "team", "onRejected", "atOnce", "criteria", "maxTokenBudget",
        "maxCostBudget",
    }
)  # fmt: skip
_OF_TASKS = _COMMON | {"tasks", "judges"}
_OF_TEAM = _COMMON | {"goal", "coordinator", "verifyJudges", "approvePlan"}
_OF_TASK = frozenset(
    {"title", "description", "assignee", "dependsOn", "memoryScope", "maxRetries", "verify"}
)
_OF_VERIFY = frozenset(
    {"judges", "mode", "quorum", "maxRounds", "onDissent", "judgePrompt", "verdictSchema"}
)


class OnRejected(StrEnum):
    """What becomes of a result that its judges did not accept."""

    SKIP = "skip"
    """It is not merged, and what depends on it is skipped."""
    PAUSE = "pause"
    """What depends on it waits until a person has decided."""


_UNACCEPTED = {OnRejected.SKIP: Unaccepted.WITHHELD, OnRejected.PAUSE: Unaccepted.ASKED}
ON_REJECTED = {policy: said.value for said, policy in _UNACCEPTED.items()}


class MemoryScope(StrEnum):
    """What of shared memory a task is shown."""

    DEPENDENCIES = "dependencies"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRequest:
    """What is asked for. Content: it never leaves the restricted zone as a whole."""

    operation: Operation
    team: tuple[Asked, ...]
    tasks: tuple[TaskSpec, ...] = ()
    """Of a run of tasks; a team's are planned."""
    goal: str = ""
    coordinator: Asked | None = None
    judges: tuple[Asked, ...] = ()
    """Everybody who may be called on to judge."""
    needs_approval: bool = False
    unaccepted: Unaccepted
    at_once: int | None = None
    """None: as many as the setting allows."""
    max_tokens: int | None
    max_cost: Decimal | None
    """In US dollars."""
    criteria: tuple[str, ...]
    given: Mapping[str, Given] = field(default_factory=dict)
    """What members say that are no models, by name."""
    named: tuple[tuple[str, str], ...] = ()
    """Every model that is named, with a pointer to where."""
    workspace: str = ""
    document: Document = field(default_factory=dict)

    @property
    def question(self) -> str:
        """Return the goal; a list of tasks has none. Content."""
        return self.goal

    @property
    def models(self) -> tuple[tuple[str, str], ...]:
        """Return every model that would be called, with a pointer to where it is named."""
        return tuple(
            (model, pointer)
            for model, pointer in self.named
            if model != GIVEN and not model.startswith(RULE)
        )


@dataclass(slots=True)
class _Seen:
    """What was met on the way."""

    named: list[tuple[str, str]] = field(default_factory=list)
    given: dict[str, Given] = field(default_factory=dict)
    judges: dict[str, Asked] = field(default_factory=dict)

    def hears(self, judges: Sequence[Asked], pointer: str) -> None:
        """Note a panel."""
        for index, judge in enumerate(judges):
            self.judges[judge.name] = judge
            self.named.append((judge.model, f"{pointer}/{index}/model"))


def read_tasks(document: object) -> TeamRequest:
    """Return what a document asks for: tasks and those who do them. Raises JobRefused."""
    said = members.an_object(document, "", _OF_TASKS)
    seen = _Seen()
    team = _team(said, seen)
    names = {member.name for member in team}
    panel = panel_of(said["judges"], "/judges") if "judges" in said else ()
    check_independent(panel, names, "/judges")
    seen.hears(panel, "/judges")
    tasks = _Tasks(seen, names, panel).read(said.get("tasks"))
    _check_replies(tasks, seen.given)
    return _request(said, Operation.TASKS, team, seen, tasks=tasks)


def read_team(document: object) -> TeamRequest:
    """Return what a document asks for: a goal and a team to reach it. Raises JobRefused."""
    said = members.an_object(document, "", _OF_TEAM)
    seen = _Seen()
    team = _team(said, seen)
    coordinator = _coordinator(said, seen)
    if coordinator.name in {member.name for member in team}:
        where = "/coordinator/name"
        raise JobRefused("duplicate", where, "The coordinator is nobody of the team.")
    judges = panel_of(said["verifyJudges"], "/verifyJudges") if "verifyJudges" in said else ()
    actors = {coordinator.name, *(member.name for member in team)}
    check_independent(judges, actors, "/verifyJudges")
    seen.hears(judges, "/verifyJudges")
    if "goal" not in said:
        raise JobRefused("required", "/goal", "It is missing.")
    return _request(
        said,
        Operation.TEAM,
        team,
        seen,
        goal=members.a_text(said["goal"], "/goal", members.LONGEST_QUESTION),
        coordinator=coordinator,
        needs_approval=members.a_truth(said.get("approvePlan", False), "/approvePlan"),
    )


def _request(
    said: Document,
    operation: Operation,
    team: tuple[Asked, ...],
    seen: _Seen,
    *,
    tasks: tuple[TaskSpec, ...] = (),
    goal: str = "",
    coordinator: Asked | None = None,
    needs_approval: bool = False,
) -> TeamRequest:
    max_cost = None
    if "maxCostBudget" in said:
        max_cost = members.an_amount(said["maxCostBudget"], "/maxCostBudget", MOST_DOLLARS)
    on_rejected = OnRejected(word(said, "onRejected", OnRejected, OnRejected.SKIP))
    return TeamRequest(
        operation=operation,
        team=team,
        tasks=tasks,
        goal=goal,
        coordinator=coordinator,
        judges=tuple(seen.judges.values()),
        needs_approval=needs_approval,
        unaccepted=_UNACCEPTED[on_rejected],
        at_once=count(said, "atOnce", MOST_AT_ONCE),
        max_tokens=count(said, "maxTokenBudget", MOST_TOKENS),
        max_cost=max_cost,
        criteria=members.criteria(said.get("criteria", []), "/criteria"),
        given=seen.given,
        named=tuple(seen.named),
        workspace=name_in(said, "workspace"),
        document=said,
    )


def _team(said: Document, seen: _Seen) -> tuple[Asked, ...]:
    listed = said.get("team")
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_MEMBERS:
        raise JobRefused("range", "/team", f"1 to {MOST_MEMBERS} members are expected.")
    team: list[Asked] = []
    for index, each in enumerate(listed):
        pointer = f"/team/{index}"
        member = _member(each, pointer, seen, given_member)
        if member.name in {other.name for other in team}:
            where = f"{pointer}/name"
            raise JobRefused("duplicate", where, "Every member needs a name of its own.")
        team.append(member)
    return tuple(team)


def _coordinator(said: Document, seen: _Seen) -> Asked:
    if "coordinator" not in said:
        raise JobRefused("required", "/coordinator", "Say who plans: a name and a model.")
    return _member(said["coordinator"], "/coordinator", seen, given_coordinator)


def _member(
    given: object, pointer: str, seen: _Seen, read: Callable[[object, str], Given]
) -> Asked:
    said = members.an_object(given, pointer, {"name", "model", "settings", "maxTokenBudget"})
    is_given = said.get("model") == GIVEN
    if "settings" in said and not is_given:
        where = f"{pointer}/settings"
        raise JobRefused("unexpected_key", where, f"Only members of model {GIVEN} have settings.")
    plain = {name: value for name, value in said.items() if name != "settings"}
    member = member_of(plain, pointer)
    if is_given:
        seen.given[member.name] = read(said.get("settings"), f"{pointer}/settings")
    seen.named.append((member.model, f"{pointer}/model"))
    return member


@dataclass(frozen=True, slots=True)
class _Tasks:
    """Reads a list of tasks."""

    seen: _Seen
    team: set[str]
    panel: tuple[Asked, ...]
    """Who judges where a task names nobody."""

    def read(self, given: object) -> tuple[TaskSpec, ...]:
        """Return the tasks. Raises JobRefused."""
        if not isinstance(given, list) or not 0 < len(given) <= MOST_TASKS:
            raise JobRefused("range", "/tasks", f"1 to {MOST_TASKS} tasks are expected.")
        tasks = tuple(self._task(each, f"/tasks/{index}") for index, each in enumerate(given))
        self._check_order(tasks)
        return tasks

    def _task(self, given: object, pointer: str) -> TaskSpec:
        said = members.an_object(given, pointer, _OF_TASK)
        for name in ("title", "description"):
            if name not in said:
                raise JobRefused("required", f"{pointer}/{name}", "It is missing.")
        description = f"{pointer}/description"
        retries = f"{pointer}/maxRetries"
        return TaskSpec(
            title=members.a_text(said["title"], f"{pointer}/title", LONGEST_TITLE).strip(),
            description=members.a_text(
                said["description"], description, members.LONGEST_QUESTION
            ).strip(),
            assignee=self._assignee(said, pointer),
            depends_on=_depends_on(said.get("dependsOn", []), f"{pointer}/dependsOn"),
            sees_all_memory=_scope(said, pointer) is MemoryScope.ALL,
            max_retries=members.a_count(said.get("maxRetries", 0), retries, 0, MOST_RETRIES),
            verify=self._verify(said, pointer),
        )

    def _assignee(self, said: Document, pointer: str) -> str | None:
        if "assignee" not in said:
            return None
        return members.a_word(said["assignee"], f"{pointer}/assignee", sorted(self.team))

    def _verify(self, said: Document, pointer: str) -> Panel | None:
        where = f"{pointer}/verify"
        if "verify" not in said:
            return None
        wish = {} if said["verify"] is True else said["verify"]
        options = members.an_object(wish, where, _OF_VERIFY)
        judges = self._judges(options, where)
        if options.get("onDissent") == OnDissent.KEEP:
            raise JobRefused(
                "keep_forbidden_on_gating",
                f"{where}/onDissent",
                "The Console obeys verdicts, so a result without quorum cannot be kept.",
            )
        return Panel(
            judges=tuple(each.agent for each in judges),
            mode=word(options, "mode", Mode, Mode.REFUTE, where),
            quorum=count(options, "quorum", len(judges), where),
            max_rounds=count(options, "maxRounds", MOST_ROUNDS, where),
            on_dissent=word(options, "onDissent", OnDissent, OnDissent.REVISE, where),
            judge_prompt=judge_prompt_in(options, judges, where),
            verdict_schema=schema_in(options, where),
        )

    def _judges(self, options: Document, where: str) -> tuple[Asked, ...]:
        if "judges" not in options:
            if not self.panel:
                raise JobRefused("no_judges", where, "At least one judge is needed.")
            return self.panel
        judges = panel_of(options["judges"], f"{where}/judges")
        check_independent(judges, self.team, f"{where}/judges")
        self.seen.hears(judges, f"{where}/judges")
        return judges

    def _check_order(self, tasks: Sequence[TaskSpec]) -> None:
        titles = [normalised(task.title) for task in tasks]
        for index, task in enumerate(tasks):
            if titles.index(titles[index]) < index:
                where = f"/tasks/{index}/title"
                raise JobRefused("duplicate", where, "Every task needs a title of its own.")
            for number, title in enumerate(task.depends_on):
                if normalised(title) not in titles:
                    where = f"/tasks/{index}/dependsOn/{number}"
                    raise JobRefused("unknown_task", where, "No task has this title.")
        try:
            load(tasks, self.team)
        except CyclicTasks as error:
            raise JobRefused("cycle", "/tasks", str(error)) from error


def _scope(said: Document, pointer: str) -> MemoryScope:
    nearest = MemoryScope.DEPENDENCIES
    return MemoryScope(word(said, "memoryScope", MemoryScope, nearest, pointer))


def _depends_on(given: object, pointer: str) -> tuple[str, ...]:
    if not isinstance(given, list) or len(given) > MOST_TASKS:
        raise JobRefused("type", pointer, "A list of titles is expected here.")
    return tuple(
        members.a_text(title, f"{pointer}/{index}", LONGEST_TITLE).strip()
        for index, title in enumerate(given)
    )


def _check_replies(tasks: Sequence[TaskSpec], given: Mapping[str, Given]) -> None:
    for index, task in enumerate(tasks):
        member = given.get(task.assignee or "")
        if member is not None and member.reply(task.title, 0) is None:
            where = f"/tasks/{index}/assignee"
            raise JobRefused("no_reply", where, "This member was given no answer to this task.")


def read_plan_decision(document: object) -> tuple[Approval, str]:
    """Return what is said of a plan, and the digest of the one that was seen. Raises JobRefused."""
    said = members.an_object(document, "", {"approve", "plan", "seenDigest"})
    if "approve" not in said:
        raise JobRefused("required", "/approve", "Say whether the plan may run.")
    if "seenDigest" not in said:
        raise JobRefused("required", "/seenDigest", "Say which plan you saw: the job names it.")
    is_approved = members.a_truth(said["approve"], "/approve")
    plan: Any = said.get("plan")
    if "plan" in said and not (is_approved and isinstance(plan, list)):
        raise JobRefused("plan", "/plan", "A plan is a list of tasks, and goes with an approval.")
    seen = members.a_text(said["seenDigest"], "/seenDigest", LONGEST_DIGEST)
    return Approval(is_approved, plan), seen
