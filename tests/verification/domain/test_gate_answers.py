"""What is answered about a target: never a pass unless everything says so."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from runs.domain.readers import VerdictKind
from tests.logs import line, mark, started, turn, verdict
from tests.verification.domain.concluding import concluded, decision
from verification.domain.decisions import Action
from verification.domain.gate_answers import (
    SETTLED,
    AnswerBasis,
    GateDecision,
    Known,
    answer,
    basis_of,
    worst_of,
)
from verification.domain.gates import LETS_THROUGH, GateState

FAIL = [started(), turn(1), verdict(2, "e1", "fail")]


def known(state, worst=VerdictKind.FAIL, basis=AnswerBasis.VERDICT):
    return Known(state, basis, worst)


def said(*gates, held=False, complete=True):
    return answer(gates, is_held=held, is_complete=complete).decision.value


@pytest.mark.parametrize(
    ("state", "decision"),
    [
        ("passed", "pass"),
        ("overridden", "pass"),
        ("blocked", "fail"),
        ("upheld", "fail"),
        ("revise_asked", "revise"),
        ("in_review", "pending"),
        ("no_verdict", "none"),
        ("unknown", "unknown"),
        ("superseded", "fail"),
    ],
)
def test_every_state_has_one_word(state, decision):
    assert said(known(GateState(state))) == decision


def test_a_result_that_was_to_be_revised_and_was_replaced_is_still_to_be_revised():
    assert said(known(GateState.SUPERSEDED, VerdictKind.REVISE)) == "revise"


def test_without_a_gate_nobody_has_said_anything():
    assert said() == "none"


def test_a_held_run_makes_silence_unknown():
    assert said(held=True) == "unknown"


@pytest.mark.parametrize(
    ("state", "held", "complete"),
    [
        (state, held, complete)
        for state, held, complete in product(GateState, (False, True), (False, True))
        if held or not complete or state not in LETS_THROUGH
    ],
)
def test_nothing_passes_that_is_held_or_incomplete_or_not_let_through(state, held, complete):
    assert said(known(state), held=held, complete=complete) != "pass"


def test_a_fail_stays_a_fail_when_something_is_missing():
    assert said(known(GateState.BLOCKED), held=True, complete=False) == "fail"


def test_of_two_spellings_the_worse_one_counts():
    assert said(known(GateState.PASSED), known(GateState.BLOCKED)) == "fail"
    assert said(known(GateState.PASSED), known(GateState.UNKNOWN)) == "unknown"


def test_what_is_not_settled_rests_on_nothing_but_time():
    for gates in ((), (known(GateState.IN_REVIEW),), (known(GateState.UNKNOWN),)):
        assert answer(gates, is_held=False, is_complete=True).basis is AnswerBasis.TIMEOUT


def test_only_a_settled_answer_may_be_relied_on_for_a_while():
    now, ttl = datetime(2026, 11, 30, tzinfo=UTC), timedelta(minutes=1)
    passed = answer([known(GateState.PASSED)], is_held=False, is_complete=True)
    pending = answer([known(GateState.IN_REVIEW)], is_held=False, is_complete=True)

    assert passed.good_until(now, ttl) == now + ttl
    assert pending.good_until(now, ttl) == now
    assert {each for each in GateDecision if each in SETTLED} == {"pass", "fail", "revise"}


def ours(kind, **more):
    payload = {"agentId": "consensus", "target": "e1", "verdict": kind, "atSequence": 3, **more}
    return mark(9, "console.verdict.recorded", payload)


@pytest.mark.parametrize(
    ("lines", "decisions", "basis"),
    [
        (FAIL, [], "verdict"),
        (FAIL, [decision("target:e1", Action.OVERRIDE, 2)], "human"),
        (FAIL, [decision("target:e1", Action.UPHOLD, 2)], "human"),
        (FAIL, [decision("target:e1", Action.SEND_BACK, 2)], "human"),
        ([*FAIL, line(3, "approval.overridden", {"gateId": "e1"})], [], "human"),
        ([started(), turn(1), ours("pass")], [], "quorum"),
        ([started(), turn(1), ours("revise")], [], "kept"),
        ([started(), turn(1), ours("fail")], [], "verdict"),
        ([started(), turn(1), ours("fail", basis="budget")], [], "budget"),
        ([started(), turn(1), ours("fail", basis="nonsense")], [], "verdict"),
        ([*FAIL, ours("pass")], [], "verdict"),
    ],
)
def test_what_a_gate_rests_on(lines, decisions, basis):
    gate = concluded(*lines, decisions=decisions).gates["e1"]

    assert basis_of(gate).value == basis


def test_the_worst_of_the_standing_verdicts_is_told():
    gate = concluded(*FAIL, verdict(3, "e1", "pass", "critic-2")).gates["e1"]

    assert worst_of(gate) is VerdictKind.FAIL
    assert worst_of(replace(gate, standing=())) is None
