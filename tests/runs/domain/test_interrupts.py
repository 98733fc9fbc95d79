"""When the host's interrupts open and close, in every form that hosts write them."""

import pytest

from runs.domain.interrupts import Closed, announcement_of, interrupts
from runs.domain.projection import project
from tests.logs import completed, line, mark, resumed, started, suspended


def opened(*lines):
    return [each for each in interrupts(lines) if each.is_open]


@pytest.mark.parametrize(
    ("type_", "payload", "node", "expected"),
    [
        (
            "node.suspended",
            {"interruptId": "i1", "kind": "approval"},
            "gate",
            ("gate", "i1", "approval", ()),
        ),
        (
            "node.suspended",
            {"kind": "approval", "nodeId": "gate", "config": {"actions": ["accept", "edit"]}},
            None,
            ("gate", None, "approval", ("accept", "edit-accept")),
        ),
        (
            "node.suspended",
            {"reason": "low-confidence", "agentId": "a", "threshold": 0.7, "observed": 0.5},
            "n",
            ("n", None, "low-confidence", ()),
        ),
        (
            "interrupt.requested",
            {"kind": "approval", "key": "k", "nodeId": "n", "interruptId": "i",
             "data": {"actions": ["reject"]}},
            None,
            ("n", "i", "approval", ("reject",)),
        ),
        (
            "approval.requested",
            {"nodeId": "n", "actions": ["accept", 5], "interruptId": "i"},
            None,
            ("n", "i", "approval", ("accept",)),
        ),
        ("clarification.requested", {"nodeId": "n"}, None, ("n", None, "clarification", ())),
        ("conversation.opened", {"conversationId": "c"}, "n", ("n", None, "conversation", ())),
        ("node.suspended", {"reason": "conversation-input"}, "n", ("n", None, "conversation", ())),
        ("node.suspended", None, "n", ("n", None, None, ())),
    ],
)  # fmt: skip
def test_every_dialect_of_an_interrupt_is_read(type_, payload, node, expected):
    (interrupt,) = interrupts([line(1, type_, payload, node)])

    assert (
        interrupt.node_id,
        interrupt.interrupt_id,
        interrupt.kind,
        interrupt.actions,
    ) == expected


def test_a_line_of_another_type_opens_nothing():
    assert announcement_of(line(1, "node.started", {"kind": "approval"}, "n")) is None


def test_one_interrupt_announced_twice_is_one():
    low = line(4, "node.suspended", {"reason": "low-confidence", "agentId": "a"}, "n")
    named = suspended(5, "n", "approval", interruptId="i")

    (interrupt,) = interrupts([low, named])

    assert interrupt.is_low_confidence
    assert (interrupt.kind, interrupt.interrupt_id, interrupt.opened_at) == ("approval", "i", 4)
    assert len(interrupt.lines) == 2


def test_two_ids_at_one_node_are_two_interrupts():
    lines = [suspended(1, "n", interruptId="i"), suspended(2, "n", interruptId="j")]

    assert [each.interrupt_id for each in interrupts(lines)] == ["i", "j"]


def test_the_same_id_at_another_node_is_the_same_interrupt():
    lines = [suspended(1, "n", interruptId="i"), suspended(2, "m", interruptId="i")]

    assert len(interrupts(lines)) == 1


@pytest.mark.parametrize(
    "close",
    [
        resumed(2, "n"),
        line(2, "node.interrupt.resolved", {"interruptId": "i", "kind": "approval"}, "n"),
        line(2, "node.interrupt.resolved", {"interruptId": "i"}),
        line(2, "interrupt.resolved", {"nodeId": "n", "interruptId": "i"}),
        line(2, "approval.received", {"nodeId": "n", "action": "accept"}),
        line(2, "run.resumed", {"resumedAtNode": "n"}),
        line(2, "run.resumed", {"resumedBy": "host"}),
        line(2, "run.resumed", None),
        line(2, "node.resumed", None),
    ],
)
def test_an_interrupt_closes_with_whatever_the_host_says_about_going_on(close):
    (interrupt,) = interrupts([suspended(1, "n", interruptId="i"), close])

    assert interrupt.closed is Closed.ANSWERED
    assert interrupt.closed_by is close


@pytest.mark.parametrize("type_", ["run.completed", "run.failed", "run.cancelled"])
def test_the_end_of_the_run_closes_every_interrupt(type_):
    found = interrupts([suspended(1, "a"), suspended(2, "b"), line(3, type_, None)])

    assert [each.closed for each in found] == [Closed.RUN_ENDED, Closed.RUN_ENDED]


@pytest.mark.parametrize(
    "other",
    [
        resumed(2, "other"),
        line(2, "node.interrupt.resolved", {"interruptId": "j"}, "n"),
        line(2, "run.resumed", {"resumedAtNode": "other"}),
        line(2, "approval.received", {"nodeId": "n", "action": "ask"}),
        line(2, "interrupt.vote", {"votes": [{"action": "accept"}]}, "n"),
        line(2, "approval.granted", {"gateId": "n", "principal": "p"}),
        line(2, "node.completed", {}, "other"),
    ],
)
def test_what_is_about_something_else_closes_nothing(other):
    assert len(opened(suspended(1, "n", interruptId="i"), other)) == 1


def test_a_bare_resume_closes_nothing_when_several_could_be_meant():
    assert len(opened(suspended(1, "a"), suspended(2, "b"), line(3, "node.resumed", {}))) == 2


def test_resuming_a_paused_run_answers_no_interrupt():
    lines = [suspended(1, "n"), line(2, "run.paused", {}), line(3, "run.resumed", {})]

    assert len(opened(*lines)) == 1
    assert not opened(*lines, line(4, "run.resumed", {}))


def test_a_conversation_closes_by_its_own_id():
    start = line(1, "conversation.opened", {"conversationId": "c"}, "n")

    assert not opened(start, line(2, "conversation.closed", {"conversationId": "c"}))
    assert opened(start, line(2, "conversation.closed", {"conversationId": "d"}))


def test_a_run_that_has_ended_waits_for_nobody_until_it_goes_on():
    ended = [line(1, "run.failed", {}), suspended(2, "n")]

    assert not opened(*ended)
    assert opened(*ended, line(3, "run.resumed", {}), suspended(4, "n"))


def test_a_node_that_is_suspended_again_has_a_new_interrupt():
    found = interrupts([suspended(1, "n"), resumed(2, "n"), suspended(3, "n")])

    assert [each.is_open for each in found] == [False, True]


@pytest.mark.parametrize(
    ("close", "is_through"),
    [
        (resumed(2, "n", action="accept"), True),
        (resumed(2, "n"), True),
        (line(2, "interrupt.resolved", {"nodeId": "n", "resumeValue": {"action": "accept"}}), True),
        (resumed(2, "n", action="reject"), False),
        (
            line(2, "interrupt.resolved", {"nodeId": "n", "resumeValue": {"action": "reject"}}),
            False,
        ),
        (completed(2), False),
    ],
)
def test_an_answer_lets_through_unless_it_refuses(close, is_through):
    (interrupt,) = interrupts([suspended(1, "n"), close])

    assert interrupt.was_let_through is is_through


def found(at, node="gate", **more):
    payload = {"nodeId": node, "kind": "approval", "atSequence": at, **more}
    return mark(90, "console.interrupt.found", payload)


def gone(at, node="gate"):
    return mark(91, "console.interrupt.gone", {"nodeId": node, "atSequence": at})


def of_run(lines, *ours):
    return project([started(), *lines], ours).interrupts


def test_an_interrupt_that_was_only_found_stands_right_after_what_was_held_then():
    (interrupt,) = of_run([line(1, "node.started"), line(2, "node.started")], found(1))

    assert (interrupt.is_open, interrupt.is_only_found, interrupt.opened_at) == (True, True, 1.5)
    assert of_run([suspended(1, "gate")]) == of_run([suspended(1, "gate")], gone(0))


@pytest.mark.parametrize(
    ("lines", "ours", "is_open"),
    [
        ([resumed(1, "gate")], [found(1)], True),
        ([line(1, "node.started"), resumed(2, "gate")], [found(1)], False),
        ([line(1, "node.started"), completed(2)], [found(1)], False),
        ([line(1, "node.started")], [found(1), gone(1)], False),
        ([line(1, "node.started")], [found(1), gone(1, node="other")], True),
    ],
)
def test_what_was_found_is_closed_by_whatever_came_after_it(lines, ours, is_open):
    (interrupt,) = of_run(lines, *ours)

    assert interrupt.is_open is is_open


def test_an_announcement_that_arrives_late_is_of_the_interrupt_that_was_found():
    (interrupt,) = of_run([suspended(1, "gate", interruptId="i"), line(2, "x.y")], found(2))

    assert (interrupt.is_only_found, interrupt.opened_at, interrupt.interrupt_id) == (False, 1, "i")
    assert len(interrupt.lines) == 2


def test_what_a_snapshot_tells_does_not_change_the_status_that_events_add_up_to():
    lines = [started(), line(1, "node.started")]

    assert project([*lines, found(1)]).status == "running"
