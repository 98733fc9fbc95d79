"""Which queue a matter goes to."""

from hypothesis import given
from hypothesis import strategies as st

from verification.domain.routing import Matter, Risk, Rule, chosen, risk_of

FAIL = Matter(("fail",), host="alpha", workflow="refunds-eu", agent="agent.refunds")


def test_an_empty_rule_takes_anything():
    assert Rule().takes(FAIL)


def test_every_part_must_fit():
    assert Rule(reasons=frozenset({"fail"}), hosts=frozenset({"alpha"})).takes(FAIL)
    assert not Rule(reasons=frozenset({"fail"}), hosts=frozenset({"omega"})).takes(FAIL)


def test_a_star_stands_for_anything_and_case_counts():
    assert Rule(workflows=("refunds-*",), agents=("*.refunds",)).takes(FAIL)
    assert not Rule(workflows=("Refunds-*",)).takes(FAIL)


def test_one_of_several_reasons_is_enough():
    both = Matter(("fail", "interrupt"), host="alpha")
    assert Rule(reasons=frozenset({"interrupt"})).takes(both)


def test_the_highest_risk_of_the_reasons_counts():
    assert risk_of(["fail", "violation"]) is Risk.HIGH
    assert risk_of(["audit_sample"]) is Risk.LOW
    assert risk_of(["fail", "audit_sample"]) is Risk.MEDIUM
    assert not Rule(least_risk=Risk.HIGH).takes(FAIL)


def test_the_first_that_takes_it_gets_it_and_none_leaves_it_to_the_default():
    never = Rule(hosts=frozenset({"omega"}))
    assert chosen([never, Rule(), Rule()], FAIL) == 1
    assert chosen([never], FAIL) is None


@given(st.lists(st.sampled_from(["fail", "held", "audit_sample", "interrupt"]), min_size=1))
def test_the_order_and_repetition_of_reasons_change_no_risk(reasons):
    assert risk_of(reasons) == risk_of(reversed(reasons)) == risk_of(set(reasons))
