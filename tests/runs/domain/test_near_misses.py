import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.codemap import CANONICAL
from runs.domain.near_misses import GATE_RELEVANT, is_one_edit_away, may_mean_verdict, near_miss


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("agent.verifed", "agent.verified"),
        ("agent.verifieed", "agent.verified"),
        ("agent.verifyed", "agent.verified"),
        ("agent.evrified", "agent.verified"),
        ("agent.Verified", "agent.verified"),
        ("agent.VERIFIED", "agent.verified"),
        ("agent.decide", "agent.decided"),
        ("orchestrator.decide", "runOrchestrator.decided"),
        ("runorchestrator.decided", "runOrchestrator.decided"),
        ("workflow-chain.events", "core.workflowChain.event"),
        ("run.complete", "run.completed"),
        ("run.canceled", "run.cancelled"),
        ("node.suspend", None),
        ("agent.veriifd", None),
        ("acme.verified", None),
        ("agents.verified", None),
        ("acme.canvas.published", None),
    ],
)
def test_one_slip_in_a_type_that_gates_depend_on_is_noticed(name, meant):
    assert near_miss(name) == meant


@pytest.mark.parametrize("name", sorted(CANONICAL))
def test_a_known_type_is_never_a_slip(name):
    assert near_miss(name) is None


@given(st.sampled_from(sorted(GATE_RELEVANT)), st.data())
def test_any_single_slip_is_noticed_unless_it_makes_a_known_type(name, data):
    start = name.index(".") + 1
    at = data.draw(st.integers(start, len(name) - 1))
    slipped = data.draw(
        st.sampled_from(
            [
                name[:at] + name[at + 1 :],
                name[:at] + "q" + name[at:],
                name[:at] + "q" + name[at + 1 :],
                name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
            ]
        )
    )

    assert slipped in CANONICAL or near_miss(slipped) is not None


@pytest.mark.parametrize(
    "name",
    [
        "agent.verified",
        "runOrchestrator.decided",
        "orchestrator.decided",
        "agent.verifed",
        " agent.verified\n",
        "AGENT.VERIFIED",
        "agent_verified",
        "agents.verified",
        "agent.\u200bver\u200bified",
        "ａｇｅｎｔ.verified",
        "agent.v\u0435rified",
        "run.complete",
    ],
)
def test_a_name_that_could_mean_a_verdict_is_taken_for_one(name):
    assert may_mean_verdict(name)


@pytest.mark.parametrize("name", ["node.completed", "agent.decided", "acme.x", "", "verified"])
def test_another_name_is_not(name):
    assert not may_mean_verdict(name)


@pytest.mark.parametrize(
    ("a", "b", "is_near"),
    [
        ("abc", "abc", True),
        ("abc", "ab", True),
        ("abc", "abxc", True),
        ("abc", "axc", True),
        ("abc", "acb", True),
        ("abcd", "acbd", True),
        ("aa", "a", True),
        ("abc", "cba", False),
        ("abcd", "badc", False),
        ("abc", "a", False),
        ("ab", "xy", False),
        ("", "", True),
    ],
)
def test_one_edit_is_told_from_two(a, b, is_near):
    assert is_one_edit_away(a, b) == is_one_edit_away(b, a) == is_near
