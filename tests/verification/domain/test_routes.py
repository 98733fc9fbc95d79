"""What a host did about each target after it had been judged."""

import random

from tests.logs import completed, line, merged, started, step, suspended, turn, verdict
from tests.verification.domain.concluding import concluded
from verification.domain.routes import routes


def route(target, *lines):
    found = routes(concluded(*lines), lines)[target]
    return [(each.kind.value, each.line.sequence) for each in found]


def test_a_merge_is_told():
    lines = [started(), step(1, "dispatch.succeeded", "child-1"), verdict(2, "child-1", "pass")]

    assert route("child-1", *lines, merged(3)) == [("merged", 3)]


def test_the_first_of_several_merges_is_told_whatever_arrived_first():
    lines = [started(), step(1, "dispatch.succeeded", "child-1"), verdict(2, "child-1", "pass")]

    assert route("child-1", merged(5), *lines, merged(3)) == [("merged", 3)]


def test_a_harvest_that_applied_nothing_is_no_merge():
    lines = [started(), step(1, "dispatch.succeeded", "child-1"), verdict(2, "child-1", "fail")]

    assert route("child-1", *lines, step(3, "output.harvested", "child-1", harvestedKeys=[])) == []


def test_a_new_turn_is_told():
    lines = [started(), turn(1), verdict(2, "e1", "revise"), turn(3), verdict(4, "e3", "pass")]

    assert route("e1", *lines) == [("new_turn", 3)]
    assert route("e3", *lines) == []


def test_the_hosts_own_override_is_told():
    override = line(3, "approval.overridden", {"gateId": "e1", "principal": "p", "reason": "r"})

    assert route("e1", started(), turn(1), verdict(2, "e1", "fail"), override) == [
        ("overridden", 3)
    ]


def test_a_pause_at_the_node_after_the_verdict_is_told_and_one_before_it_is_not():
    before, after = suspended(2, "n1"), suspended(5, "n1")
    lines = [started(), turn(1), before, line(3, "node.resumed", {}, "n1")]

    assert route("e1", *lines, verdict(4, "e1", "fail"), after) == [("paused", 5)]
    assert route("e1", *lines, verdict(4, "e1", "fail")) == []


def test_a_pause_that_names_the_verdict_as_its_cause_is_told_wherever_it_is():
    pause = line(3, "node.suspended", {"kind": "approval"}, "gate-node", causation_id="e2")

    assert route("e1", started(), turn(1), verdict(2, "e1", "fail"), pause) == [("paused", 3)]


def test_the_order_of_the_lines_does_not_matter():
    lines = [
        started(), step(1, "dispatch.succeeded", "child-1"), verdict(2, "child-1", "fail"),
        merged(3), turn(4), verdict(5, "e4", "revise"), turn(6), completed(7),
    ]  # fmt: skip
    shuffled = random.Random(7).sample(lines, len(lines))

    assert route("child-1", *shuffled) == route("child-1", *lines)
    assert route("e4", *shuffled) == route("e4", *lines) == [("new_turn", 6)]
