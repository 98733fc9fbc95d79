"""What a target names, and what came after it."""

import pytest

from tests.logs import line, started, step, turn, verdict
from tests.verification.domain.concluding import case_of
from verification.domain.subjects import Independence, SubjectKind, independence


def call(sequence, call_id="call-1", agent="worker-1", tool="search"):
    return line(
        sequence,
        "agent.toolCalled",
        {"agentId": agent, "toolName": tool, "callId": call_id},
        "n1",
    )


@pytest.mark.parametrize(
    ("target", "kind", "actor", "event_id"),
    [
        ("e1", SubjectKind.TURN, "worker-1", "e1"),
        ("child-1", SubjectKind.CHILD_RUN, "w", "e3"),
        ("child-2", SubjectKind.CHILD_RUN, "wf", "e4"),
        ("child-3", SubjectKind.CHILD_RUN, None, "e5"),
        ("call-1", SubjectKind.TOOL_CALL, "worker-1", "e6"),
        ("worker-1", SubjectKind.AGENT, "worker-1", None),
        ("e3", SubjectKind.NOT_FOUND, None, None),
        ("garbage", SubjectKind.NOT_FOUND, None, None),
    ],
)
def test_a_target_names_a_turn_a_child_a_call_an_agent_or_nothing(target, kind, actor, event_id):
    subject = case_of(
        target,
        started(),
        turn(1),
        turn(2),
        step(3, "child.completed", "child-1"),
        line(4, "node.dispatched", {"childRunId": "child-2", "childWorkflowId": "wf"}, "d"),
        line(5, "node.completed", {"outputs": {"childRunId": "child-3"}}, "s"),
        call(6),
        verdict(7, target, "pass"),
    ).subject

    assert (subject.kind, subject.actor) == (kind, actor)
    assert (subject.line.event_id if subject.line else None) == event_id


def test_an_agent_is_shown_with_its_results_and_never_guessed():
    lines = [turn(at, f"n{at}") for at in range(1, 4)]

    subject = case_of("worker-1", *lines, verdict(9, "worker-1", "fail")).subject

    assert subject.candidates == ("e1", "e2", "e3")
    assert subject.candidate_count == 3
    assert not subject.is_certain(None)


def test_very_many_candidates_are_counted_and_not_all_named():
    lines = [turn(at) for at in range(1, 200)]

    subject = case_of("worker-1", *lines, verdict(900, "worker-1", "fail")).subject

    assert (len(subject.candidates), subject.candidate_count) == (50, 199)


def test_a_target_on_another_host_is_labelled_with_it():
    subject = case_of("r-77", verdict(1, "r-77", "fail", causationHostId="host-b")).subject

    assert (subject.kind, subject.host_id) == (SubjectKind.OTHER_HOST, "host-b")


def test_a_child_on_another_host_is_certain_only_if_its_own_lines_say_so():
    remote = verdict(2, "child-1", "fail", causationHostId="host-b")
    known = case_of(
        "child-1", step(1, "child.completed", "child-1", causationHostId="host-b"), remote
    )
    unknown = case_of("child-1", step(1, "child.completed", "child-1"), remote)

    assert known.subject.is_certain("host-b")
    assert not unknown.subject.is_certain("host-b")
    assert unknown.subject.is_certain(None)


def after(*lines, target="e1"):
    """What came after the target, once everything is in."""
    return case_of(target, *lines).later


def test_a_later_turn_at_the_same_node_replaces_a_turn_that_a_verdict_refused():
    later = after(turn(1), verdict(2, "e1", "fail"), turn(3), turn(4))

    assert later.replaced_by.event_id == "e3"


def test_no_result_replaces_itself_where_its_verdict_came_before_it():
    assert after(verdict(1, "e2", "fail"), turn(2), target="e2").replaced_by is None
    assert (
        after(verdict(1, "e2", "fail"), turn(2), turn(3), target="e2").replaced_by.event_id == "e3"
    )
    child = [step(2, "dispatch.began", "child-1"), step(3, "child.completed", "child-1")]
    assert after(verdict(1, "child-1", "fail"), *child, target="child-1").replaced_by is None


def test_another_agent_may_take_the_turn_over():
    assert after(turn(1), verdict(2, "e1", "fail"), turn(3, agent="worker-2")).replaced_by


@pytest.mark.parametrize(
    "lines",
    [
        # Two decisions of one turn: the second does not answer a verdict that came after both.
        [turn(1), turn(2), verdict(3, "e1", "fail")],
        # The critic's own turn at the node of the actor.
        [turn(1), verdict(2, "e1", "fail"), turn(3, agent="critic-1")],
        # Another node.
        [turn(1), verdict(2, "e1", "fail"), turn(3, "n2")],
        # The host names no node.
        [turn(1, None), verdict(2, "e1", "fail"), turn(3, None)],
        [turn(1), verdict(2, "e1", "pass"), turn(3)],
    ],
)
def test_what_is_not_plainly_a_new_turn_replaces_nothing(lines):
    assert after(*lines).replaced_by is None


@pytest.mark.parametrize(
    ("lines", "is_contested"),
    [
        ([turn(1), turn(2), verdict(3, "e1", "fail")], True),
        ([turn(1, None), verdict(2, "e1", "fail"), turn(3, None)], True),
        ([turn(1), verdict(2, "e1", "fail"), turn(3, "n2")], False),
        ([turn(0), turn(1), verdict(2, "e1", "fail")], False),
    ],
)
def test_what_may_be_a_new_turn_is_a_doubt(lines, is_contested):
    assert after(*lines).is_contested is is_contested


def test_a_retry_of_the_same_worker_replaces_a_child_once_it_has_completed():
    refused = [step(1, "child.completed", "child-1"), verdict(2, "child-1", "fail")]
    begun = step(3, "dispatch.succeeded", "child-2")
    done = step(4, "child.completed", "child-2")

    assert after(*refused, begun, target="child-1").replaced_by is None
    assert after(*refused, begun, target="child-1").is_contested
    assert after(*refused, begun, done, target="child-1").replaced_by is begun


def test_a_retry_is_recognised_by_its_workflow_where_there_is_no_handoff_event():
    dispatch = {"childWorkflowId": "wf", "childStatus": "completed"}
    later = after(
        line(1, "node.dispatched", {"childRunId": "child-1", **dispatch}, "d"),
        verdict(2, "child-1", "fail"),
        line(3, "node.dispatched", {"childRunId": "child-2", **dispatch}, "d"),
        target="child-1",
    )

    assert later.replaced_by.event_id == "e3"


@pytest.mark.parametrize(
    "other",
    [
        step(3, "child.completed", "child-2", worker="v"),
        step(3, "child.failed", "child-2"),
        step(0, "child.completed", "child-2"),
    ],
)
def test_another_worker_a_failed_retry_and_an_earlier_sibling_replace_nothing(other):
    lines = [step(1, "child.completed", "child-1"), verdict(2, "child-1", "fail"), other]

    assert after(*lines, target="child-1").replaced_by is None


def test_a_sibling_that_ran_beside_a_child_does_not_replace_it():
    lines = [
        step(1, "dispatch.succeeded", "child-1"),
        step(2, "dispatch.succeeded", "child-2"),
        step(3, "child.completed", "child-1"),
        verdict(4, "child-1", "fail"),
        step(5, "child.completed", "child-2"),
    ]

    later = after(*lines, target="child-1")

    assert later.replaced_by is None
    assert later.is_contested


@pytest.mark.parametrize("again", [call(3, "call-2"), turn(3)])
def test_work_after_a_tool_call_is_a_doubt_and_no_replacement(again):
    later = after(call(1), verdict(2, "call-1", "fail"), again, target="call-1")

    assert later.replaced_by is None
    assert later.is_contested


@pytest.mark.parametrize(
    ("target", "verifier", "expected"),
    [
        ("e1", "critic-1", Independence.INDEPENDENT),
        ("e1", "worker-1", Independence.SELF_VERIFIED),
        ("worker-1", "worker-1", Independence.SELF_VERIFIED),
        ("child-1", "critic-1", Independence.UNKNOWN),
        ("child-1", "w", Independence.SELF_VERIFIED),
        ("garbage", "critic-1", Independence.UNKNOWN),
    ],
)
def test_independence_is_known_only_where_the_actor_is(target, verifier, expected):
    case = case_of(
        target, turn(1), step(2, "child.completed", "child-1"), verdict(3, target, "pass", verifier)
    )

    assert independence(case.subject, case.verdicts) is expected
