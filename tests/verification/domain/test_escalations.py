"""What a run wants a person for: each matter once, under a key that lasts."""

import pytest

from tests.logs import (
    arrived,
    completed,
    decided,
    line,
    merged,
    resumed,
    started,
    step,
    suspended,
    terminate,
    turn,
    verdict,
)
from tests.verification.domain.concluding import concluded, decision, wanted
from verification.domain.decisions import Action

FAILED = [started(), turn(1), verdict(2, "e1", "fail")]
LOW_PAUSE = {"reason": "low-confidence", "agentId": "worker-1", "threshold": 0.7, "observed": 0.5}


def only(*lines, **more):
    """The one open escalation."""
    (escalation,) = concluded(*lines, **more).escalations
    return escalation


def reasons(*lines, **more):
    return [tuple(each.reasons) for each in concluded(*lines, **more).escalations]


# One matter, said in several ways.


def test_a_suspension_joins_the_low_confidence_that_it_is_about():
    lines = [started(), turn(1, confidence=0.5), line(2, "node.suspended", LOW_PAUSE, "n1"),
             suspended(3, "n1", "approval", interruptId="i1")]  # fmt: skip

    escalation = only(*lines)

    assert (escalation.reason, escalation.target, escalation.key) == (
        "low_confidence", "e1", "target:e1",
    )  # fmt: skip
    assert escalation.interrupt.interrupt_id == "i1"
    assert escalation.opened_by.event_id == "e1"
    assert {"interrupt:n1:2", "interrupt:n1:3", "interrupt:i1"} < escalation.aliases


def test_an_ask_user_and_its_suspension_are_one_request():
    escalation = only(started(), decided(1, "ask-user"), suspended(2, "ask", "clarification"))

    assert escalation.reasons == ("ask_user", "interrupt")
    assert (escalation.target, escalation.key) == (None, "decision:e1")
    assert escalation.interrupt.node_id == "ask"


@pytest.mark.parametrize("kind", ["clarify", "escalate"])
def test_the_words_of_the_prose_ask_a_person_too(kind):
    assert reasons(started(), decided(1, kind)) == [("ask_user",)]


def test_the_question_that_a_fail_led_to_is_the_same_matter():
    lines = [*FAILED, decided(3, "ask-user"), suspended(4, "ask", "clarification")]

    escalation = only(*lines)

    assert escalation.reasons == ("fail", "ask_user", "interrupt")
    assert (escalation.key, escalation.target) == ("target:e1", "e1")
    assert escalation.interrupt.node_id == "ask"


def test_an_interrupt_at_the_failed_node_is_the_same_matter():
    assert only(*FAILED, suspended(3, "n1")).reasons == ("fail", "interrupt")


def test_an_interrupt_that_names_the_verdict_as_its_cause_is_the_same_matter():
    interrupt = line(3, "node.suspended", {"kind": "approval"}, "gate", causation_id="e2")

    assert only(*FAILED, interrupt).reasons == ("fail", "interrupt")


def test_an_interrupt_that_is_the_very_next_event_is_the_same_matter():
    escalation = only(*FAILED, suspended(3, "gate"))

    assert escalation.reasons == ("fail", "interrupt")
    assert escalation.interrupt.node_id == "gate"


def test_a_wait_for_another_system_right_after_a_fail_is_a_matter_of_its_own():
    found = concluded(*FAILED, suspended(3, "gate", "external-event"))

    assert wanted(found) == [("fail", "e1"), ("interrupt", None)]


def test_a_later_interrupt_of_another_node_is_a_matter_of_its_own():
    found = concluded(*FAILED, suspended(4, "gate"))

    assert wanted(found) == [("fail", "e1"), ("interrupt", None)]


def test_a_question_after_the_fail_was_answered_by_a_new_turn_is_its_own():
    for answer in (turn(3), line(3, "approval.overridden", {"gateId": "e1"})):
        escalation = only(*FAILED, answer, decided(4, "ask-user"))

        assert (escalation.reason, escalation.key) == ("ask_user", "decision:e4")


def test_two_interrupts_are_two_matters_even_if_both_follow_a_fail():
    lines = [*FAILED, suspended(3, "n1", "approval", interruptId="i1"), decided(4, "ask-user"),
             suspended(5, "ask", "clarification", interruptId="i2")]  # fmt: skip

    found = concluded(*lines)

    assert sorted(each.interrupt.interrupt_id for each in found.escalations) == ["i1", "i2"]


def test_a_low_decision_its_announcement_and_its_interrupt_are_one_matter():
    low = decided(1, "next-worker", "dispatch", confidence=0.3)
    told = line(2, "core.workflowChain.confidence-escalated", {}, "dispatch", causation_id="e1")

    escalation = only(started(), low, told, suspended(3, "dispatch", "clarification"))

    assert (escalation.reason, escalation.target) == ("low_confidence", "e1")
    assert escalation.interrupt.node_id == "dispatch"


def test_an_announcement_without_its_decision_is_a_matter_too():
    told = line(
        2, "core.workflowChain.confidence-escalated", {"confidence": 0.3, "floor": 0.5}, "d"
    )

    escalation = only(started(), told, suspended(3, "d", "clarification"))

    assert escalation.reasons == ("low_confidence", "interrupt")
    assert wanted(concluded(started(), told, completed(3))) == []


def test_a_host_with_a_stricter_floor_than_ours_is_believed():
    low = decided(1, "next-worker", confidence=0.6)
    told = line(2, "core.workflowChain.confidence-escalated", {}, causation_id="e1")

    assert wanted(concluded(started(), low, told)) == [("low_confidence", "e1")]


def test_a_held_back_decision_is_known_by_its_interrupt():
    escalation = only(started(), line(1, "node.suspended", LOW_PAUSE, "supervisor"))

    assert (escalation.reason, escalation.target) == ("low_confidence", None)
    assert escalation.key == "interrupt:supervisor:1"


def test_violation_and_fail_on_one_target_are_one_matter_and_fail_comes_first():
    assert only(*FAILED, completed(3)).reasons == ("fail", "violation")


def test_a_violation_outlives_the_fail_it_is_about():
    lines = [started(), step(1, "child.completed", "child-1"), verdict(2, "child-1", "fail"),
             merged(3), verdict(4, "child-1", "pass")]  # fmt: skip

    assert only(*lines).reasons == ("violation",)


# Keys that last.


def test_a_key_stays_when_the_next_reason_joins():
    asked = [started(), turn(1, confidence=0.5)]

    first = only(*asked)
    second = only(*asked, verdict(2, "e1", "fail"))
    third = only(*asked, verdict(2, "e1", "fail"), suspended(3, "n1"))

    assert first.key == second.key == third.key == "target:e1"


def test_a_matter_that_was_known_by_its_interrupt_is_found_again_by_an_alias():
    interrupt = line(2, "node.suspended", LOW_PAUSE, "n1")
    late = turn(1, confidence=0.5)

    assert only(started(), interrupt).key in only(started(), interrupt, late).aliases
    named = suspended(3, "n1", interruptId="i")
    assert only(started(), named).key in only(started(), named, interrupt).aliases


def test_a_key_stays_when_the_weightiest_reason_goes():
    lines = [*FAILED, decided(3, "ask-user"), suspended(4, "ask", "clarification")]

    escalation = only(*lines, verdict(5, "e1", "pass"))

    assert escalation.key == only(*lines).key
    assert escalation.reasons == ("ask_user", "interrupt")
    assert escalation.target is None


def test_a_very_long_target_still_gives_a_key_that_fits():
    escalation = only(started(), verdict(1, "t" * 400, "fail"))

    assert len(escalation.key) == 300
    assert escalation.target == "t" * 400


# What ends a matter.


@pytest.mark.parametrize(
    ("lines", "more"),
    [
        (FAILED, [verdict(3, "e1", "pass")]),
        (FAILED, [turn(3)]),
        (FAILED, [line(3, "approval.overridden", {"gateId": "e1"})]),
        (FAILED, [line(3, "run.cancelled", {})]),
        ([started(), suspended(1, "n")], [resumed(2, "n")]),
        ([started(), suspended(1, "n")], [line(2, "run.cancelled", {})]),
        ([started(), suspended(1, "n")], [completed(2)]),
        ([started(), decided(1, "ask-user"), suspended(2, "a", "clarification")],
         [resumed(3, "a")]),
        ([started(), decided(1, "ask-user")], [completed(2)]),
        ([started(), decided(1, "ask-user")], [decided(2, "next-worker")]),
        ([started(), turn(1, confidence=0.5), line(2, "node.suspended", LOW_PAUSE, "n1")],
         [resumed(3, "n1")]),
        ([started(), turn(1, confidence=0.5), line(2, "node.suspended", LOW_PAUSE, "n1")],
         [completed(3)]),
        ([started(), decided(1, "next-worker", confidence=0.3), suspended(2, "d", "clarification")],
         [line(3, "node.interrupt.resolved", {}, "d")]),
    ],
)  # fmt: skip
def test_a_matter_is_moot_once_nobody_needs_a_person_for_it(lines, more):
    assert len(concluded(*lines).escalations) == 1
    assert concluded(*lines, *more).escalations == ()


@pytest.mark.parametrize("end", [completed(9), line(9, "run.failed", {}), terminate(9, False)])
def test_a_matter_about_a_gate_outlives_the_run(end):
    assert ("fail", "e1") in wanted(concluded(*FAILED, end))


def test_a_fail_stays_when_the_question_it_led_to_is_answered():
    lines = [*FAILED, decided(3, "ask-user"), suspended(4, "ask", "clarification"),
             resumed(5, "ask")]  # fmt: skip

    escalation = only(*lines)

    assert (escalation.reasons, escalation.interrupt) == (("fail",), None)


def test_a_cancelled_run_wants_nobody():
    lines = [*FAILED, turn(3, "n3", confidence=0.1), suspended(4, "gate"), decided(5, "ask-user"),
             line(6, "agent.verifed", {}, near_miss_of="agent.verified"),
             line(7, "run.cancelled", {})]  # fmt: skip

    assert concluded(*lines).escalations == ()


# What a person has decided.


@pytest.mark.parametrize(
    "action", [Action.UPHOLD, Action.OVERRIDE, Action.SEND_BACK, Action.ANSWER, Action.REJECT]
)
def test_what_a_person_decided_is_not_asked_again(action):
    made = [decision("target:e1", action, seen=2)]

    assert concluded(*FAILED, decisions=made).escalations == ()


@pytest.mark.parametrize("action", [Action.CANNOT_DECIDE, Action.ASK, Action.REPLY])
def test_what_a_person_could_not_decide_stays_open(action):
    made = [decision("target:e1", action, seen=2)]

    assert wanted(concluded(*FAILED, decisions=made)) == [("fail", "e1")]


def test_a_fail_that_came_after_a_decision_is_asked_about():
    made = [decision("target:e1", Action.UPHOLD, seen=2)]
    unseen = arrived(99, verdict(3, "e1", "fail", "critic-2"))

    assert wanted(concluded(*FAILED, unseen, decisions=made)) == [("fail", "e1")]


def test_a_violation_that_came_after_a_decision_is_asked_about():
    made = [decision("target:e1", Action.UPHOLD, seen=2)]

    assert reasons(*FAILED, completed(3), decisions=made) == [("violation",)]
    seen = [decision("target:e1", Action.UPHOLD, seen=3)]
    assert reasons(*FAILED, completed(3), decisions=seen) == []


def test_an_answered_interrupt_is_not_asked_again_while_the_answer_is_on_its_way():
    lines = [started(), suspended(1, "n", "clarification", interruptId="i")]

    for key in ("interrupt:n:1", "interrupt:i"):
        made = [decision(key, Action.ANSWER, seen=1)]
        assert concluded(*lines, decisions=made).escalations == ()


def test_a_node_that_interrupts_again_asks_again():
    lines = [started(), suspended(1, "n"), resumed(2, "n"), suspended(3, "n")]
    made = [decision("interrupt:n:1", Action.ACCEPT, seen=1)]

    assert only(*lines, decisions=made).key == "interrupt:n:3"


def test_one_decision_settles_all_reasons_of_a_matter():
    lines = [*FAILED, decided(3, "ask-user"), suspended(4, "ask", "clarification")]

    assert (
        concluded(*lines, decisions=[decision("target:e1", Action.OVERRIDE, seen=4)]).escalations
        == ()
    )


def test_a_decision_on_one_matter_leaves_the_others_open():
    lines = [started(), suspended(1, "a"), suspended(2, "b")]

    found = concluded(*lines, decisions=[decision("interrupt:a:1", Action.ACCEPT, seen=2)])

    assert [each.key for each in found.escalations] == ["interrupt:b:2"]


# Order.


def test_escalations_stand_in_the_order_in_which_they_were_opened():
    lines = [
        started(),
        suspended(5, "b"),
        suspended(2, "a"),
        turn(1, "n1"),
        verdict(3, "e1", "fail"),
    ]

    assert [each.key for each in concluded(*lines).escalations] == [
        "interrupt:a:2", "target:e1", "interrupt:b:5",
    ]  # fmt: skip
