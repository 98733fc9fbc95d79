"""What holds a run, and what ends a hold."""

import pytest

from runs.domain.content_free import digest_of_target
from tests.logs import arrived, completed, decided, line, mark, started, turn, verdict
from tests.verification.domain.concluding import concluded, decision, noticed, wanted
from verification.domain.decisions import Action

RUN = [started(), turn(1), completed(20)]
TYPO = line(2, "agent.verifed", {"verdict": "fail"}, near_miss_of="agent.verified")
LEAK = {"eventId": "e2", "sequence": 2, "reason": "verifier_content_leak", "pointer": "/payload/x"}
REFUSED = mark(50, "console.verdict.refused", LEAK)
PLACELESS = mark(51, "console.verdict.refused", {**LEAK, "sequence": None, "reason": "enum"})
TWO_VERSIONS = {"eventId": "e1", "sequence": 1, "heldDigest": "aa", "offeredDigest": "bb"}
CONFLICT = mark(52, "console.event.conflicted", TWO_VERSIONS)
UNREADABLE = verdict(2, "e1", "maybe")
ODD = decided(2, "terminate-success")
VAGUE = decided(2, "terminate", successCriteria=[{"key": "a", "met": "true"}])


@pytest.mark.parametrize(
    ("cause", "reason", "kind"),
    [
        (TYPO, "near_miss_type", "near_miss_type"),
        (REFUSED, "verdict_refused", "content_leak_refused"),
        (PLACELESS, "verdict_refused", "schema_mismatch"),
        (CONFLICT, "conflicting_event", "conflicting_event"),
        (UNREADABLE, "verdict_unreadable", "schema_mismatch"),
        (ODD, "decision_unreadable", "schema_mismatch"),
        (VAGUE, "decision_unreadable", "schema_mismatch"),
    ],
)
def test_what_cannot_be_read_holds_the_run_and_wants_a_person(cause, reason, kind):
    found = concluded(*RUN, cause)

    assert found.held
    assert found.hold_reasons == (reason,)
    assert noticed(found) == {(kind, None): "soft"}
    assert wanted(found) == [("held", None)]
    assert found.escalations[0].key == "held"


def test_a_readable_run_is_not_held():
    found = concluded(*RUN, verdict(2, "e1", "pass"), decided(3, "next-worker"))

    assert (found.held, found.hold_reasons, wanted(found)) == (False, (), [])


@pytest.mark.parametrize(
    "readable",
    [
        verdict(2, "e1", "pass"),
        verdict(7, "e1", "pass")._replace(event_id="e2"),
        verdict(2, "e1", "pass")._replace(event_id="sent-again"),
        decided(2, "next-worker"),
    ],
)
def test_the_same_event_readable_ends_the_hold_of_a_refused_one(readable):
    assert not concluded(*RUN, REFUSED, readable).held


SAID_FAIL = {**LEAK, "verdict": "fail", "targetDigest": digest_of_target("e1")}
REFUSED_FAIL = mark(53, "console.verdict.refused", SAID_FAIL)


def test_the_same_verdict_without_content_ends_the_hold():
    found = concluded(*RUN, REFUSED_FAIL, verdict(2, "e1", "fail"))

    assert not found.held
    assert found.gates["e1"].state == "blocked"


@pytest.mark.parametrize(
    "other",
    [
        verdict(2, "e1", "pass"),
        verdict(2, "e1", "revise"),
        verdict(2, "e2", "fail"),
        verdict(7, "e1", "pass")._replace(event_id="e2"),
        verdict(2, "e1", "pass")._replace(event_id="sent-again"),
        decided(2, "next-worker"),
    ],
)
def test_what_says_otherwise_in_its_place_is_a_conflict_and_keeps_every_gate_unknown(other):
    found = concluded(*RUN, REFUSED_FAIL, other)

    assert found.hold_reasons == ("conflicting_event",)
    assert noticed(found)["conflicting_event", None] == "soft"
    assert ("held", None) in wanted(found)
    assert not [gate for gate in found.gates.values() if gate.lets_through]
    assert found.state_of("anything") == "unknown"


def test_one_that_agrees_does_not_make_up_for_one_that_does_not():
    agrees = verdict(7, "e1", "fail")._replace(event_id="e2")

    differs = verdict(2, "e1", "pass")._replace(event_id="sent-again")

    assert concluded(*RUN, REFUSED_FAIL, agrees, differs).held


@pytest.mark.parametrize(
    "other", [verdict(3, "e1", "pass"), line(2, "node.completed", {}, "n"), ODD, UNREADABLE]
)
def test_another_event_does_not(other):
    assert "verdict_refused" in concluded(*RUN, REFUSED, other).hold_reasons


def test_many_causes_are_one_matter():
    found = concluded(*RUN, TYPO, REFUSED, CONFLICT, decided(4, "odd"))

    assert wanted(found) == [("held", None)]
    assert len(found.hold_reasons) == 4


@pytest.mark.parametrize("cause", [TYPO, REFUSED, PLACELESS, CONFLICT, UNREADABLE, ODD])
def test_a_person_who_saw_it_releases_the_run(cause):
    seen = [decision("held", Action.RELEASE_HOLD, seen=60)]

    found = concluded(*RUN, cause, decisions=seen)

    assert not found.held
    assert wanted(found) == []
    assert found.holds[0].released_by is seen[0]


def test_what_comes_after_a_release_holds_again():
    seen = [decision("held", Action.RELEASE_HOLD, seen=10)]
    late = arrived(99, line(3, "agent.verfied", {}, near_miss_of="agent.verified"))

    found = concluded(*RUN, TYPO, late, decisions=seen)

    assert found.held
    assert wanted(found) == [("held", None)]


def test_another_decision_releases_nothing():
    assert concluded(*RUN, TYPO, decisions=[decision("held", Action.CANNOT_DECIDE, seen=60)]).held


def test_the_finding_about_the_host_stays_after_a_release():
    seen = [decision("held", Action.RELEASE_HOLD, seen=60)]

    assert noticed(concluded(*RUN, TYPO, decisions=seen)) == {("near_miss_type", None): "soft"}


def test_a_cancelled_run_wants_nobody_but_stays_held():
    found = concluded(started(), TYPO, line(3, "run.cancelled", {}))

    assert found.held
    assert wanted(found) == []


def test_an_unreadable_give_up_is_no_success():
    assert concluded(started(), VAGUE, completed(3)).outcome == "ended"
    assert not concluded(started(), VAGUE, completed(3)).is_success
