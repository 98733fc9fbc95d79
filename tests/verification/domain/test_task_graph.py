"""Where a run's tasks are drawn, and where the lines between them pass."""

from hypothesis import given
from hypothesis import strategies as st

from verification.domain.jobs.task_graph import Slot, columns

CHAIN = {1: (), 2: (1,), 3: (1, 2), 4: (3,)}
"""The third waits for the first too, two columns before."""


@st.composite
def plans(draw):
    """Return tasks that each wait for some of those before them."""
    many = draw(st.integers(0, 12))
    return {
        n: tuple(draw(st.sets(st.integers(1, n - 1), max_size=3))) if n > 1 else ()
        for n in range(1, many + 1)
    }


def test_a_line_that_skips_a_column_has_a_slot_there():
    laid = columns(CHAIN)

    assert [set(column) for column in laid] == [
        {Slot(1)},
        {Slot(1, passes=True), Slot(2)},
        {Slot(3)},
        {Slot(4)},
    ]


def test_tasks_stand_level_with_what_they_wait_for():
    assert columns({1: (), 2: (), 3: (2,), 4: (1,)})[1] == (Slot(4), Slot(3))


def test_nothing_is_drawn_of_nothing():
    assert columns({}) == []


@given(plans())
def test_every_task_has_one_box_and_every_line_a_way_that_meets_no_other_box(depends):
    laid = columns(depends)
    at = {slot.task: n for n, column in enumerate(laid) for slot in column if not slot.passes}

    assert sorted(at) == sorted(depends)
    for number, before in depends.items():
        for each in before:
            assert at[each] < at[number]
            for between in range(at[each] + 1, at[number]):
                assert Slot(each, passes=True) in laid[between]
