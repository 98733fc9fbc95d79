"""Which lines conclusions are drawn from."""

import pytest

from runs.domain.projection import SIGNAL_TYPES as STATUS_TYPES
from tests.logs import completed, decided, line, mark, started, suspended, turn, verdict
from tests.verification.domain.concluding import concluded, summary
from verification.domain.signals import (
    BACKGROUND_TYPES,
    SIGNAL_TYPES,
    is_signal,
    relevant,
    signal_types,
)


def test_whatever_changes_a_status_can_change_a_conclusion():
    assert STATUS_TYPES < SIGNAL_TYPES


@pytest.mark.parametrize(
    ("types", "has_verdicts", "expected"),
    [
        (["node.started", "log.appended"], True, False),
        (["agent.verified"], False, True),
        (["log.appended", "agent.decided"], False, True),
        (["node.completed"], False, False),
        (["node.completed"], True, True),
        (["agent.toolCalled", "agent.toolReturned"], False, False),
        (["console.verdict.refused"], False, True),
        (["console.escalation.opened"], True, False),
        (["acme.odd"], True, False),
        ([], True, False),
    ],
)
def test_only_signals_are_relevant(types, has_verdicts, expected):
    assert relevant(types, has_verdicts=has_verdicts) is expected


def test_a_near_miss_is_a_signal_whatever_its_type():
    typo = line(1, "agent.verifed", {}, near_miss_of="agent.verified")

    assert is_signal(typo)
    assert relevant([typo.near_miss_of or typo.type])


def test_background_types_say_nothing_in_a_run_without_a_verdict():
    conflict = mark(50, "console.event.conflicted", {"sequence": 1})
    low = [turn(1, confidence=0.2), decided(2, "next-worker", confidence=0.1)]
    lines = [started(), *low, suspended(3, "n1"), completed(9), conflict]
    background = [
        line(4, "node.completed", {"outputs": {"childRunId": "c"}}, "n1"),
        line(5, "agent.toolCalled", {"agentId": "a", "callId": "x"}),
        line(6, "agent.toolReturned", {"agentId": "a", "callId": "x"}),
    ]

    assert {each.type for each in background} == BACKGROUND_TYPES
    assert summary(concluded(*lines, *background)) == summary(concluded(*lines))
    assert summary(concluded(*lines, *background, verdict(7, "x", "pass"))) != summary(
        concluded(*lines, verdict(7, "x", "pass"))
    )
    assert signal_types(has_verdicts=False) == SIGNAL_TYPES - BACKGROUND_TYPES
