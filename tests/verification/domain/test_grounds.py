"""How heavily a deed may be charged."""

import pytest

from tests.logs import ADVISORY, GATING, line, merged, step, turn, verdict
from tests.verification.domain.concluding import case_of
from verification.domain.allowances import Allowances
from verification.domain.capabilities import Advertisements
from verification.domain.findings import Doubt, Severity
from verification.domain.grounds import grounds
from verification.domain.holds import holds
from verification.domain.index import index

LINES = [step(1, "child.completed", "c"), verdict(2, "c", "fail"), merged(5, "c")]


def argued(*lines, gaps=(), capabilities=GATING):
    log = index(lines)
    claims = Advertisements(capabilities)
    return grounds(log, claims, gaps, holds(log, ()), Allowances(log, (), {}))


@pytest.mark.parametrize(
    ("capabilities", "missing", "doubts", "expected"),
    [
        (GATING, [], [], Severity.VIOLATION),
        (GATING, [], [Doubt.WIRE], Severity.SUSPECTED),
        (GATING, [(3, 4)], [], Severity.NOT_PROVABLE),
        (GATING, [(3, 4)], [Doubt.WIRE], Severity.NOT_PROVABLE),
        (ADVISORY, [], [], Severity.ADVISORY),
        (ADVISORY, [], [Doubt.WIRE], Severity.SUSPECTED),
        (ADVISORY, [(3, 4)], [], Severity.NOT_PROVABLE),
    ],
)
def test_only_a_bound_host_with_nothing_missing_and_no_doubt_is_charged(
    capabilities, missing, doubts, expected
):
    found = argued(*LINES, capabilities=capabilities)
    (said,) = case_of("c", *LINES).standing

    assert found.severity(said, LINES[2], missing, doubts) == (expected, tuple(doubts))


def test_gaps_may_be_given_in_any_order():
    assert argued(*LINES, gaps=[(9, 9), (3, 4)]).missing(2, 10) == ((3, 4), (9, 9))


def test_what_cannot_be_read_counts_where_it_stands():
    typo = line(4, "agent.verifed", {}, near_miss_of="agent.verified")
    found = argued(*LINES, typo)

    assert found.is_unreadable(2, 5)
    assert found.is_unreadable(4, 4)
    assert not found.is_unreadable(5, 9)
    assert not argued(*LINES).is_unreadable(0, 99)


def test_a_run_that_came_back_under_the_same_name_is_a_doubt():
    again = step(4, "child.completed", "c")
    (said,) = case_of("c", *LINES).standing

    assert argued(*LINES, again).doubts_about(case_of("c", *LINES, again), said, 5) == [
        Doubt.REPLACED
    ]
    assert argued(*LINES, turn(4)).doubts_about(case_of("c", *LINES), said, 5) == []
