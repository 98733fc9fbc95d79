"""Tasks start when what they need is done, and never when it cannot be done any more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.consensus.queue import (
    CyclicTasks,
    EmptyTeam,
    TaskSpec,
    TaskStatus,
    load,
)


def spec(title, *before, **more):
    return TaskSpec(title=title, description=f"Do {title}.", depends_on=before, **more)


def states(queue):
    return [task.status.value for task in queue.tasks]


def test_a_task_waits_for_all_it_depends_on():
    queue = load([spec("a"), spec("b"), spec("c", "A ", " b")], ["w"])
    first, second, last = queue.tasks

    queue.complete(first, "A")
    assert last.status is TaskStatus.BLOCKED
    queue.complete(second, "B")

    assert queue.next_ready() is last


def test_the_task_that_most_others_wait_for_comes_first():
    queue = load([spec("alone"), spec("root"), spec("mid", "root"), spec("end", "mid")], ["w"])

    assert queue.next_ready().spec.title == "root"


def test_a_failed_task_takes_those_with_it_that_need_it():
    queue = load([spec("a"), spec("b", "a"), spec("c", "b"), spec("d")], ["w"])

    queue.fail(queue.tasks[0], "no")

    assert states(queue) == ["failed", "failed", "failed", "pending"]


def test_skipping_leaves_what_is_finished():
    queue = load([spec("a"), spec("b", "a"), spec("c")], ["w"])
    queue.complete(queue.tasks[0], "A")

    assert [task.spec.title for task in queue.skip_rest()] == ["b", "c"]
    assert states(queue) == ["completed", "skipped", "skipped"]


@pytest.mark.parametrize("unclear", [spec("b", "nobody"), spec("b", "twin")])
def test_a_task_that_depends_on_something_unclear_has_failed_already(unclear):
    queue = load([spec("a"), unclear, spec("twin"), spec("Twin "), spec("c", "b")], ["w"])

    assert states(queue) == ["pending", "failed", "pending", "pending", "failed"]


def test_tasks_that_wait_for_each_other_are_refused():
    with pytest.raises(CyclicTasks):
        load([spec("a", "b"), spec("b", "a")], ["w"])
    with pytest.raises(CyclicTasks):
        load([spec("a", "a")], ["w"])


def test_work_needs_somebody_to_do_it():
    with pytest.raises(EmptyTeam):
        load([spec("a")], [])


def test_somebody_who_is_not_in_the_team_is_nobody():
    queue = load([spec("a", assignee="w"), spec("b", assignee="x")], ["w"])

    assert [task.assignee for task in queue.tasks] == ["w", None]


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.lists(st.sets(st.integers(0, n - 1)), min_size=n, max_size=n)
    )
)
def test_every_task_is_done_after_all_it_depends_on(wanted):
    specs = [
        spec(f"t{number}", *(f"t{before}" for before in befores if before < number))
        for number, befores in enumerate(wanted)
    ]
    queue = load(specs, ["w"])
    done = []

    while (task := queue.next_ready()) is not None:
        assert set(task.depends_on) <= set(done)
        done.append(task.id)
        queue.complete(task, "x")

    assert len(done) == len(specs)
