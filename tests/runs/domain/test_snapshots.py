"""What a host says of a run as a whole, against what its events say."""

import json

import pytest

from runs.domain.limits import Limits
from runs.domain.projection import TERMINAL, RunStatus
from runs.domain.snapshots import is_beyond_log, kept_interrupts, snapshot_of

LIMITS = Limits()


def test_a_snapshot_is_read_as_far_as_it_goes():
    found = snapshot_of(
        {
            "runId": "r",
            "workflowId": "wf",
            "status": "waiting-approval",
            "currentNodeId": "gate",
            "parentRunId": "p",
            "parentNodeId": "spawn",
            "childRuns": [{"runId": "c1", "status": "running"}, "c2", {"runId": 7}],
            "interrupt": {"kind": "approval", "nodeId": "gate"},
        },
        LIMITS,
    )

    assert (found.status, found.workflow_id, found.current_node_id) == (
        RunStatus.WAITING_APPROVAL, "wf", "gate",
    )  # fmt: skip
    assert (found.parent_run_id, found.parent_node_id) == ("p", "spawn")
    assert list(found.child_run_ids) == ["c1", "c2"]
    assert found.interrupts == [{"kind": "approval", "nodeId": "gate"}]


@pytest.mark.parametrize("sent", [None, 7, {"a": 1}, "on fire", "x" * 500, "a\nb"])
def test_an_unknown_status_is_unknown_and_kept_as_sent_if_it_can_be_shown(sent):
    found = snapshot_of({"status": sent}, LIMITS)

    assert found.status is RunStatus.UNKNOWN
    assert len(found.status_as_sent) <= 64
    assert found.status_as_sent.isprintable()


def test_secrets_are_taken_out_wherever_they_stand():
    (kept,) = kept_interrupts(
        [
            {
                "kind": "approval",
                "interruptToken": "CANARY",
                "callbackUrl": "http://h/CANARY",
                "data": {"token": "CANARY", "title": "ok", "list": [{"interruptToken": "CANARY"}]},
            }
        ],
        LIMITS,
    )

    assert "CANARY" not in json.dumps(kept)
    assert kept["data"]["title"] == "ok"


def test_a_large_interrupt_is_kept_as_size_and_hash_with_its_ids():
    (kept,) = kept_interrupts(
        [{"kind": "approval", "nodeId": "n", "data": "x" * 300_000, "interruptId": "i" * 300}],
        LIMITS,
    )

    assert (kept["kind"], kept["nodeId"], kept["omitted"]) == ("approval", "n", True)
    assert "interruptId" not in kept
    assert len(json.dumps(kept)) < 1000


@pytest.mark.parametrize(
    ("said", "log", "beyond"),
    [
        ("running", "running", False),
        ("completed", "running", True),
        ("completed", "completed", False),
        ("failed", "completed", True),
        ("running", "completed", False),
        ("waiting-approval", "waiting-input", False),
        ("waiting-approval", "running", True),
        ("running", "waiting-approval", False),
        ("cancelling", "running", True),
        ("cancelling", "cancelled", False),
        ("on fire", "running", True),
        ("on fire", "completed", False),
    ],
)
def test_a_snapshot_says_more_where_no_event_told_of_it(said, log, beyond):
    status = RunStatus(log)
    snapshot = snapshot_of({"status": said}, LIMITS)
    state = {"status": status, "has_ended": status in TERMINAL}

    assert is_beyond_log(snapshot, **state, is_caught_up=True) is beyond
    assert not is_beyond_log(snapshot, **state, is_caught_up=False)


def test_details_are_lacking_where_a_waiting_run_does_not_name_its_interrupt():
    def lacks(status, *interrupts):
        interrupt = {"interrupt": interrupts[0]} if interrupts else {}
        return snapshot_of({"status": status, **interrupt}, LIMITS).lacks_interrupt_details

    assert lacks("waiting-input")
    assert lacks("waiting-approval", {"kind": "approval", "nodeId": "n"})
    assert not lacks("waiting-approval", {"interruptId": "i", "kind": "approval"})
    assert not lacks("running")
