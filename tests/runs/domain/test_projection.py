"""What a run's log adds up to, for runs of five real hosts and for the corners between them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.projection import (
    SIGNAL_TYPES,
    Outcome,
    RunStatus,
    project,
    status_of,
    waiting_status,
)
from tests.logs import (
    at,
    captures,
    completed,
    decided,
    line,
    mark,
    resumed,
    started,
    suspended,
    terminate,
    turn,
    verdict,
)

CAPTURES = list(captures())
LOG_CANNOT_SAY = {
    # The host shows a clarification that an orchestrator asked for as `waiting-approval`, and the
    # same clarification of a node of its own as `waiting-input`; the events are alike.
    ("sqlite", "console-ask-user.suspended"): RunStatus.WAITING_INPUT,
}


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda each: f"{each.host}-{each.label}")
def test_the_status_of_a_recorded_run_is_that_of_its_snapshot(capture):
    expected = LOG_CANNOT_SAY.get((capture.host, capture.label), capture.status)

    assert project(capture.lines).status == expected


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda each: f"{each.host}-{each.label}")
def test_lines_that_are_no_signals_change_nothing(capture):
    signals = [each for each in capture.lines if each.type in SIGNAL_TYPES]

    assert project(capture.lines) == project(signals)


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda each: f"{each.host}-{each.label}")
def test_order_and_repetition_of_a_recorded_run_change_nothing(capture):
    lines = [*capture.lines, *capture.lines]
    random.Random(7).shuffle(lines)

    assert project(lines) == project(capture.lines)


def test_every_recorded_host_and_run_is_looked_at():
    assert len(CAPTURES) == 100
    assert {each.host for each in CAPTURES} == {
        "in-memory", "openwop-app", "postgres", "python", "sqlite",
    }  # fmt: skip


def test_a_recorded_give_up_is_no_success():
    labels = {
        (each.host, each.label): project(each.lines).outcome
        for each in CAPTURES
        if each.label.startswith("console-terminate")
    }

    assert labels[("openwop-app", "console-terminate-criteria-unmet")] is Outcome.GAVE_UP
    assert labels[("sqlite", "console-terminate-criteria-unmet")] is Outcome.GAVE_UP
    assert labels[("sqlite", "console-terminate-criteria-met")] is Outcome.GOAL_MET
    assert labels[("postgres", "console-terminate-criteria-met")] is Outcome.ENDED


def test_a_log_without_a_signal_is_pending():
    assert project([]).status is RunStatus.PENDING
    assert project([line(3, "log.appended", {})]).status is RunStatus.PENDING
    assert project([mark(1, "console.escalation.opened", {})]).status is RunStatus.PENDING


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ([started()], RunStatus.RUNNING),
        ([decided(4, "next-worker")], RunStatus.RUNNING),
        ([started(), line(1, "run.paused", {})], RunStatus.PAUSED),
        ([started(), line(1, "run.paused", {}), line(2, "run.resumed", {})], RunStatus.RUNNING),
        ([started(), line(1, "run.cancelled", {}), line(2, "run.cancelled", {})],
         RunStatus.CANCELLED),
        ([started(), line(1, "run.failed", {}), line(2, "run.resumed", {})], RunStatus.RUNNING),
        ([started(), line(1, "run.failed", {}), completed(2)], RunStatus.COMPLETED),
        ([started(), line(1, "run.dead_lettered", {})], RunStatus.FAILED),
        ([started(), completed(1), line(2, "run.paused", {})], RunStatus.COMPLETED),
        ([started(), completed(1), suspended(2, "n")], RunStatus.COMPLETED),
        ([started(), suspended(1, "n"), line(2, "run.paused", {})], RunStatus.PAUSED),
        ([completed(5), started(6)], RunStatus.COMPLETED),
        ([started(), suspended(1, "a", "approval"), suspended(2, "b", "external-event")],
         RunStatus.WAITING_EXTERNAL),
        ([started(), suspended(1, "a", "approval"), suspended(2, "b", "external-event"),
          resumed(3, "b")], RunStatus.WAITING_APPROVAL),
    ],
)  # fmt: skip
def test_a_status_follows_from_the_highest_sequences(lines, status):
    assert project(lines).status is status


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("approval", RunStatus.WAITING_APPROVAL),
        ("low-confidence", RunStatus.WAITING_APPROVAL),
        ("clarification", RunStatus.WAITING_INPUT),
        ("conversation", RunStatus.WAITING_INPUT),
        ("conversation.exchange", RunStatus.WAITING_INPUT),
        ("credential", RunStatus.WAITING_INPUT),
        ("external-event", RunStatus.WAITING_EXTERNAL),
        ("x-host-acme-odd", RunStatus.WAITING_INPUT),
        (None, RunStatus.WAITING_INPUT),
    ],
)
def test_what_a_run_waits_for_follows_from_the_kind_of_its_interrupt(kind, status):
    assert waiting_status(kind) is status
    assert project([started(), suspended(1, "n", kind)]).status is status


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ([started()], None),
        ([started(), terminate(1, True)], None),
        ([started(), terminate(1, True), completed(2)], Outcome.GOAL_MET),
        ([started(), terminate(1, True, False), completed(2)], Outcome.GAVE_UP),
        ([started(), terminate(1), completed(2)], Outcome.ENDED),
        ([started(), completed(1)], Outcome.ENDED),
        ([started(), terminate(1, True), terminate(2, False), completed(3)], Outcome.GAVE_UP),
        ([started(), terminate(1, False), terminate(2, True), completed(3)], Outcome.GOAL_MET),
        ([started(), terminate(1, False), decided(2, "next-worker"), completed(3)],
         Outcome.GAVE_UP),
        ([started(), completed(1), terminate(2, False)], Outcome.GAVE_UP),
        ([started(), terminate(1, True), line(2, "run.failed", {})], Outcome.FAILED),
        ([started(), terminate(1, True), line(2, "run.cancelled", {})], Outcome.CANCELLED),
        ([started(), decided(1, "terminate", successCriteria=[{"key": "a"}]), completed(2)],
         Outcome.ENDED),
        ([started(), decided(1, "terminate", successCriteria=[{"met": True}, {"key": "b"}]),
          completed(2)], Outcome.ENDED),
        ([started(), decided(1, "terminate", successCriteria=[{"met": False}, 5]), completed(2)],
         Outcome.GAVE_UP),
        ([started(), terminate(1, True), decided(2, "terminate-success"), completed(3)],
         Outcome.GOAL_MET),
    ],
)  # fmt: skip
def test_an_outcome_follows_from_the_last_terminate(lines, outcome):
    assert project(lines).outcome is outcome


def test_a_run_that_went_on_after_its_end_has_no_outcome():
    assert project([started(), completed(1), line(2, "run.resumed", {})]).outcome is None


def test_a_projection_says_what_the_log_says_of_the_run():
    run = project(
        [
            line(1, "run.started", {"workflowId": "wf", "parentRunId": "parent"}),
            line(2, "runOrchestrator.decided", {
                "agentId": "boss", "iteration": 1, "decision": {"kind": "next-worker"}}),
            line(3, "runOrchestrator.decided", {
                "agentId": "boss", "iteration": 2, "decision": {"kind": "terminate"}}),
            completed(4),
        ]
    )  # fmt: skip

    assert (run.workflow_id, run.parent_run_id) == ("wf", "parent")
    assert (run.started_at, run.ended_at) == (at(1), at(4))
    assert run.is_terminal


def test_what_the_log_does_not_say_is_none():
    run = project([line(3, "run.resumed", None)])

    assert (run.workflow_id, run.parent_run_id, run.started_at, run.ended_at) == (None,) * 4


@pytest.mark.parametrize(
    ("spelled", "status"),
    [
        ("running", RunStatus.RUNNING),
        ("cancelling", RunStatus.CANCELLING),
        ("waiting-clarification", RunStatus.WAITING_INPUT),
        ("hibernating", RunStatus.UNKNOWN),
        (None, RunStatus.UNKNOWN),
        (7, RunStatus.UNKNOWN),
    ],
)
def test_a_snapshot_status_that_we_do_not_know_is_unknown(spelled, status):
    assert status_of(spelled) is status


EVENTS = st.sampled_from(
    [
        lambda at: completed(at),
        lambda at: line(at, "run.failed", {}),
        lambda at: line(at, "run.resumed", {}),
        lambda at: line(at, "run.resumed", {"resumedAtNode": "a"}),
        lambda at: line(at, "run.paused", {}),
        lambda at: suspended(at, "a", "approval"),
        lambda at: suspended(at, "a", "approval", interruptId="i"),
        lambda at: suspended(at, "b", "clarification", interruptId="j"),
        lambda at: resumed(at, "a"),
        lambda at: line(at, "node.interrupt.resolved", {"interruptId": "j"}),
        lambda at: terminate(at, True),
        lambda at: terminate(at, False),
        lambda at: decided(at, "nonsense"),
        lambda at: turn(at),
        lambda at: verdict(at, "e1", "fail"),
    ]
)
LOGS = st.lists(EVENTS, max_size=12).map(
    lambda made: [started(), *(make(index + 1) for index, make in enumerate(made))]
)


@given(LOGS, st.randoms(use_true_random=False))
def test_a_generated_log_gives_the_same_run_in_any_order_and_however_often(lines, chance):
    again = [*lines, *chance.sample(lines, k=len(lines) // 2)]
    chance.shuffle(again)

    assert project(again) == project(lines)


@given(LOGS)
def test_a_generated_give_up_never_becomes_a_success_by_completing(lines):
    last = len(lines)

    assert project([*lines, terminate(last, False), completed(last + 1)]).outcome is (
        Outcome.GAVE_UP
    )


@given(LOGS)
def test_only_the_signals_of_a_generated_log_count(lines):
    signals = [each for each in lines if each.type in SIGNAL_TYPES]

    assert project(signals) == project(lines)
