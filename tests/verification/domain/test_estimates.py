"""How long a run of tasks may still take: spans that hold what may come, or nothing at all."""

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.queue import TaskSpec
from verification.domain.consensus.rules import Panel
from verification.domain.jobs.estimates import (
    Kind,
    Span,
    judging_for,
    less,
    seconds_left,
    total,
    work_for,
)


def spec(panel: Panel | None = None, **more) -> TaskSpec:
    return TaskSpec(title="T", description="D", verify=panel, **more)


def three(**more) -> Panel:
    return Panel(judges=tuple(Agent(name) for name in "abc"), **more)


def test_a_task_that_nobody_judges_takes_its_worker_and_its_retries():
    assert work_for(spec(max_retries=2)) == Span(1, 3)
    assert judging_for(spec()) == Span(0, 0)


def test_a_judged_task_takes_a_quorum_at_least_and_every_round_at_most():
    asked = spec(three(quorum=2, max_rounds=3))
    assert judging_for(asked) == Span(2, 9)
    assert work_for(asked) == Span(1, 3)


def test_where_nobody_revises_one_round_is_all():
    asked = spec(three(on_dissent="reject", max_rounds=5))
    assert (judging_for(asked), work_for(asked)) == (Span(2, 3), Span(1, 1))


def test_what_was_made_is_left_no_more():
    assert less(Span(2, 9), 3) == Span(0, 6)
    assert total([Span(1, 2), Span(3, 4)]) == Span(4, 6)


def test_nothing_is_said_before_every_kind_that_is_left_has_been_seen():
    work, judging = Kind(Span(1, 2), [4.0, 6.0]), Kind(Span(2, 9), [])
    assert seconds_left([work, judging], 2) is None
    assert seconds_left([Kind(Span(1, 2), [4.0])], 1) is None


def test_the_span_goes_from_the_usual_side_by_side_to_the_slowest_one_by_one():
    work, judging = Kind(Span(2, 3), [4.0, 6.0, 20.0]), Kind(Span(2, 9), [1.0])
    assert seconds_left([work, judging], 2) == Span(7, 69)
