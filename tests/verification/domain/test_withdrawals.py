"""Why a finding no longer holds."""

import pytest

from tests.logs import completed, line, merged, started, step, terminate, turn, verdict
from tests.verification.domain.concluding import concluded
from verification.domain.findings import FindingKind
from verification.domain.withdrawals import UNSHOWN, Withdrawn, why_withdrawn

SUCCESS = Withdrawn(FindingKind.SUCCESS_AFTER_FAIL, "e1", ())
FAIL = [started(), turn(1), verdict(2, "e1", "fail")]


@pytest.mark.parametrize(
    ("lines", "because"),
    [
        ([*FAIL, verdict(3, "e1", "pass"), completed(4)], "latest word is pass"),
        ([*FAIL, turn(3), verdict(4, "e3", "pass"), completed(5)], "new result in its place"),
        ([*FAIL, line(3, "approval.overridden", {"gateId": "e1"}), completed(4)], "let it through"),
        ([*FAIL, terminate(3, False), completed(4)], "gave up"),
        ([*FAIL, line(3, "run.failed", {})], "failed"),
        ([*FAIL, line(3, "run.cancelled", {})], "cancelled"),
        (FAIL, "goes on"),
        ([started()], "No readable verdict"),
    ],
)
def test_the_reason_is_what_the_log_says_now(lines, because):
    assert because in why_withdrawn(SUCCESS, concluded(*lines), [])


def test_events_that_were_missing_are_named_once_they_have_arrived():
    finding = Withdrawn(FindingKind.MERGED_AFTER_FAIL, "child-1", [(3, 4)])
    lines = [
        started(), step(1, "dispatch.succeeded", "child-1"), verdict(2, "child-1", "fail"),
        verdict(3, "child-1", "pass"), turn(4), merged(5),
    ]  # fmt: skip

    assert why_withdrawn(finding, concluded(*lines), []).startswith(
        "The missing events arrived: 3–4."
    )
    assert "arrived" not in why_withdrawn(finding, concluded(*lines), [(4, 4)])


def test_a_host_that_is_known_to_have_advertised_is_no_longer_said_not_to():
    finding = Withdrawn(FindingKind.VERDICT_UNADVERTISED, "", ())

    assert "advertised" in why_withdrawn(finding, concluded(*FAIL), [])


def test_where_nothing_else_can_be_said_the_log_is_pointed_at():
    assert why_withdrawn(Withdrawn(FindingKind.CLOCK_SKEW, "", ()), concluded(*FAIL), []) == UNSHOWN
    assert why_withdrawn(SUCCESS, concluded(*FAIL, completed(3)), []) == UNSHOWN
