"""Over generated runs in a real database: arrival does not matter, and a fail only ever closes."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.models import Gap
from tests.factories import event, run_of, send
from verification.domain.gate_answers import AnswerBasis, Known, answer
from verification.domain.gates import GateState
from verification.models import Escalation, Finding, Gate, Verdict

pytestmark = pytest.mark.django_db

_numbers = itertools.count()
TARGETS = ["e1", "e2", "e3", "worker-1", "child-1", "call-1", "elsewhere"]
CRITICS = ["critic-1", "critic-2", "worker-1"]

verdicts = st.builds(
    lambda critic, target, verdict, confidence: (
        "agent.verified",
        None,
        {"agentId": critic, "target": target, "verdict": verdict}
        | ({} if confidence is None else {"confidence": confidence}),
    ),
    st.sampled_from(CRITICS),
    st.sampled_from(TARGETS),
    st.sampled_from(["pass", "fail", "revise"]),
    st.sampled_from([None, 0.3, 0.9]),
)
turns = st.builds(
    lambda agent, node: ("agent.decided", node, {"agentId": agent, "confidence": 0.9}),
    st.sampled_from(["worker-1", "worker-2"]),
    st.sampled_from(["n1", "n2"]),
)
steps = st.builds(
    lambda phase: (
        "core.workflowChain.event",
        None,
        {"phase": phase, "workerId": "w", "parentRunId": "p", "childRunId": "child-1"},
    ),
    st.sampled_from(["dispatch.succeeded", "child.completed", "output.harvested"]),
)
others = st.sampled_from(
    [
        ("agent.toolCalled", "n1", {"agentId": "worker-1", "callId": "call-1", "toolName": "t"}),
        ("node.suspended", "n1", {"kind": "approval", "interruptId": "i-1"}),
        ("node.resumed", "n1", {}),
        ("node.completed", "n1", {}),
        ("approval.overridden", None, {"gateId": "e1", "principal": "p", "reason": "r"}),
        ("agent.verifed", None, {"agentId": "critic-1", "target": "e1", "verdict": "fail"}),
        ("runOrchestrator.decided", None, {"decision": {"kind": "terminate"}}),
        (
            "runOrchestrator.decided",
            None,
            {"decision": {"kind": "terminate", "successCriteria": [{"key": "a", "met": False}]}},
        ),
        ("run.completed", None, {}),
    ]
)
stories = st.lists(st.one_of(verdicts, turns, steps, others), min_size=2, max_size=9)


def events_of(story, missing):
    """The story as a host's events, with some of them lost; ids are the same in every run."""
    named = [("run.started", None, {"workflowId": "wf"}), *story]
    return [
        event(at, type_, eventId=f"e{at}", payload=payload, **({"nodeId": node} if node else {}))
        for at, (type_, node, payload) in enumerate(named)
        if at not in missing
    ]


def told(host, *batches):
    """Send batches as a new run and return everything that must not depend on arrival."""
    name = f"r-{next(_numbers)}"
    for batch in batches:
        send(host, *({**each, "runId": name} for each in batch))
    run = run_of(host, name)
    return {
        "outcome": run.outcome,
        "held": (run.held, run.hold_reasons),
        "standing": run.standing,
        "worst": run.worst_finding,
        "gates": set(
            Gate.objects.filter(run=run).values_list(
                "target", "state", "binding", "subject_kind", "subject_event_id", "independence"
            )
        ),
        "verdicts": set(Verdict.objects.filter(run=run).values_list("event_id", "standing")),
        "findings": set(
            Finding.objects.filter(run=run, status="standing").values_list(
                "kind", "target", "severity", "explanation"
            )
        ),
        "escalations": {
            (each.reason, tuple(each.reasons), each.target)
            for each in Escalation.objects.waiting().filter(run=run)
        },
    }


@given(data=st.data(), story=stories)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_the_final_state_does_not_depend_on_arrival(host, data, story):
    missing = data.draw(st.sets(st.integers(1, len(story)), max_size=2))
    events = events_of(story, missing)
    arriving = data.draw(st.permutations(events + events[:3]))
    batches = []
    while arriving:
        size = data.draw(st.integers(1, len(arriving)))
        batches.append(arriving[:size])
        arriving = arriving[size:]

    assert told(host, *batches) == told(host, events)


_PERMISSIVE = {"pass": 0, "none": 1, "unknown": 1, "pending": 1, "revise": 2, "fail": 3}


def answers(run):
    """By target: how far from a pass the gate API's answer is."""
    complete = not Gap.objects.filter(run=run).exists()
    return {
        gate.target: _PERMISSIVE[
            answer(
                [Known(GateState(gate.state), AnswerBasis(gate.detail["basis"]), worst(gate))],
                is_held=run.held,
                is_complete=complete,
            ).decision
        ]
        for gate in Gate.objects.filter(run=run)
    }


def worst(gate):
    from runs.domain.readers import VerdictKind

    return VerdictKind(gate.detail["worst"])


@given(
    story=stories,
    critic=st.sampled_from(CRITICS),
    target=st.sampled_from(TARGETS),
    place=st.integers(1, 10),
)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_adding_a_fail_never_makes_a_gate_weaker(host, story, critic, target, place):
    """Also where the fail comes late, to a place between events that are already held."""
    at = min(place, len(story) + 1)
    fail = ("agent.verified", None, {"agentId": critic, "target": target, "verdict": "fail"})
    spread = events_of([*story[: at - 1], fail, *story[at - 1 :]], missing=())
    name = f"r-{next(_numbers)}"
    events = [{**each, "runId": name} for each in spread]

    send(host, *(each for each in events if each["sequence"] != at))
    run = run_of(host, name)
    Gap.objects.filter(run=run).delete()  # compare gates, not what the gap makes of them
    before = answers(run)
    send(host, events[at])
    after = answers(run_of(host, name))

    assert set(before) <= set(after)
    assert {each: after[each] for each in before if after[each] < before[each]} == {}
    assert after[target] > 0 or at <= len(story)  # its verifier may take it back later
