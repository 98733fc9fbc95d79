"""What is worth knowing about a host and breaks no promise."""

import pytest

from runs.domain.log import Mismatch
from tests.logs import (
    ADVISORY,
    CapabilitySpan,
    at,
    document,
    line,
    mark,
    started,
    step,
    turn,
    verdict,
)
from tests.verification.domain.concluding import concluded, finding, noticed
from verification.domain.rules import Rules

OFF = (Mismatch("/payload/decision/nextWorkerIds", "minItems"),)


def test_a_verifier_that_takes_its_word_back_is_noticed_once_with_every_turn_of_it():
    lines = [turn(1), verdict(2, "e1", "fail"), verdict(3, "e1", "pass"), verdict(4, "e1", "fail")]

    found = finding(concluded(*lines), "verdict_reversed")

    assert (found.severity, found.target) == ("soft", "e1")
    assert [each.sequence for each in found.evidence] == [2, 3, 4]


@pytest.mark.parametrize(
    "lines",
    [
        [turn(1), verdict(2, "e1", "fail"), verdict(3, "e1", "fail")],
        [turn(1), verdict(2, "e1", "fail"), verdict(3, "e1", "pass", "critic-2")],
        # The name stands for a new result by then.
        [turn(1), verdict(2, "worker-1", "fail"), turn(3), verdict(4, "worker-1", "pass")],
        [step(1, "child.completed", "c"), verdict(2, "c", "fail"),
         step(3, "dispatch.succeeded", "c"), verdict(4, "c", "pass")],
    ],
)  # fmt: skip
def test_what_is_no_change_of_mind_is_not_noticed(lines):
    assert noticed(concluded(*lines)) == {}


@pytest.mark.parametrize(
    ("target", "agent", "expected"),
    [
        ("e1", "worker-1", {("self_verified", "e1"): "soft"}),
        ("worker-1", "worker-1", {("self_verified", "worker-1"): "soft"}),
        ("e1", "critic-1", {}),
        ("unknown", "worker-1", {}),
    ],
)
def test_an_agent_that_verifies_its_own_result_is_noticed(target, agent, expected):
    assert noticed(concluded(turn(1), verdict(2, target, "pass", agent))) == expected


def test_verdicts_of_a_host_that_does_not_advertise_them_are_noticed_once():
    lines = [turn(1), verdict(2, "e1", "pass"), verdict(3, "e1", "pass", "critic-2")]
    old = [CapabilitySpan(document(level=5), at(-9))]
    twice = [CapabilitySpan(document(), at(90), at(95)), CapabilitySpan(document(), at(95))]
    expected = {("verdict_unadvertised", None): "soft"}

    assert noticed(concluded(*lines, capabilities=())) == expected
    assert noticed(concluded(*lines, capabilities=old)) == expected
    assert noticed(concluded(*lines, capabilities=ADVISORY)) == {}
    assert noticed(concluded(*lines, capabilities=twice)) == {}
    assert len(finding(concluded(*lines, capabilities=()), "verdict_unadvertised").evidence) == 2


def test_a_verdict_of_the_console_is_nothing_for_the_host_to_advertise():
    ours = {"agentId": "console", "target": "e1", "verdict": "pass", "atSequence": 1}
    lines = [turn(1), mark(50, "console.verdict.recorded", ours)]

    assert noticed(concluded(*lines, capabilities=())) == {}


def test_a_schema_mismatch_is_noticed_where_gates_depend_on_the_event():
    decided = line(1, "runOrchestrator.decided", {"decision": {"kind": "next-worker"}})
    paused = line(2, "node.suspended", {"reason": "low-confidence"}, "n")

    found = concluded(decided._replace(mismatches=OFF), paused._replace(mismatches=OFF))

    assert noticed(found) == {("schema_mismatch", None): "soft"}
    assert [each.sequence for each in finding(found, "schema_mismatch").evidence] == [1]
    assert not found.held


@pytest.mark.parametrize(
    ("seconds", "is_noticed"), [(301, True), (300, False), (0, False), (-999, False)]
)
def test_a_clock_that_runs_far_backwards_is_noticed(seconds, is_noticed):
    lines = [started(0)._replace(timestamp=at(0)), turn(1)._replace(timestamp=at(-seconds))]

    assert (("clock_skew", None) in noticed(concluded(*lines))) is is_noticed
    patient = Rules(clock_skew_s=1e9)
    assert ("clock_skew", None) not in noticed(concluded(*lines, rules=patient))


def test_evidence_is_cut_where_it_would_fill_a_page():
    typos = [line(at, "agent.verifed", {}, near_miss_of="agent.verified") for at in range(1, 200)]

    assert len(finding(concluded(*typos), "near_miss_type").evidence) == 20
