"""What a host did in spite of a verdict, and every way in which it did nothing wrong."""

import pytest

from tests.logs import (
    ADVISORY,
    CapabilitySpan,
    at,
    completed,
    decided,
    document,
    line,
    mark,
    merged,
    resumed,
    started,
    step,
    suspended,
    terminate,
    turn,
    verdict,
)
from tests.verification.domain.concluding import (
    concluded,
    decision,
    finding,
    noticed,
    states,
    wanted,
)
from verification.domain.decisions import Action

CHILD = [started(), step(1, "child.completed", "child-1")]
FAILED_CHILD = [*CHILD, verdict(2, "child-1", "fail")]
FAILED_TURN = [started(), turn(1), verdict(2, "e1", "fail")]
MERGED = "merged_after_fail"
SUCCESS = "success_after_fail"


def severity(kind, *lines, **more):
    """Severity of the finding of a kind, or None."""
    return next((value for key, value in noticed(concluded(*lines, **more)).items()
                 if key[0] == kind), None)  # fmt: skip


# Merges.


def test_a_merge_after_a_fail_is_a_violation_with_its_evidence():
    found = finding(concluded(*FAILED_CHILD, merged(5), gaps=[]), MERGED)

    assert found.severity == "violation"
    assert [(each.event_id, each.sequence) for each in found.evidence] == [
        ("e1", 1), ("e2", 2), ("e5", 5),
    ]  # fmt: skip
    assert found.claim is not None
    assert found.claim.binding == "gating"
    assert (found.missing, found.doubts) == ((), ())
    assert "critic-1" in found.explanation
    assert found.line.event_id == "e5"


@pytest.mark.parametrize(
    "lines",
    [
        [*CHILD, merged(2), verdict(3, "child-1", "fail")],
        [*FAILED_CHILD, verdict(3, "child-1", "pass"), merged(4)],
        [*FAILED_CHILD, merged(4, "child-2")],
        [*FAILED_CHILD, line(3, "approval.overridden", {"gateId": "child-1"}), merged(4)],
        [*CHILD, verdict(2, "child-1", "pass"), merged(3)],
        [*CHILD, merged(3)],
        [*FAILED_CHILD, step(3, "child.failed", "child-1")],
    ],
)
def test_a_merge_that_no_fail_stood_against_is_fine(lines):
    assert severity(MERGED, *lines) is None


def test_a_late_reversal_that_stands_before_the_merge_clears_it_whenever_it_arrives():
    lines = [*FAILED_CHILD, merged(60)]

    assert severity(MERGED, *lines, gaps=[(3, 59)]) == "not_provable"
    assert severity(MERGED, *lines, verdict(58, "child-1", "pass"), gaps=[(3, 57), (59, 59)]) is (
        None
    )
    assert severity(MERGED, *lines, turn(58, "n9"), turn(59, "n9"), gaps=[(3, 57)]) == (
        "not_provable"
    )
    assert severity(MERGED, *lines) == "violation"


def test_a_reversal_after_the_merge_does_not_undo_it():
    lines = [*FAILED_CHILD, merged(3), verdict(4, "child-1", "pass")]

    found = concluded(*lines)

    assert noticed(found) == {
        (MERGED, "child-1"): "violation",
        ("verdict_reversed", "child-1"): "soft",
    }
    assert states(found) == {"child-1": "passed"}
    assert wanted(found) == [("violation", "child-1")]


def test_another_verifiers_pass_does_not_excuse_a_merge():
    assert severity(
        MERGED, *FAILED_CHILD, verdict(3, "child-1", "pass", "critic-2"), merged(4)
    ) == ("violation")


def test_a_retry_does_not_excuse_merging_the_failed_child_itself():
    lines = [*FAILED_CHILD, step(3, "child.completed", "child-2"), merged(4)]

    assert severity(MERGED, *lines) == "violation"
    assert states(concluded(*lines)) == {"child-1": "superseded"}


def test_a_gap_between_fail_and_merge_is_named_and_a_gap_elsewhere_is_not():
    found = finding(concluded(*FAILED_CHILD, merged(9), gaps=[(3, 4), (6, 6), (12, 14)]), MERGED)

    assert found.severity == "not_provable"
    assert found.missing == ((3, 4), (6, 6))
    assert "3–4, 6" in found.would_change


def test_a_second_fail_after_the_gap_proves_it_again():
    lines = [*FAILED_CHILD, verdict(6, "child-1", "fail", "critic-2"), merged(7)]

    assert severity(MERGED, *lines, gaps=[(3, 5)]) == "violation"


@pytest.mark.parametrize(
    ("lines", "doubt"),
    [
        ([merged(4, "child-1")], None),
        # The harvest says that nothing was applied.
        ([step(4, "output.harvested", "child-1", harvestedKeys=[])], "wire"),
        ([step(4, "output.harvested", "child-1", error={"code": "x"})], "wire"),
        # A parent's node reports the child's end; whether its output was used is not said.
        ([line(4, "node.completed", {"outputs": {"childRunId": "child-1"}}, "sub")], "wire"),
        # The same child ran again: the name means a new result.
        ([step(3, "dispatch.succeeded", "child-1"), merged(4)], "replaced"),
        # A mistyped event may have been the reversal.
        ([line(3, "agent.verifed", {}, near_miss_of="agent.verified"), merged(4)], "unreadable"),
        ([mark(90, "console.verdict.refused", {"eventId": "x", "sequence": 3}), merged(4)],
         "unreadable"),
        ([mark(90, "console.verdict.refused", {"eventId": "x", "sequence": None}), merged(4)],
         "unreadable"),
        # Another version of the fail itself, or of the merge, was offered.
        ([mark(90, "console.event.conflicted", {"eventId": "e2", "sequence": 2}), merged(4)],
         "unreadable"),
        ([mark(90, "console.event.conflicted", {"eventId": "e4", "sequence": 4}), merged(4)],
         "unreadable"),
        # A person was asked and did not refuse.
        ([suspended(3, "gate"), resumed(4, "gate", action="accept"), merged(5)], "person"),
        ([line(3, "approval.granted", {"gateId": "child-1", "principal": "p"}), merged(4)],
         "person"),
        ([line(3, "approval.granted", {"gateId": "gate", "principal": "p"}), merged(4)], "person"),
        ([line(3, "approval.overridden", {"gateId": "gate", "principal": "p"}), merged(4)],
         "person"),
        ([decided(3, "ask-user"), suspended(4, "ask", "clarification"), resumed(5, "ask"),
          merged(6)], "person"),
    ],
)  # fmt: skip
def test_where_the_host_may_have_done_right_a_merge_is_only_suspected(lines, doubt):
    found = finding(concluded(*FAILED_CHILD, *lines), MERGED)

    assert found.severity == ("suspected" if doubt else "violation")
    assert found.doubts == ((doubt,) if doubt else ())


@pytest.mark.parametrize(
    "lines",
    [
        # A person was asked and refused.
        [suspended(3, "gate"), resumed(4, "gate", action="reject"), merged(5)],
        # A person was asked before the verdict was given, or answered after the merge.
        [suspended(3, "gate"), merged(4), resumed(5, "gate", action="accept")],
        # A question of another node, that no verdict led to.
        [suspended(3, "other", "clarification"), resumed(4, "other"), merged(5)],
        # Another system was waited for.
        [suspended(3, "gate", "external-event"), resumed(4, "gate"), merged(5)],
        # What cannot be read stands elsewhere.
        [merged(4), line(6, "agent.verifed", {}, near_miss_of="agent.verified")],
        [merged(4), mark(90, "console.event.conflicted", {"eventId": "e1", "sequence": 1})],
        # An override and an approval of another target that has a verdict of its own.
        [verdict(3, "child-2", "fail"), line(4, "approval.overridden", {"gateId": "child-2"}),
         line(5, "approval.granted", {"gateId": "child-2"}), merged(6)],
        # Somebody upheld the fail.
        [line(3, "approval.rejected", {"gateId": "child-1", "principal": "p"}), merged(4)],
    ],
)  # fmt: skip
def test_what_does_not_speak_for_the_host_excuses_no_merge(lines):
    assert severity(MERGED, *FAILED_CHILD, *lines) == "violation"


def test_a_completed_node_is_only_suspected_to_have_used_a_failed_turn():
    node = line(3, "node.completed", {"outputs": {}}, "n1")

    assert severity(MERGED, *FAILED_TURN, node) == "suspected"
    assert severity(MERGED, *FAILED_TURN, turn(3), line(4, "node.completed", {}, "n1")) is None
    assert severity(MERGED, *FAILED_TURN, line(3, "node.completed", {}, "n2")) is None


def test_a_merge_after_a_revise_is_soft_whatever_was_advertised():
    lines = [*CHILD, verdict(2, "child-1", "revise"), merged(5)]

    assert noticed(concluded(*lines)) == {("merged_after_revise", "child-1"): "soft"}
    assert severity("merged_after_revise", *lines, capabilities=()) == "soft"
    assert severity("merged_after_revise", *lines, gaps=[(3, 3)]) == "not_provable"


# Ends.


@pytest.mark.parametrize(
    "ending",
    [
        [completed(9)],
        [terminate(8), completed(9)],
        [terminate(8, True), completed(9)],
        [terminate(7, False), terminate(8, True), completed(9)],
        # The decision stood before the verdict; the run still ended as a success after it.
        [terminate(1, True, node="s"), completed(9)],
    ],
)
def test_a_success_in_spite_of_a_fail_is_a_violation(ending):
    lines = [started(), turn(3), verdict(4, "e3", "fail"), *ending]

    assert severity(SUCCESS, *lines) == "violation"


@pytest.mark.parametrize(
    "lines",
    [
        [*FAILED_TURN, terminate(3, False), completed(4)],
        [*FAILED_TURN, terminate(3, True, False), completed(4)],
        [*FAILED_TURN, terminate(3, True), terminate(4, False), completed(5)],
        [*FAILED_TURN, line(3, "run.failed", {})],
        [*FAILED_TURN, terminate(3, True), line(4, "run.failed", {})],
        [*FAILED_TURN, line(3, "run.cancelled", {})],
        [*FAILED_TURN, decided(3, "ask-user"), suspended(4, "ask")],
        [*FAILED_TURN, turn(3), verdict(4, "e3", "pass"), completed(5)],
        [*FAILED_TURN, turn(3), completed(5)],
        [*FAILED_TURN, verdict(3, "e1", "pass"), completed(4)],
        [*FAILED_TURN, verdict(3, "e1", "revise"), completed(4)],
        [*FAILED_TURN, line(3, "approval.overridden", {"gateId": "e1"}), completed(4)],
        [started(), turn(1), completed(2), verdict(3, "e1", "fail")],
        # The run went on after its first end.
        [*FAILED_TURN, completed(3), line(4, "run.resumed", {}), turn(5), completed(6)],
        [*FAILED_TURN, completed(3), line(4, "run.resumed", {})],
        # The decision to end was followed by a question, a turn or a dispatch.
        [*FAILED_TURN, terminate(3, True), suspended(4, "d", "clarification")],
        [*FAILED_TURN, terminate(3, True), turn(4, "n4")],
        [*FAILED_TURN, terminate(3, True), step(4, "dispatch.began", None)],
        [*FAILED_TURN, terminate(3, True, confidence=0.2)],
        [*FAILED_TURN, terminate(3, True), line(4, "run.paused", {})],
    ],
)
def test_an_end_that_no_fail_stood_against_is_fine(lines):
    assert severity(SUCCESS, *lines) is None


def test_an_override_after_the_end_does_not_undo_it():
    late = line(9, "approval.overridden", {"gateId": "e1"})
    made = [decision("target:e1", Action.OVERRIDE, seen=3)]

    assert severity(SUCCESS, *FAILED_TURN, completed(3), late) == "violation"
    assert severity(SUCCESS, *FAILED_TURN, completed(3), decisions=made) == "violation"


def test_a_released_hold_is_still_a_doubt():
    typo = line(3, "agent.verifed", {}, near_miss_of="agent.verified")
    released = [decision("held", Action.RELEASE_HOLD, seen=9)]

    assert severity(MERGED, *FAILED_CHILD, typo, merged(4), decisions=released) == "suspected"


def test_a_run_that_has_only_decided_to_end_is_not_accused_yet():
    lines = [*FAILED_TURN, terminate(3, True)]

    found = finding(concluded(*lines), SUCCESS)

    assert (found.severity, found.doubts) == ("suspected", ("goes_on",))
    assert severity(SUCCESS, *lines, completed(4)) == "violation"


@pytest.mark.parametrize(
    ("lines", "doubt"),
    [
        # The target may mean anything, or lives elsewhere.
        ([turn(1), verdict(2, "worker-1", "fail"), completed(3)], "subject"),
        ([turn(1), verdict(2, "garbage", "fail"), completed(3)], "subject"),
        ([turn(1), verdict(2, "e1", "fail", causationHostId="host-b"), completed(3)], "subject"),
        # A later result of the same place may have taken its place before the verdict came.
        ([turn(1), turn(2), verdict(3, "e1", "fail"), completed(4)], "replaced"),
        ([turn(1, None), verdict(2, "e1", "fail"), turn(3, None), completed(4)], "replaced"),
        ([step(1, "child.completed", "child-1"), verdict(2, "child-1", "fail"),
          step(3, "dispatch.succeeded", "child-2"), completed(4)], "replaced"),
        ([step(1, "child.completed", "child-1"), verdict(2, "child-1", "fail"),
          step(3, "child.completed", "child-1"), completed(4)], "replaced"),
        # What cannot be read may have said that the run gave up, or taken the verdict back.
        ([turn(1), verdict(2, "e1", "fail"), decided(3, "terminate-failure"), completed(4)],
         "unreadable"),
        ([decided(1, "terminate-failure"), turn(2), verdict(3, "e2", "fail"), completed(4)],
         "unreadable"),
        ([turn(1), verdict(2, "e1", "fail"),
          line(3, "agent.decidd", {}, near_miss_of="agent.decided"), completed(4)], "unreadable"),
        # A person had the question.
        ([turn(1), verdict(2, "e1", "fail"), suspended(3, "n1", "clarification"),
          resumed(4, "n1"), completed(5)], "person"),
    ],
)  # fmt: skip
def test_where_the_host_may_have_done_right_a_success_is_only_suspected(lines, doubt):
    found = finding(concluded(started(), *lines), SUCCESS)

    assert (found.severity, found.doubts) == ("suspected", (doubt,))


def test_a_tool_result_that_was_thrown_away_is_not_held_against_the_host():
    call = {"agentId": "worker-1", "toolName": "search", "callId": "call-1"}
    lines = [started(), line(1, "agent.toolCalled", call), verdict(2, "call-1", "fail")]
    again = line(3, "agent.toolCalled", {**call, "callId": "call-2"})

    assert severity(SUCCESS, *lines, again, completed(4)) == "suspected"
    assert severity(SUCCESS, *lines, turn(3), completed(4)) == "suspected"
    assert severity(SUCCESS, *lines, completed(4)) == "violation"


@pytest.mark.parametrize(
    ("lines", "gap", "expected"),
    [
        ([*FAILED_TURN, completed(9)], (4, 5), "not_provable"),
        # After the end: the run may have gone on.
        ([*FAILED_TURN, completed(9), turn(12, "n9")], (10, 11), "not_provable"),
        # Before the verdict: an orchestrator may have given up there.
        ([started(), turn(3), verdict(4, "e3", "fail"), completed(5)], (1, 2), "not_provable"),
        # … but not if it is known to have decided otherwise later.
        ([started(), turn(3), verdict(4, "e3", "fail"), terminate(5, True), completed(6)], (1, 2),
         "violation"),
        # Between the result and the verdict: another turn may have replaced it.
        ([turn(1), verdict(5, "e1", "fail"), terminate(6, True), completed(7)], (3, 4),
         "not_provable"),
    ],
)  # fmt: skip
def test_a_success_is_proved_only_if_nothing_that_could_explain_it_is_missing(lines, gap, expected):
    assert severity(SUCCESS, *lines, gaps=[gap]) == expected


def test_an_override_in_flight_counts_from_what_the_person_had_seen():
    lines = [*FAILED_CHILD, merged(5), terminate(6, True), completed(7)]
    before = [decision("target:child-1", Action.OVERRIDE, seen=2)]
    after = [decision("target:child-1", Action.OVERRIDE, seen=5)]

    assert noticed(concluded(*lines, decisions=before)) == {}
    assert noticed(concluded(*lines, decisions=after)) == {(MERGED, "child-1"): "violation"}


def test_upholding_and_sending_back_excuse_nothing():
    for action in (Action.UPHOLD, Action.SEND_BACK):
        made = [decision("target:e1", action, seen=2)]
        assert severity(SUCCESS, *FAILED_TURN, completed(3), decisions=made) == "violation"


# Who is bound.


def span(gating, start, end=None):
    return CapabilitySpan(document(gating=gating), at(start), None if end is None else at(end))


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ([span(True, -99)], "violation"),
        ([span(True, 50)], "violation"),
        (ADVISORY, "advisory"),
        ([], "advisory"),
        ([CapabilitySpan(document(level=5), at(-99))], "advisory"),
        # Gating was advertised when the verdict was given, and withdrawn before the merge.
        ([span(True, -9, 3), span(False, 3)], "advisory"),
        # … or only later.
        ([span(False, -9, 3), span(True, 3)], "advisory"),
        ([span(True, -9, 3), span(True, 3)], "violation"),
        # Nobody knows what held then.
        ([span(True, -9, 1), span(True, 50)], "suspected"),
        ([span(True, 50, 60), span(True, 60)], "suspected"),
    ],
)
def test_a_host_is_bound_by_what_it_advertised_from_the_verdict_to_the_deed(capabilities, expected):
    lines = [*FAILED_CHILD, merged(5)]

    assert severity(MERGED, *lines, capabilities=capabilities) == expected


def test_without_timestamps_only_a_single_snapshot_can_bind():
    lines = [each._replace(timestamp=None) for each in (*FAILED_CHILD, merged(5))]

    assert severity(MERGED, *lines, capabilities=[span(True, 0)]) == "violation"
    assert severity(MERGED, *lines, capabilities=[span(True, 0, 9), span(True, 9)]) == "suspected"


def test_a_host_owes_nothing_to_a_verdict_of_the_console():
    ours = mark(50, "console.verdict.recorded", {
        "agentId": "console", "target": "child-1", "verdict": "fail", "atSequence": 1})  # fmt: skip

    found = concluded(*CHILD, ours, merged(5), completed(6))

    assert noticed(found) == {(MERGED, "child-1"): "advisory", (SUCCESS, "child-1"): "advisory"}


def test_a_verdict_on_a_child_of_another_host_can_prove_something_if_the_handoff_names_that_host():
    there = step(1, "child.completed", "child-1", causationHostId="host-b")
    fail = verdict(2, "child-1", "fail", causationHostId="host-b")

    assert severity(MERGED, started(), there, fail, merged(3)) == "violation"
    assert severity(MERGED, *CHILD, fail, merged(3)) == "suspected"


def test_a_host_that_points_at_itself_means_itself():
    model = {"version": 6, "verifier": {"supported": True, "gating": True},
             "crossHostCausation": {"supported": True, "hostId": "host-a"}}  # fmt: skip
    itself = [CapabilitySpan({"multiAgent": {"executionModel": model}}, at(-99))]
    fail = verdict(2, "e1", "fail", causationHostId="host-a")

    assert severity(SUCCESS, started(), turn(1), fail, completed(3), capabilities=itself) == (
        "violation"
    )


def test_every_finding_has_a_sentence_and_says_what_would_change_it():
    found = concluded(*FAILED_CHILD, merged(5), terminate(6, True), completed(7))

    for each in found.findings:
        assert each.explanation.endswith(".")
        assert each.would_change.endswith(".")
