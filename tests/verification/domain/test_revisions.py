"""How many turns a revise has cost."""

import pytest

from tests.logs import START, CapabilitySpan, document, line, started, step, turn, verdict
from tests.verification.domain.concluding import concluded, finding, noticed, wanted
from verification.domain.capabilities import Claim, advertised
from verification.domain.revisions import limit
from verification.domain.rules import Rules

LIMITED = (CapabilitySpan(document(limits={"maxLoopIterations": 2}), START),)


def used(*lines):
    return {target: gate.turns_used for target, gate in concluded(*lines).gates.items()}


def turns(*said):
    """A turn at one node for each word, and the verdict on it."""
    for at, word in enumerate(said):
        yield turn(2 * at + 1)
        yield verdict(2 * at + 2, f"e{2 * at + 1}", word)


def test_turns_are_counted_along_a_node():
    assert used(*turns("revise", "revise", "pass")) == {"e1": 1, "e3": 2, "e5": 0}


def test_a_pass_on_a_newer_result_starts_the_count_again():
    assert used(*turns("revise", "pass", "revise"))["e5"] == 1


def test_two_critics_who_ask_for_the_same_turn_count_once():
    lines = [turn(1), verdict(2, "e1", "revise"), verdict(3, "e1", "revise", "critic-2")]

    assert used(*lines) == {"e1": 1}


def test_a_pass_by_another_critic_does_not_end_the_count():
    lines = [turn(1), verdict(2, "e1", "revise"), verdict(3, "e1", "pass", "critic-2"), turn(4),
             verdict(5, "e4", "revise")]  # fmt: skip

    assert used(*lines)["e4"] == 2


def test_two_nodes_have_counts_of_their_own():
    lines = [turn(1), verdict(2, "e1", "revise"), turn(3, "n2"), verdict(4, "e3", "revise")]

    assert used(*lines) == {"e1": 1, "e3": 1}


def test_retries_of_a_worker_are_one_line_of_work():
    lines = [step(1, "child.completed", "c1"), verdict(2, "c1", "revise"),
             step(3, "child.completed", "c2"), verdict(4, "c2", "revise")]  # fmt: skip

    assert used(*lines)["c2"] == 2


def test_an_agent_that_is_named_instead_of_its_results_is_counted_by_verdict():
    lines = [turn(1), verdict(2, "worker-1", "revise"), turn(3), verdict(4, "worker-1", "revise")]

    assert used(*lines) == {"worker-1": 2}


@pytest.mark.parametrize(
    ("host", "own", "expected"),
    [(5, None, 5), (None, 3, 3), (5, 3, 3), (3, 5, 3), (None, None, None)],
)
def test_the_smaller_limit_counts(host, own, expected):
    claim = Claim(advertised({"limits": {"maxLoopIterations": host}}))

    assert limit(claim, Rules(max_loop_iterations=own)) == expected


def test_at_the_limit_a_person_is_wanted_and_above_it_is_a_finding():
    at_limit = concluded(started(), *turns("revise", "revise"), capabilities=LIMITED)
    over = concluded(started(), *turns("revise", "revise", "revise"), capabilities=LIMITED)

    assert wanted(at_limit) == [("revise_limit", "e3")]
    assert noticed(at_limit) == {}
    assert wanted(over) == [("revise_limit", "e5")]
    assert noticed(over) == {("revise_over_limit", "e5"): "soft"}


def test_below_the_limit_and_without_one_nobody_is_wanted():
    assert wanted(concluded(*turns("revise"), capabilities=LIMITED)) == []
    assert wanted(concluded(*turns("revise", "revise", "revise"))) == []


def test_a_new_turn_makes_the_escalation_moot():
    assert wanted(concluded(*turns("revise", "revise"), turn(9), capabilities=LIMITED)) == []


def test_a_missing_pass_could_have_started_the_count_again():
    found = concluded(
        *turns("revise", "revise"), turn(9), verdict(10, "e9", "revise"),
        gaps=[(5, 8)], capabilities=LIMITED,
    )  # fmt: skip

    over = finding(found, "revise_over_limit")
    assert (over.severity, over.missing) == ("not_provable", ((5, 8),))


def test_a_node_that_completes_is_no_turn():
    lines = [turn(1), verdict(2, "e1", "revise"), line(3, "node.completed", {}, "n1")]

    assert used(*lines) == {"e1": 1}
