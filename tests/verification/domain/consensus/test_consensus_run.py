"""Proposers: who answers, what is dropped, and when there is nothing to judge."""

from tests.consensus.building import BOOM, FIVE, accept, result_of, rules
from verification.domain.consensus import failures
from verification.domain.consensus.budgets import Budgets
from verification.domain.consensus.consensus_run import SEPARATOR
from verification.domain.consensus.failures import Status
from verification.domain.consensus.result import Basis, GateVerdict
from verification.domain.consensus.rules import Setting

YES = accept()


def test_several_answers_are_judged_as_one():
    result = result_of(rules(proposers=("pa", "pb")), pa=["A"], pb=["B"], ja=[YES])

    assert result.answer == f"A{SEPARATOR}B"


def test_a_proposer_that_fails_is_dropped_without_a_trace_in_the_status():
    result = result_of(rules(proposers=("pa", "pb")), pa=[BOOM], pb=["B"], ja=[YES])

    assert (result.answer, result.status, result.basis) == ("B", Status.OK, Basis.QUORUM)


def test_without_any_answer_nothing_is_judged_and_the_first_failure_is_named():
    first = failures.raised(http_status=503)

    result = result_of(rules(proposers=("pa", "pb"), on_dissent="keep"), pa=[first], pb=[BOOM])

    assert (result.basis, result.failure, result.rounds) == (Basis.NO_ANSWER, first, 0)
    assert result.gate_verdict is GateVerdict.FAIL


def test_answers_that_are_all_empty_are_an_error_without_a_cause():
    result = result_of(rules(), solver=[""])

    assert (result.status, result.failure, result.basis) == (Status.ERROR, None, Basis.NO_ANSWER)


def test_a_blank_answer_is_an_answer():
    assert result_of(rules(), solver=["  "], ja=[YES]).answer == "  "


def test_the_second_proposer_is_not_asked_once_the_first_has_spent_the_budget():
    setting = Setting(budgets=Budgets(max_tokens=FIVE.total - 1))

    result = result_of(rules(proposers=("pa", "pb"), setting=setting), pa=["A"])

    assert (result.basis, result.answer) == (Basis.BUDGET, "A")


def test_a_cost_cap_does_not_limit_a_single_consensus():
    budgets = Budgets(max_cost=0.0, estimate=lambda purchase: 1e9)

    result = result_of(rules(setting=Setting(budgets=budgets)), solver=["A"], ja=[YES])

    assert result.basis is Basis.QUORUM


def test_a_callers_facts_come_back_with_the_result():
    setting = Setting(metadata={"arm": "b"})

    assert result_of(rules(setting=setting), solver=["A"], ja=[YES]).metadata == {"arm": "b"}
