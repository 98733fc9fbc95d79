"""Whose confidence is too low, and what follows from it."""

import math

import pytest

from tests.logs import (
    GATING,
    START,
    CapabilitySpan,
    completed,
    decided,
    document,
    line,
    resumed,
    started,
    step,
    suspended,
    terminate,
    turn,
    verdict,
)
from tests.verification.domain.concluding import concluded, decision, noticed, wanted
from verification.domain.decisions import Action
from verification.domain.rules import Rules

LOW = ("low_confidence", "e1")


def floor(value):
    model = {"version": 6, "confidenceEscalationFloor": value}
    return (CapabilitySpan({"multiAgent": {"executionModel": model}}, START),)


@pytest.mark.parametrize(
    ("confidence", "is_low"),
    [
        (0.69, True), (0, True), (0.7, False), (0.71, False), (1, False), (None, False),
        (math.nan, False), (math.inf, False), (-math.inf, False), (True, False), (False, False),
        ("0.1", False), (-1, False), (55, False),
    ],
)  # fmt: skip
def test_an_actor_below_the_threshold_wants_a_person_and_equality_passes(confidence, is_low):
    found = concluded(started(), turn(1, confidence=confidence))

    assert wanted(found) == ([LOW] if is_low else [])
    assert noticed(found) == {}


def test_the_threshold_is_the_runs_own():
    lines = [started(), turn(1, confidence=0.75)]

    assert wanted(concluded(*lines)) == []
    assert wanted(concluded(*lines, rules=Rules(actor_threshold=0.8))) == [LOW]


@pytest.mark.parametrize(
    ("confidence", "is_low"), [(0.49, True), (0.5, False), (math.nan, False), (None, False)]
)
def test_a_critic_below_the_floor_wants_a_person(confidence, is_low):
    found = concluded(started(), turn(1), verdict(2, "e1", "pass", confidence=confidence))

    assert wanted(found) == ([LOW] if is_low else [])


def test_a_critic_that_says_the_same_with_more_confidence_settles_it():
    unsure = [started(), turn(1), verdict(2, "e1", "pass", confidence=0.2)]

    assert wanted(concluded(*unsure, verdict(3, "e1", "pass", confidence=0.9))) == []
    assert wanted(concluded(*unsure, verdict(3, "e1", "pass", "critic-2", confidence=0.9))) == [LOW]


def test_either_of_actor_and_critic_is_enough_and_both_are_one_matter():
    lines = [started(), turn(1, confidence=0.2), verdict(2, "e1", "fail", confidence=0.2)]

    found = concluded(*lines)

    assert wanted(found) == [("fail", "e1")]
    assert found.escalations[0].reasons == ("fail", "low_confidence")


@pytest.mark.parametrize(
    ("capabilities", "confidence", "is_low"),
    [
        (GATING, 0.49, True),
        (GATING, 0.5, False),
        (floor(0.8), 0.79, True),
        (floor(0.8), 0.8, False),
        (floor(0.3), 0.49, True),
        ((), 0.49, True),
    ],
)
def test_an_orchestrator_below_the_stricter_floor_wants_a_person(capabilities, confidence, is_low):
    lines = [started(), decided(1, "next-worker", confidence=confidence)]

    assert wanted(concluded(*lines, capabilities=capabilities)) == ([LOW] if is_low else [])


SILENT = {("low_confidence_not_escalated", None): "soft"}
UNSURE = decided(1, "next-worker", confidence=0.3)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([UNSURE], {}),
        ([UNSURE, step(2, "dispatch.began", None)], SILENT),
        ([UNSURE, line(2, "node.dispatched", {"childRunId": "c"})], SILENT),
        ([UNSURE, decided(2, "next-worker")], SILENT),
        ([UNSURE, completed(2)], SILENT),
        ([UNSURE, line(2, "run.failed", {})], {}),
        ([UNSURE, line(2, "run.cancelled", {})], {}),
        ([UNSURE, suspended(2, "d", "clarification"), completed(3)], {}),
        ([UNSURE, suspended(2, "d", "external-event"), completed(3)], SILENT),
        ([UNSURE, line(2, "core.workflowChain.confidence-escalated", {}), completed(3)], {}),
        ([UNSURE, completed(2), line(3, "core.workflowChain.confidence-escalated", {},
                                     causation_id="e1")], {}),
        ([UNSURE, step(2, "dispatch.began", None), suspended(3, "d")], SILENT),
        ([decided(1, "ask-user", confidence=0.1), completed(2)], {}),
    ],
)  # fmt: skip
def test_a_host_that_acts_on_a_low_decision_without_asking_is_noticed(lines, expected):
    assert noticed(concluded(started(), *lines)) == expected


def test_a_host_that_did_not_take_on_escalation_owes_none():
    lines = [started(), UNSURE, completed(2)]
    level_one = (CapabilitySpan(document(level=1), START),)

    assert noticed(concluded(*lines, capabilities=())) == {}
    assert noticed(concluded(*lines, capabilities=level_one)) == {}


def test_missing_events_may_hold_the_question():
    found = concluded(started(), UNSURE, completed(9), gaps=[(2, 8)])

    assert noticed(found) == {}


def test_a_decision_that_was_held_back_until_a_person_confirmed_it_is_settled():
    lines = [
        started(),
        line(1, "node.suspended", {"reason": "low-confidence", "agentId": "supervisor"}, "s"),
        resumed(2, "s", action="accept"),
        decided(3, "next-worker", confidence=0.3),
        completed(4),
    ]

    found = concluded(*lines)

    assert wanted(found) == []
    assert noticed(found) == {}


def test_a_low_decision_after_a_confirmed_one_is_not_settled_by_it():
    lines = [
        started(),
        line(1, "node.suspended", {"reason": "low-confidence", "agentId": "supervisor"}, "s"),
        resumed(2, "s"),
        decided(3, "next-worker", confidence=0.3),
        decided(4, "next-worker", confidence=0.3),
    ]

    assert wanted(concluded(*lines)) == [("low_confidence", "e4")]


def test_low_confidence_never_counts_against_a_gate_or_a_success():
    lines = [started(), turn(1), verdict(2, "e1", "pass", confidence=0.1), terminate(3, True),
             completed(4)]  # fmt: skip

    assert concluded(*lines).is_success


@pytest.mark.parametrize("later", [turn(2, confidence=0.9), line(2, "run.cancelled", {})])
def test_a_new_result_or_a_cancelled_run_makes_it_moot(later):
    assert wanted(concluded(started(), turn(1, confidence=0.2), later)) == []


@pytest.mark.parametrize("later", [completed(2), line(2, "run.failed", {}), turn(2, "n2")])
def test_it_stays_after_the_runs_end_and_other_nodes_do_not_settle_it(later):
    assert wanted(concluded(started(), turn(1, confidence=0.2), later)) == [LOW]


def test_a_person_who_looked_at_it_is_not_asked_again():
    lines = [started(), turn(1, confidence=0.2)]

    assert wanted(concluded(*lines, decisions=[decision("target:e1", Action.RATIFY, seen=1)])) == []
