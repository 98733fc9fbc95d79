import hashlib

import orjson
import pytest

from runs.domain.omissions import FactsTooLarge, omission, remains


def kept(name, payload):
    return remains(name, payload, orjson.dumps(payload, option=orjson.OPT_SORT_KEYS))


def test_an_omission_is_the_size_and_hash_of_what_it_stands_for():
    assert omission(b"abc") == {
        "omitted": True,
        "bytes": 3,
        "sha256": hashlib.sha256(b"abc").hexdigest(),
    }


@pytest.mark.parametrize("payload", [{"nodeId": "n1", "chunk": "x" * 300}, "x" * 300, [1]])
def test_of_most_types_nothing_else_stays(payload):
    assert kept("output.chunk", payload).keys() == {"omitted", "bytes", "sha256"}


@pytest.mark.parametrize(
    ("name", "payload", "facts"),
    [
        (
            "agent.decided",
            {"agentId": "w-1", "decision": "x" * 300, "confidence": 0.2},
            {"agentId": "w-1", "confidence": 0.2},
        ),
        (
            "core.workflowChain.event",
            {"phase": "output.harvested", "childRunId": "c", "harvestedKeys": ["k"] * 300},
            {"phase": "output.harvested", "childRunId": "c"},
        ),
        (
            "node.completed",
            {"nodeId": "n", "outputs": {"childRunId": "c", "text": "x" * 300}},
            {"nodeId": "n", "outputs": {"childRunId": "c"}},
        ),
        (
            "interrupt.requested",
            {"kind": "approval", "data": {"actions": ["accept"], "artifactData": "x" * 300}},
            {"kind": "approval", "data": {"actions": ["accept"]}},
        ),
        ("agent.toolReturned", {"callId": "c-1", "outcome": "x" * 300}, {"callId": "c-1"}),
    ],
)
def test_of_a_type_that_rules_depend_on_the_short_facts_stay(name, payload, facts):
    packed = orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)

    assert remains(name, payload, packed) == facts | omission(packed)


def test_the_marker_cannot_be_forged():
    assert kept("agent.decided", {"omitted": False, "bytes": 1, "sha256": "x"})["omitted"] is True


def test_facts_that_are_too_many_are_not_silently_dropped():
    with pytest.raises(FactsTooLarge):
        kept("agent.decided", {f"k{n}": "x" * 200 for n in range(100)})
