"""Which interrupt belongs to which decision."""

import pytest

from tests.logs import completed, decided, line, resumed, started, step, suspended, turn
from verification.domain.entries import Turn
from verification.domain.index import index
from verification.domain.ties import (
    interrupts_of_decisions,
    interrupts_of_escalated,
    interrupts_of_turns,
    next_act,
    next_turn,
)


def node_after(*lines):
    """The node of the interrupt that the first decision led to."""
    log = index([started(), *lines])
    interrupt = interrupts_of_decisions(log, []).get("e1")
    return None if interrupt is None else interrupt.node_id


ASK = decided(1, "ask-user", "supervisor")


@pytest.mark.parametrize(
    ("lines", "node"),
    [
        ([suspended(2, "ask")], "ask"),
        ([suspended(2, "ask"), suspended(3, "supervisor")], "supervisor"),
        ([suspended(2, "supervisor"),
          line(3, "node.suspended", {}, "far", causation_id="e1")], "far"),
        ([suspended(2, "x", "external-event"), suspended(3, "ask")], "ask"),
        ([decided(2, "next-worker"), suspended(3, "ask")], None),
        ([step(2, "dispatch.began", None), suspended(3, "ask")], None),
        ([completed(2), suspended(3, "ask")], None),
        ([suspended(0, "before")], None),
        ([], None),
    ],
)  # fmt: skip
def test_a_decision_leads_to_the_nearest_interrupt_before_the_run_acts(lines, node):
    assert node_after(ASK, *lines) == node


def test_a_decision_that_asks_nobody_leads_to_no_interrupt_unless_it_is_low():
    log = index([started(), decided(1, "next-worker"), suspended(2, "d")])

    assert interrupts_of_decisions(log, []) == {}
    assert set(interrupts_of_decisions(log, log.decisions)) == {"e1"}


def test_an_announcement_leads_to_an_interrupt_as_well():
    told = line(1, "core.workflowChain.confidence-escalated", {}, "d")

    assert set(interrupts_of_escalated(index([started(), told, suspended(2, "d")]))) == {"e1"}


def low(*lines):
    log = index(lines)
    return {
        event: interrupt.node_id
        for event, interrupt in interrupts_of_turns(log, _turns(log)).items()
    }


def _turns(log) -> list[Turn]:
    return list(log.turns.values())


def test_an_unsure_result_leads_to_an_interrupt_at_its_own_node_before_its_next_turn():
    assert low(turn(1), suspended(2, "n1")) == {"e1": "n1"}
    assert low(turn(1), suspended(2, "n2")) == {}
    assert low(turn(1), turn(2), suspended(3, "n1")) == {"e2": "n1"}
    assert low(suspended(0, "n1"), resumed(1, "n1"), turn(2)) == {}


def test_a_result_without_a_node_is_found_by_its_agent():
    interrupt = line(2, "node.suspended", {"reason": "low-confidence", "agentId": "worker-1"}, "x")

    assert low(turn(1, None), interrupt) == {"e1": "x"}
    assert low(turn(1, None), suspended(2, "x")) == {}


def test_the_next_act_is_a_dispatch_a_decision_or_the_end():
    log = index([started(), ASK, suspended(2, "a"), decided(3, "next-worker"), completed(4)])

    assert next_act(log, log.decisions[0].line).event_id == "e3"
    assert next_act(log, log.decisions[1].line).event_id == "e4"
    assert next_act(index([ASK]), ASK) is None


def test_the_next_turn_is_the_same_agents_at_the_same_node():
    log = index([turn(1), turn(2, agent="worker-2"), turn(3, "n2"), turn(4)])

    assert next_turn(log, log.turns["e1"]).line.event_id == "e4"
    assert next_turn(log, log.turns["e4"]) is None
