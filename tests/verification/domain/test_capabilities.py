"""What a host advertised and when, in both forms of the document."""

from datetime import timedelta

import pytest

from tests.logs import ADVISORY, GATING, START, at, document
from verification.domain.capabilities import (
    Advertisements,
    Binding,
    CapabilitySpan,
    advertised,
)

MODEL = {"version": 6, "verifier": {"supported": True, "gating": True}}


def span(gating: bool, start: float, end: float | None = None, reference: str = ""):
    return CapabilitySpan(
        document(gating=gating), at(start), None if end is None else at(end), reference
    )


@pytest.mark.parametrize(
    "given",
    [
        {"multiAgent": {"executionModel": {"supported": True, **MODEL}}},
        {"multiAgent": {"executionModel": MODEL}},
        {"capabilities": {"multiAgent": {"executionModel": MODEL}}},
        {"multiAgent": {"executionModel": {**MODEL, "version": 7}}},
        # v2: a record, whose presence is the claim.
        {"multiAgent": {"status": "stable", "since": "2.0", "witness": "claims-check",
                        "executionModel": {"version": 6, "verifier": {"gating": True}}}},
        {"multiAgent": {"status": "stable", "executionModel": {"version": 6},
                        "verifier": {"gating": True}}},
    ],
)  # fmt: skip
def test_a_gating_host_is_recognised_in_every_form(given):
    found = advertised(given)

    assert found.verifies
    assert found.gates


@pytest.mark.parametrize(
    "given",
    [
        None,
        {},
        [],
        {"multiAgent": True},
        {"multiAgent": {"executionModel": {**MODEL, "version": 5}}},
        {"multiAgent": {"executionModel": {**MODEL, "version": "6"}}},
        {"multiAgent": {"executionModel": {**MODEL, "version": True}}},
        {"multiAgent": {"executionModel": {**MODEL, "supported": False}}},
        {"multiAgent": {"executionModel": {"version": 6, "verifier": {"gating": True}}}},
        {"multiAgent": {"executionModel": {
            "version": 6, "verifier": {"supported": False, "gating": True}}}},
        {"multiAgent": {"executionModel": {
            "version": 6, "verifier": {"supported": True, "gating": "yes"}}}},
        {"multiAgent": {"executionModel": {"version": 6}},
         "capabilities": {"multiAgent": {"executionModel": MODEL}}},
    ],
)  # fmt: skip
def test_a_host_that_does_not_plainly_claim_gating_does_not_gate(given):
    assert not advertised(given).gates


def test_limits_and_floor_are_read_root_first():
    found = advertised(
        {
            "limits": {"maxLoopIterations": 3},
            "capabilities": {"limits": {"maxLoopIterations": 9}},
            "multiAgent": {
                "executionModel": {
                    **MODEL,
                    "confidenceEscalationFloor": 0.8,
                    "crossHostCausation": {"supported": True, "hostId": "host-a"},
                }
            },
        }
    )

    assert (found.max_loop_iterations, found.confidence_floor) == (3, 0.8)
    assert found.host_id == "host-a"
    assert (
        advertised({"capabilities": {"limits": {"maxLoopIterations": 9}}}).max_loop_iterations == 9
    )
    assert advertised({"limits": {"maxLoopIterations": 0}}).max_loop_iterations is None


def test_a_host_that_advertised_nothing_is_bound_to_nothing():
    claim = Advertisements(()).at(START)

    assert claim.binding is Binding.ADVISORY
    assert claim.advertised is not None
    assert not claim.advertised.verifies


def test_the_snapshot_that_covers_the_time_counts():
    claims = Advertisements([span(True, 0, 10, "old"), span(False, 10, None, "new")])

    assert claims.at(at(0)).binding is Binding.GATING
    assert claims.at(at(9.9)).binding is Binding.GATING
    assert claims.at(at(10)).binding is Binding.ADVISORY
    assert claims.at(at(99)).span.reference == "new"


def test_a_single_snapshot_is_taken_to_hold_for_all_times():
    claims = Advertisements([span(True, 50, 60)])

    assert claims.at(at(0)).binding is Binding.GATING
    assert claims.at(None).binding is Binding.GATING


@pytest.mark.parametrize("time", [at(-1), at(15), None])
def test_of_several_snapshots_that_do_not_cover_the_time_none_is_picked(time):
    claims = Advertisements([span(True, 0, 10), span(True, 20, None)])

    assert claims.at(time).binding is Binding.UNKNOWN


def test_of_two_snapshots_that_overlap_the_one_that_charges_less_counts():
    claims = Advertisements([span(False, 0, 20), span(True, 10, None)])

    assert claims.at(at(15)).binding is Binding.ADVISORY


def test_the_order_in_which_snapshots_are_given_does_not_matter():
    spans = [span(True, 0, 10), span(False, 10, 20), span(True, 20, None)]

    for time in (at(5), at(15), at(25)):
        assert Advertisements(spans).at(time) == Advertisements(spans[::-1]).at(time)


def test_the_test_documents_are_what_their_names_say():
    assert Advertisements(GATING).at(START).binding is Binding.GATING
    assert Advertisements(ADVISORY).at(START).binding is Binding.ADVISORY
    assert GATING[0].valid_from == START - timedelta(days=1)
