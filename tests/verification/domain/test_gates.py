"""What a gate allows, after verdicts, people, time and what cannot be read."""

from dataclasses import replace

import pytest

from tests.logs import (
    ADVISORY,
    GATING,
    arrived,
    at,
    document,
    line,
    mark,
    started,
    step,
    turn,
    verdict,
)
from tests.verification.domain.concluding import concluded, decision, states
from verification.domain.capabilities import Binding, CapabilitySpan
from verification.domain.decisions import Action
from verification.domain.gates import LETS_THROUGH, WORST_FIRST, GateState, worst_state
from verification.domain.rules import Rules

PASS = [started(), turn(1), verdict(2, "e1", "pass")]
FAIL = [started(), turn(1), verdict(2, "e1", "fail")]
REVISE = [started(), turn(1), verdict(2, "e1", "revise")]
TYPO = line(8, "agent.verifed", {}, near_miss_of="agent.verified")
OVERRIDE = line(3, "approval.overridden", {"gateId": "e1", "principal": "p", "reason": "r"})


def state(*lines, **more):
    return concluded(*lines, **more).gates["e1"].state


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (PASS, "passed"),
        (FAIL, "blocked"),
        (REVISE, "revise_asked"),
        ([*FAIL, verdict(3, "e1", "pass")], "passed"),
        ([*FAIL, verdict(3, "e1", "pass", "critic-2")], "blocked"),
        ([*PASS, verdict(3, "e1", "fail", "critic-2")], "blocked"),
        ([*PASS, verdict(3, "e1", "revise", "critic-2")], "revise_asked"),
        ([*FAIL, verdict(3, "e1", "revise")], "revise_asked"),
        ([*FAIL, turn(3)], "superseded"),
        ([*REVISE, turn(3)], "superseded"),
        ([*PASS, turn(3)], "passed"),
        ([*FAIL, turn(3), verdict(4, "e1", "pass")], "passed"),
        ([*FAIL, turn(3), verdict(4, "e1", "fail", "critic-2")], "superseded"),
        ([*FAIL, OVERRIDE], "overridden"),
        ([*FAIL, OVERRIDE, turn(4)], "overridden"),
        ([*FAIL, OVERRIDE, verdict(4, "e1", "fail")], "blocked"),
        ([*FAIL, OVERRIDE, verdict(4, "e1", "pass", "critic-2")], "overridden"),
        ([*FAIL, OVERRIDE, verdict(4, "e1", "revise", "critic-2")], "revise_asked"),
        ([*REVISE, OVERRIDE], "overridden"),
        ([*PASS, OVERRIDE], "passed"),
        ([*PASS, TYPO], "unknown"),
        ([*FAIL, OVERRIDE, TYPO], "unknown"),
        ([*FAIL, TYPO], "blocked"),
        ([*REVISE, TYPO], "revise_asked"),
    ],
)
def test_a_state_follows_from_verdicts_turns_and_overrides(lines, expected):
    assert state(*lines) == expected


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (Action.OVERRIDE, "overridden"),
        (Action.UPHOLD, "upheld"),
        (Action.SEND_BACK, "revise_asked"),
        (Action.ANSWER, "blocked"),
        (Action.ACCEPT, "blocked"),
        (Action.CANNOT_DECIDE, "blocked"),
        (Action.RELEASE_HOLD, "blocked"),
    ],
)
def test_a_persons_decision_changes_a_gate_only_if_it_is_about_the_gate(action, expected):
    assert state(*FAIL, decisions=[decision("target:e1", action, seen=2)]) == expected


def test_a_verdict_that_the_person_had_not_seen_is_not_overridden():
    made = [decision("target:e1", Action.OVERRIDE, seen=2)]
    unseen = arrived(99, verdict(3, "e1", "fail", "critic-2"))

    assert state(*FAIL, unseen, decisions=made) == "blocked"
    assert state(*FAIL, arrived(99, verdict(3, "e1", "revise", "critic-2")), decisions=made) == (
        "revise_asked"
    )
    assert state(*FAIL, arrived(99, verdict(3, "e1", "pass", "critic-2")), decisions=made) == (
        "overridden"
    )


def test_a_persons_override_of_one_target_leaves_others_alone():
    lines = [*FAIL, turn(3, "n2"), verdict(4, "e3", "fail")]

    found = concluded(*lines, decisions=[decision("target:e1", Action.OVERRIDE, seen=4)])

    assert states(found) == {"e1": "overridden", "e3": "blocked"}


def test_of_host_and_console_the_one_who_decided_last_has_the_word():
    upheld_later = [decision("target:e1", Action.UPHOLD, seen=3)]
    upheld_before = [decision("target:e1", Action.UPHOLD, seen=2)]

    assert state(*FAIL, OVERRIDE, decisions=upheld_later) == "upheld"
    assert state(*FAIL, OVERRIDE, decisions=upheld_before) == "overridden"


def test_an_upheld_result_that_is_replaced_is_superseded():
    made = [decision("target:e1", Action.UPHOLD, seen=2)]

    assert state(*FAIL, turn(3), decisions=made) == "superseded"


@pytest.mark.parametrize("claimed", ["e1", "target:e1"])
def test_a_blocked_gate_whose_escalation_is_claimed_is_in_review(claimed):
    assert state(*FAIL, claimed=[claimed]) == "in_review"
    assert state(*FAIL, claimed=["e9"]) == "blocked"
    assert state(*PASS, claimed=[claimed]) == "passed"
    assert state(*REVISE, claimed=[claimed]) == "revise_asked"
    assert state(*REVISE, claimed=[claimed], rules=Rules(max_loop_iterations=1)) == "in_review"


def test_a_refused_verdict_makes_every_pass_unknown_until_it_is_readable():
    refused = mark(50, "console.verdict.refused", {"eventId": "e9", "sequence": 9})

    assert state(*PASS, refused) == "unknown"
    assert state(*PASS, refused, verdict(9, "e7", "pass")) == "passed"
    released = [decision("held", Action.RELEASE_HOLD, seen=60)]
    assert state(*PASS, refused, decisions=released) == "passed"


@pytest.mark.parametrize(
    "other",
    [
        line(8, "run.complted", {}, near_miss_of="run.completed"),
        line(8, "runOrchestrator.decided", {"decision": {"kind": "odd"}}),
        mark(50, "console.event.conflicted", {"eventId": "e2", "sequence": 2}),
    ],
)
def test_what_cannot_have_been_a_verdict_holds_the_run_and_leaves_its_gates(other):
    found = concluded(*PASS, other)

    assert found.held
    assert states(found) == {"e1": "passed"}


def test_a_gate_binds_by_what_was_advertised_when_its_verdict_was_given():
    old = CapabilitySpan(document(gating=True), at(0), at(10))
    new = CapabilitySpan(document(gating=False), at(10))
    late = FAIL[2]._replace(timestamp=at(20))

    def binding(lines, *spans):
        return concluded(*lines, capabilities=spans).gates["e1"].binding

    assert binding(FAIL, *GATING) is Binding.GATING
    assert binding(FAIL, *ADVISORY) is Binding.ADVISORY
    assert binding(FAIL) is Binding.ADVISORY
    assert binding(FAIL, old, new) is Binding.GATING
    assert binding([*FAIL[:2], late], old, new) is Binding.ADVISORY


def test_a_gate_shows_its_independence_and_its_turns():
    lines = [started(), turn(1), verdict(2, "e1", "revise", "worker-1")]

    gate = concluded(*lines, rules=Rules(max_loop_iterations=4)).gates["e1"]

    assert gate.independence == "self_verified"
    assert (gate.turns_used, gate.turn_limit, gate.is_at_limit) == (1, 4, False)


def test_a_superseded_gate_points_at_what_replaced_it():
    gate = concluded(*FAIL, turn(3)).gates["e1"]

    assert gate.replaced_by is not None
    assert gate.replaced_by.event_id == "e3"


def test_a_failed_consensus_of_the_console_blocks_and_binds_no_host():
    said = {"agentId": "console.consensus", "target": "e1", "verdict": "fail", "atSequence": 2}
    ours = mark(50, "console.verdict.recorded", said)

    gate = concluded(*PASS, ours).gates["e1"]

    assert (gate.state, gate.binding) == (GateState.BLOCKED, Binding.ADVISORY)


def test_a_target_is_the_same_whichever_host_a_verdict_names():
    assert state(*PASS, verdict(3, "e1", "fail", causationHostId="host-b")) == "blocked"


def test_a_retry_of_a_child_supersedes_it_only_when_it_has_a_result():
    lines = [step(1, "child.completed", "child-1"), verdict(2, "child-1", "fail")]
    begun = step(3, "dispatch.succeeded", "child-2")

    assert states(concluded(*lines, begun)) == {"child-1": "blocked"}
    assert states(concluded(*lines, begun, step(4, "child.completed", "child-2"))) == {
        "child-1": "superseded"
    }


def test_every_state_is_ranked_and_says_why_and_what_would_change_it():
    assert set(WORST_FIRST) == set(GateState)
    assert {GateState.PASSED, GateState.OVERRIDDEN} == LETS_THROUGH
    assert worst_state(GateState) is GateState.BLOCKED
    assert worst_state([]) is GateState.NO_VERDICT
    gate = concluded(*FAIL).gates["e1"]
    for each in GateState:
        shown = replace(gate, state=each)
        assert shown.explanation.endswith(".")
        assert shown.would_change.endswith(".")
