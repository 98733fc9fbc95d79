"""Which run ids are a connection test's, and what becomes of events that carry one."""

import pytest

from runs.domain.canary import (
    any_in,
    canary_run,
    is_canary,
    only_run_in,
    refused_in,
    sent_by_us,
)
from runs.domain.canary import (
    test_run as run_of_test,
)
from runs.domain.refusals import Refused

OURS = canary_run("ab" * 16)
BOUND = canary_run("ab" * 16, "acme")


@pytest.mark.parametrize("run_id", [OURS, BOUND, sent_by_us(OURS), sent_by_us(BOUND)])
def test_a_tests_run_id_is_known_and_names_its_test(run_id):
    assert is_canary(run_id)
    assert run_of_test(run_id) in {OURS, BOUND}


@pytest.mark.parametrize(
    "run_id", ["r-1", "", "my-console-canary-1", "console-canary", f"{OURS}/r-1", None, 7, [], {}]
)
def test_other_run_ids_are_nobodys_test(run_id):
    assert not is_canary(run_id)
    assert not any_in([(0, {"runId": run_id})])


def test_only_events_of_one_run_stand_alone():
    assert only_run_in([(0, {"runId": OURS}), (1, {"runId": OURS})]) == OURS
    assert only_run_in([(0, {"runId": OURS}), (1, {"runId": "r-1"})]) == ""
    assert only_run_in([(0, {"runId": []})]) == ""
    assert only_run_in([(0, "text")]) == ""


def test_refused_canaries_hold_nothing_and_others_stay_as_they_are():
    other, unread = {"runId": "r-1"}, Refused("e", "r", run_id="r-1", holds=True)
    could_be_verdict = Refused("e", "json_too_deep", run_id=OURS, holds=True)
    items = [(0, {"runId": OURS}), (1, other), (2, could_be_verdict), (3, unread)]

    found = refused_in(items)

    assert [each.reason for _, each in (found[0], found[2])] == ["canary_over"] * 2
    assert not any(each.holds for _, each in (found[0], found[2]))
    assert (found[1][1], found[3][1]) == (other, unread)
