"""What can be read of a line, in every shape that hosts give it."""

import math

import pytest

from runs.domain import readers
from runs.domain.readers import (
    ChildLink,
    DecisionKind,
    VerdictKind,
    agent_of,
    chain_step_of,
    children_of,
    confidence,
    confidence_of,
    decision_of,
    gate_of,
    node_of,
    parent_of,
    tool_call_of,
    verdict_of,
    workflow_of,
)
from tests.logs import decided, line, step, verdict

NONSENSE = [None, [], {}, "text", 7, True, {"nodeId": 5, "agentId": []}, [{"nodeId": "n"}]]


@pytest.mark.parametrize("payload", NONSENSE)
def test_no_reader_raises_on_a_payload_that_makes_no_sense(payload):
    each = line(1, "agent.decided", payload)

    assert node_of(each) is None
    assert agent_of(each) is None
    assert confidence_of(each) is None
    assert verdict_of(each) is None
    assert workflow_of(each) is None
    assert parent_of(each) is None
    assert tool_call_of(each) is None
    assert gate_of(each) is None
    assert children_of(each) == ()
    assert chain_step_of(each).phase is None


@pytest.mark.parametrize(
    ("envelope", "payload", "expected"),
    [
        ("n1", {}, "n1"),
        ("n1", {"nodeId": "n2"}, "n1"),
        (None, {"nodeId": "n2"}, "n2"),
        (None, {"nodeId": ""}, None),
        (None, None, None),
    ],
)
def test_the_node_is_on_the_envelope_or_else_in_the_payload(envelope, payload, expected):
    assert node_of(line(1, "node.suspended", payload, envelope)) == expected


def test_a_handoff_is_about_the_agent_who_hands_over():
    assert agent_of(line(1, "agent.handoff", {"fromAgentId": "a", "toAgentId": "b"})) == "a"


@pytest.mark.parametrize("value", [0, 1, 0.0, 0.7, 1.0])
def test_a_confidence_from_zero_to_one_is_read(value):
    assert confidence(value) == float(value)


@pytest.mark.parametrize(
    "value", [None, True, False, "0.5", math.nan, math.inf, -math.inf, -0.1, 1.1, 2, 10**400, []]
)
def test_what_is_no_confidence_says_nothing(value):
    assert confidence(value) is None


def test_a_verdict_is_read_with_all_its_keys():
    said = verdict_of(
        verdict(
            1, "e0", "revise", confidence=0.4, criteria=["grounded", ""], causationHostId="host-b"
        )
    )

    assert said is not None
    assert (said.agent_id, said.target, said.kind) == ("critic-1", "e0", VerdictKind.REVISE)
    assert (said.criteria, said.confidence) == (("grounded",), 0.4)
    assert said.causation_host_id == "host-b"


@pytest.mark.parametrize(
    "payload",
    [
        {"agentId": "c", "target": "e0"},
        {"agentId": "c", "target": "e0", "verdict": "PASS"},
        {"agentId": "c", "target": "e0", "verdict": "ok"},
        {"agentId": "c", "target": "e0", "verdict": True},
        {"agentId": "c", "target": "", "verdict": "fail"},
        {"target": "e0", "verdict": "fail"},
        {"omitted": True, "bytes": 300_000, "sha256": "00"},
    ],
)
def test_a_verdict_that_does_not_say_what_it_must_is_no_verdict(payload):
    assert verdict_of(line(1, "agent.verified", payload)) is None


@pytest.mark.parametrize(
    "payload",
    [
        {"decision": {"kind": "terminate", "successCriteria": [{"key": "a", "met": False}]}},
        {"decision": "terminate", "successCriteria": [{"key": "a", "met": False}]},
        {"decision": {"decision": "terminate", "successCriteria": [{"key": "a", "met": False}]}},
    ],
)
def test_a_terminate_is_read_as_the_schema_and_as_the_prose_write_it(payload):
    said = decision_of(line(1, "runOrchestrator.decided", payload))

    assert said is not None
    assert said.kind is DecisionKind.TERMINATE
    assert said.met == (False,)
    assert said.has_readable_criteria


@pytest.mark.parametrize(
    "payload",
    [None, {}, {"decision": {}}, {"decision": {"kind": "terminate-success"}}, {"decision": 5}],
)
def test_a_decision_of_no_known_kind_is_unreadable(payload):
    assert decision_of(line(1, "runOrchestrator.decided", payload)) is None


@pytest.mark.parametrize(
    ("criteria", "met", "is_readable"),
    [
        (None, (), True),
        ([], (), True),
        ([{"key": "a", "met": True}], (True,), True),
        ([{"key": "a", "met": True}, {"key": "b"}], (True,), False),
        ([{"key": "a", "met": "false"}], (), False),
        ([{"key": "a", "met": 1}], (), False),
        ([None], (), False),
        ({"key": "a", "met": False}, (False,), True),
        ("all met", (), False),
    ],
)
def test_a_criterion_counts_only_if_it_says_plainly_whether_it_was_met(criteria, met, is_readable):
    said = decision_of(decided(1, "terminate", successCriteria=criteria))

    assert said is not None
    assert (said.met, said.has_readable_criteria) == (met, is_readable)


def test_a_harvest_merges_unless_it_says_that_nothing_was_applied():
    assert chain_step_of(step(1, "output.harvested", "c")).has_merged
    assert chain_step_of(step(1, "output.harvested", "c", harvestedKeys=["a"])).has_merged
    assert not chain_step_of(step(1, "output.harvested", "c", harvestedKeys=[])).has_merged
    assert not chain_step_of(step(1, "output.harvested", "c", error={"code": "x"})).has_merged
    assert not chain_step_of(step(1, "child.completed", "c")).has_merged


@pytest.mark.parametrize(
    "payload",
    [
        {"childRunId": "c", "childWorkflowId": "wf", "childStatus": "completed"},
        {"outputs": {"childRunId": "c", "childWorkflowId": "wf", "childStatus": "completed"}},
        {"outputs": {"dispatched": [
            {"childRunId": "c", "childWorkflowId": "wf", "childStatus": "completed"}, 5]}},
    ],
)  # fmt: skip
def test_a_child_is_found_wherever_hosts_name_it(payload):
    assert children_of(line(1, "node.completed", payload)) == (ChildLink("c", "wf", "completed"),)


def test_a_run_names_its_workflow_and_its_parent():
    start = line(0, "run.started", {"workflowId": "wf", "parent": {"runId": "p"}})

    assert workflow_of(start) == "wf"
    assert parent_of(start) == "p"
    assert parent_of(line(9, "run.cancelled", {"parentRunId": "q"})) == "q"


def test_the_types_that_are_read_are_the_names_that_live_hosts_send():
    assert readers.VERDICT == "agent.verified"
    assert readers.ORCHESTRATOR_DECISION == "runOrchestrator.decided"
    assert readers.CHAIN_STEP == "core.workflowChain.event"
