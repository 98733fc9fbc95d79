"""Tasks side by side: whatever the order in which replies come, each call is asked once."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.asks import AskJudge, AskPerson
from verification.domain.consensus.budgets import Budgets
from verification.domain.consensus.history import AbortRequested, Usage
from verification.domain.consensus.queue import TaskSpec, TaskStatus
from verification.domain.consensus.rules import Panel, Setting, Unaccepted
from verification.domain.consensus.steps import Standing, standing
from verification.domain.consensus.tasks import TaskRules

FIVE = Usage(3, 2)
PANEL = Panel(judges=(Agent("ja"), Agent("jb")), quorum=2)


def rules(at_once: int = 3, unaccepted: Unaccepted = Unaccepted.WITHHELD, **more) -> TaskRules:
    """Return four tasks: three that need nobody, and one that needs the first two."""
    return TaskRules(
        team=(Agent("ada"), Agent("bob")),
        tasks=(
            TaskSpec(title="a", description="a", verify=PANEL),
            TaskSpec(title="b", description="b", verify=PANEL),
            TaskSpec(title="c", description="c"),
            TaskSpec(title="d", description="d", depends_on=("a", "b"), verify=PANEL),
        ),
        setting=Setting(at_once=at_once, unaccepted=unaccepted, **more),
    )


def answer(ask, rejected: str = ""):
    """Answer by what is asked and by nothing else; judges reject one text for good."""
    if isinstance(ask, AskJudge):
        accepts = "true" if not rejected or f"of {rejected}" not in ask.answer else "false"
        return ask.answered(f'{{"accept": {accepts}, "critique": "no"}}', FIVE)
    if isinstance(ask, AskPerson):
        return ask.answered("override", Usage())
    return ask.answered(f"Text of {ask.task}", FIVE)


def driven(asked: TaskRules, picks: Sequence[int], rejected: str = "") -> tuple[Standing, list]:
    """Answer whichever pending ask is picked, until nothing is left to do."""
    history, seen = [], {}
    for number in range(200):
        where = standing(asked, history)
        for ask in where.pending:
            assert seen.setdefault(ask.position, ask) == ask  # an ask never changes
        if where.end is not None:
            return where, history
        pick = picks[number % len(picks)] % len(where.pending)
        history.append(answer(where.pending[pick], rejected))
    raise AssertionError("it never ends")


def came_to(where: Standing) -> object:
    """Return what the tasks came to, whatever the order."""
    return [
        (task.id, task.status, task.output, task.is_withheld, task.verification)
        for task in where.tasks
    ]


ORDERS = st.lists(st.integers(0, 5), min_size=1, max_size=40)


@given(picks=ORDERS, at_once=st.integers(1, 5))
def test_no_order_of_replies_changes_what_the_tasks_come_to(picks, at_once):
    alone, _ = driven(rules(1), [0])
    where, history = driven(rules(at_once), picks)

    assert came_to(where) == came_to(alone)
    assert len({reply.position for reply in history}) == len(history)


@given(picks=ORDERS)
def test_a_rejected_result_reaches_nobody_in_any_order(picks):
    where, _ = driven(rules(), picks, rejected="task-1")
    first, _, _, last = where.tasks

    assert (first.is_withheld, first.status) == (True, TaskStatus.COMPLETED)
    assert last.status is TaskStatus.SKIPPED
    assert all(f"task:{last.id}" not in write.name for write in where.observed.memory)
    assert "task:task-1:result" not in [write.name for write in where.observed.memory]


@given(picks=ORDERS)
def test_what_a_person_lets_through_is_built_on(picks):
    where, history = driven(rules(unaccepted=Unaccepted.ASKED), picks, rejected="task-1")

    assert where.tasks[0].is_let_through
    assert where.tasks[3].status is TaskStatus.COMPLETED
    assert sum(reply.agent == "person" for reply in history) == 1


@given(picks=ORDERS, cut=st.integers(0, 12))
def test_a_cancelled_run_asks_nobody_else_whatever_still_comes_in(picks, cut):
    _, whole = driven(rules(), picks)
    before = whole[:cut]
    late = [answer(ask) for ask in standing(rules(), before).pending[:2]]

    for history in ([*before, AbortRequested()], [*before, AbortRequested(), *late]):
        where = standing(rules(), history)
        assert where.end is not None
        assert where.pending == ()
        assert all(task.status is not TaskStatus.IN_PROGRESS for task in where.tasks)


@given(picks=ORDERS, budget=st.integers(1, 60))
def test_once_a_budget_is_crossed_nothing_new_begins(picks, budget):
    asked = rules(budgets=Budgets(budget))
    where, history = driven(asked, picks)
    spent = sum(reply.usage.total for reply in history)

    # Calls that were under way when it was crossed are finished: one a task at most.
    assert spent <= budget + 5 * 3
    if spent > budget:
        assert where.end.result.status == "budget_exhausted"


def test_no_more_tasks_are_begun_than_may_be():
    for at_once, begun in ((1, 1), (2, 2), (3, 3), (9, 3)):
        assert len(standing(rules(at_once), []).pending) == begun


def test_a_task_that_waits_for_a_person_takes_no_place():
    asked = rules(1, Unaccepted.ASKED)
    history = []
    while not any(isinstance(ask, AskPerson) for ask in standing(asked, history).pending):
        history.append(answer(standing(asked, history).pending[0], "task-1"))

    assert len(standing(asked, history).pending) == 2
