"""A log is read once, in sequence order, each line once."""

from tests.logs import arrived, decided, line, mark, merged, started, step, turn, verdict
from verification.domain.index import index


def test_lines_stand_in_sequence_order_each_once_and_ours_in_position_order():
    ours = [mark(9, "console.event.conflicted", {}), mark(8, "console.verdict.refused", {})]
    log = index([turn(3), started(), turn(3), arrived(99, verdict(2, "e3", "pass")), *ours, *ours])

    assert [each.sequence for each in log.lines] == [0, 2, 3]
    assert [each.position for each in log.marks] == [8, 9]
    assert log.last_sequence == 3
    assert index([]).last_sequence == -1


def test_turns_are_laid_out_by_node_and_agent_with_the_verifiers_apart():
    log = index([turn(1), turn(2, agent="critic-1"), turn(3), verdict(4, "e1", "pass")])

    assert [each.sequence for each in log.turns_of_node["n1"]] == [1, 2, 3]
    assert [each.sequence for each in log.results_of_node["n1"]] == [1, 3]
    assert [each.sequence for each in log.turns_of_agent["critic-1"]] == [2]


def test_what_is_said_of_a_child_is_gathered():
    log = index(
        [step(1, "dispatch.succeeded", "c"), step(2, "child.completed", "c"), merged(3, "c")]
    )

    child = log.children["c"]
    assert (child.begun_at, child.completed_at, child.attempts) == (1, 2, [1, 2])
    assert [each.sequence for each in child.merges] == [3]
    assert child.workers == {"w"}


def test_what_cannot_be_read_is_kept_apart():
    log = index([verdict(1, "t", "maybe"), decided(2, "odd"), decided(3, "next-worker")])

    assert [each.sequence for each in log.unreadable] == [1, 2]
    assert [each.sequence for each in log.decisions] == [3]
    assert log.verdicts == []


def test_a_verdict_of_the_console_stands_last_when_it_does_not_say_where():
    ours = {"agentId": "console", "target": "t", "verdict": "pass"}
    log = index([started(), turn(7), mark(50, "console.verdict.recorded", ours)])

    assert [each.sequence for each in log.verdicts] == [7]


def test_a_line_of_no_consequence_is_not_kept():
    assert index([line(1, "log.appended", {})]).lines == []
