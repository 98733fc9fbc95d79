"""Whole runs and what follows from them, in any order and however often their lines arrive."""

import random

import pytest

from tests.logs import (
    ADVISORY,
    FIXTURES,
    GATING,
    captures,
    completed,
    line,
    scenarios,
    started,
    terminate,
    turn,
    verdict,
)
from tests.verification.domain.concluding import concluded, noticed, states, summary, wanted
from verification.domain.conclude import conclude
from verification.domain.findings import Doubt, FindingKind, Severity
from verification.domain.gates import GateState
from verification.domain.requests import Reason
from verification.domain.rules import Rules
from verification.domain.signals import is_signal

SCENARIOS = list(scenarios())
NOISE = ["node.started", "log.appended", "agent.reasoned", "memory.written", "acme.odd"]


def shuffled(lines, seed):
    random.Random(seed).shuffle(lines)
    return lines


def as_expected(found):
    """What was concluded, in the form in which the scenarios say it."""
    return {
        "outcome": found.outcome,
        "held": found.held,
        "gates": states(found),
        "findings": _sorted(
            {
                "kind": each.kind.value,
                "severity": each.severity.value,
                **({"target": each.target} if each.target else {}),
                **({"missing": [list(gap) for gap in each.missing]} if each.missing else {}),
            }
            for each in found.findings
        ),
        "escalations": _sorted(
            {"reason": reason, **({"target": target} if target else {})}
            for reason, target in wanted(found)
        ),
    }


def expected(scenario):
    return {
        **scenario.expect,
        "findings": _sorted(scenario.expect["findings"]),
        "escalations": _sorted(scenario.expect["escalations"]),
    }


def _sorted(rows):
    return sorted(rows, key=lambda row: sorted((key, str(value)) for key, value in row.items()))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
@pytest.mark.parametrize("arrange", ["in order", "reversed", "doubled", "shuffled"])
def test_a_scenario_ends_as_written_whatever_the_order_of_arrival(scenario, arrange):
    lines = {
        "in order": list(scenario.lines),
        "reversed": list(scenario.lines)[::-1],
        "doubled": [each for line in scenario.lines for each in (line, line)],
        "shuffled": random.Random(scenario.name).sample(
            list(scenario.lines) * 2, k=2 * len(scenario.lines)
        ),
    }[arrange]

    found = conclude(lines, scenario.gaps, scenario.capabilities, (), Rules())

    assert as_expected(found) == expected(scenario)
    assert found.complete is not bool(scenario.gaps)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_only_the_signals_of_a_scenario_count(scenario):
    noise = [line(900 + at, type_, {}) for at, type_ in enumerate(NOISE)]
    signals = [each for each in scenario.lines if is_signal(each)]

    loud = conclude([*noise, *scenario.lines], scenario.gaps, scenario.capabilities, (), Rules())
    quiet = conclude(signals, scenario.gaps, scenario.capabilities, (), Rules())

    assert summary(loud) == summary(quiet)


def test_the_scenarios_are_all_there():
    assert len(SCENARIOS) == 29


@pytest.mark.parametrize("capture", list(captures()), ids=lambda each: f"{each.host}-{each.label}")
def test_no_recorded_run_is_accused_of_anything(capture):
    found = conclude(capture.lines, (), GATING, (), Rules())

    assert not found.held
    assert not [each for each in found.findings if each.severity != "soft"]
    assert found.run.is_terminal is not bool(found.escalations)


# A recorded run with verdicts added at honest sequences.


def test_a_recorded_dispatch_is_a_violation_once_its_child_had_failed():
    lines = dispatch_with("fail", after="child.completed")

    found = conclude(lines, (), GATING, (), Rules())

    assert noticed(found) == {
        ("merged_after_fail", CHILD): "violation",
        ("success_after_fail", CHILD): "violation",
    }
    assert wanted(found) == [("fail", CHILD)]
    assert not found.is_success


def test_the_same_dispatch_is_fine_with_a_pass():
    lines = dispatch_with("pass", after="child.completed")

    found = conclude(lines, (), GATING, (), Rules())

    assert (noticed(found), wanted(found)) == ({}, [])
    assert found.commits.unverified == ()


CHILD = "200feac3-507e-44ba-80a7-68bdb1e2d845"


DISPATCH = ("openwop-app", "conformance-dispatch-output-mapping")


def dispatch_with(said, *, after):
    (capture,) = (each for each in captures() if (each.host, each.label) == DISPATCH)
    spread = [
        line(2 * each.sequence, each.type, each.payload, each.node_id) for each in capture.lines
    ]
    (place,) = (
        each.sequence
        for each in spread
        if isinstance(each.payload, dict) and each.payload.get("phase") == after
    )
    return [*spread, verdict(place + 1, CHILD, said)]


# What counts as a success.


def test_only_a_goal_that_nothing_speaks_against_is_a_success():
    good = [started(), turn(1), verdict(2, "e1", "pass"), terminate(3, True), completed(4)]
    typo = line(2, "agent.verifed", {}, near_miss_of="agent.verified")
    bad = [started(), turn(1), verdict(2, "e1", "fail"), terminate(3, True), completed(4)]

    assert concluded(*good).is_success
    assert not concluded(*good[:3], terminate(3), completed(4)).is_success
    assert not concluded(started(), turn(1), typo, terminate(3, True), completed(4)).is_success
    assert not concluded(*bad).is_success
    assert concluded(*bad, capabilities=ADVISORY).is_success


def test_the_worst_gate_and_finding_stand_for_the_run():
    found = concluded(
        started(), turn(1), verdict(2, "e1", "pass"), turn(3, "n2"), verdict(4, "e3", "fail"),
        completed(5),
    )  # fmt: skip

    assert found.standing is GateState.BLOCKED
    assert found.worst_severity == "violation"
    assert concluded(started()).standing is GateState.NO_VERDICT
    assert concluded(started()).worst_severity is None


def test_a_target_that_nobody_verified_has_no_verdict_and_in_a_held_run_is_unknown():
    typo = line(2, "agent.verifed", {}, near_miss_of="agent.verified")

    assert concluded(started(), turn(1)).state_of("e1") is GateState.NO_VERDICT
    assert concluded(started(), turn(1), typo).state_of("e1") is GateState.UNKNOWN
    assert concluded(started(), turn(1), verdict(3, "e1", "fail"), typo).state_of("e1") is (
        GateState.BLOCKED
    )


@pytest.mark.parametrize("words", [GateState, Severity, FindingKind, Doubt, Reason])
def test_the_document_explains_every_word_that_is_shown(words):
    document = (FIXTURES.parent.parent / "docs" / "gates.md").read_text()
    counted_only = {FindingKind.UNVERIFIED_COMMIT}

    assert {each for each in words if f"`{each}`" not in document} <= counted_only
