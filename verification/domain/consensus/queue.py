"""Tasks and the order they may start in: a task waits for those it depends on.

One task at a time is handed out, so the order of calls is the same in every replay.

Source: open-multi-agent task queue and its `dependency-first` scheduling.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from verification.domain.consensus.history import Usage
from verification.domain.consensus.observed import AgentOutcome, Verification
from verification.domain.consensus.rules import Panel
from verification.domain.errors import VerificationError


class InvalidTasks(VerificationError):
    """These tasks cannot be run in any order, or by nobody."""


class EmptyTeam(InvalidTasks):
    """There is no agent to do the work."""

    def __init__(self) -> None:
        super().__init__("A team needs at least one agent.")


class CyclicTasks(InvalidTasks):
    """Some tasks wait for each other."""

    def __init__(self) -> None:
        super().__init__("Tasks wait for each other in a circle.")


class DependencyPayload(StrEnum):
    """What a task is shown of the tasks before it."""

    OUTPUT = "output"
    STRUCTURED = "structured"
    BOTH = "both"


class TaskStatus(StrEnum):
    """Where a task stands."""

    PENDING = "pending"
    BLOCKED = "blocked"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


ENDED = (TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.SKIPPED)
"""Nothing more happens to a task."""
MOST_RETRIES = 5
"""Of one task, whoever asks for them: a request or a plan."""
LONGEST_WAIT_MS = 30_000.0
"""Before a task is tried again."""
_OPEN = (TaskStatus.PENDING, TaskStatus.BLOCKED, TaskStatus.IN_PROGRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """A task as it was asked for."""

    title: str
    description: str
    assignee: str | None = None
    """Left out or unknown: an agent is chosen in turn."""
    depends_on: tuple[str, ...] = ()
    """Titles, compared without regard to case and surrounding blanks."""
    payload: DependencyPayload = DependencyPayload.OUTPUT
    sees_all_memory: bool = False
    max_retries: int = 0
    retry_delay_ms: float = 1000.0
    retry_backoff: float = 2.0
    role: str | None = None
    verify: Panel | None = None
    """Judges for this task's output; None leaves it unverified."""


@dataclass(slots=True)
class Task:
    """A task under way. Lives for one replay only."""

    id: str
    spec: TaskSpec
    assignee: str | None
    depends_on: tuple[str, ...] = ()
    status: TaskStatus = TaskStatus.PENDING
    output: str = ""
    """What it came to, or why it did not. Content."""
    usage: Usage | None = None
    """Of the worker alone, all attempts; None when it was never tried."""
    outcome: AgentOutcome | None = None
    verification: Verification | None = None
    """What the judges made of its output; None while they have not decided."""
    is_withheld: bool = False
    """It is done, and nothing may build on it."""
    is_let_through: bool = False
    """A person let it count although its judges had not accepted it."""


@dataclass(slots=True)
class Queue:
    """All tasks of a run, in the order given."""

    tasks: list[Task] = field(default_factory=list)

    def next_ready(self) -> Task | None:
        """Return the ready task that most others wait for; the earlier one where that is equal."""
        ready = [task for task in self.tasks if task.status is TaskStatus.PENDING]
        return max(ready, key=lambda task: len(self._waiting_for(task)), default=None)

    def complete(self, task: Task, output: str) -> None:
        """Finish a task and free those that waited for it alone."""
        task.status, task.output = TaskStatus.COMPLETED, output
        for waiting in self.tasks:
            if waiting.status is TaskStatus.BLOCKED and self._is_free(waiting):
                waiting.status = TaskStatus.PENDING

    def withhold(self, task: Task, output: str) -> list[Task]:
        """Finish a task whose result does not count; return what can therefore not be done."""
        task.status, task.output, task.is_withheld = TaskStatus.COMPLETED, output, True
        skipped = [each for each in self._waiting_for(task) if each.status in _OPEN]
        for each in skipped:
            each.status, each.output = TaskStatus.SKIPPED, "A task before it was not accepted."
        return skipped

    def fail(self, task: Task, why: str) -> None:
        """Fail a task and all that could only have followed it."""
        task.status, task.output = TaskStatus.FAILED, why
        for waiting in self._waiting_for(task):
            if waiting.status in _OPEN:
                waiting.status, waiting.output = TaskStatus.FAILED, "A task before it failed."

    def skip_rest(self) -> Iterator[Task]:
        """Skip everything that is not finished, and return it in order."""
        for task in self.tasks:
            if task.status in _OPEN:
                task.status, task.output = TaskStatus.SKIPPED, "The run stopped before it."
                yield task

    def named(self, task_id: str) -> Task:
        """Return the task of an id."""
        return next(task for task in self.tasks if task.id == task_id)

    def _is_free(self, task: Task) -> bool:
        done = {each.id for each in self.tasks if each.status is TaskStatus.COMPLETED}
        return done.issuperset(task.depends_on)

    def _waiting_for(self, task: Task) -> list[Task]:
        found: dict[str, Task] = {}
        todo = [task.id]
        while todo:
            before = todo.pop(0)
            for each in self.tasks:
                if before in each.depends_on and each.id not in found:
                    found[each.id] = each
                    todo.append(each.id)
        return list(found.values())


def normalised(title: str) -> str:
    """Return the form in which titles are compared."""
    return title.strip().lower()


def load(specs: Sequence[TaskSpec], team: Iterable[str]) -> Queue:
    """Return a queue of tasks, with the ids `task-1`, `task-2` and so on.

    A task that depends on a title that is unknown, or that two tasks share, has failed already.

    Raises:
        EmptyTeam: nobody could do the work.
        CyclicTasks: tasks wait for each other.
    """
    names = set(team)
    if not names:
        raise EmptyTeam
    ids = _ids_by_title(specs)
    queue = Queue([_task(number, spec, names, ids) for number, spec in enumerate(specs, start=1)])
    _refuse_cycles(queue)
    for task in queue.tasks:
        if len(task.depends_on) < len(task.spec.depends_on):
            queue.fail(task, "It depends on a task that is not clearly named.")
    return queue


def _ids_by_title(specs: Sequence[TaskSpec]) -> dict[str, str]:
    titles = [normalised(spec.title) for spec in specs]
    return {
        title: f"task-{number}"
        for number, title in enumerate(titles, start=1)
        if titles.count(title) == 1
    }


def _task(number: int, spec: TaskSpec, names: set[str], ids: dict[str, str]) -> Task:
    wanted = [ids.get(normalised(title)) for title in spec.depends_on]
    return Task(
        id=f"task-{number}",
        spec=spec,
        assignee=spec.assignee if spec.assignee in names else None,
        depends_on=tuple(each for each in wanted if each is not None),
        status=TaskStatus.BLOCKED if spec.depends_on else TaskStatus.PENDING,
    )


def _refuse_cycles(queue: Queue) -> None:
    placed: set[str] = set()
    while len(placed) < len(queue.tasks):
        free = {
            task.id
            for task in queue.tasks
            if task.id not in placed and placed.issuperset(task.depends_on)
        }
        if not free:
            raise CyclicTasks
        placed |= free
