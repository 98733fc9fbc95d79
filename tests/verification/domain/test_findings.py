"""The form of a finding, and which of several a run is known by."""

from tests.logs import started, turn
from verification.domain.findings import (
    GRAVEST_FIRST,
    Evidence,
    Finding,
    FindingKind,
    Severity,
    evidence,
    worst_severity,
)


def found(severity):
    return Finding(FindingKind.CLOCK_SKEW, severity, None, (), "It is so.", "Nothing.")


def test_only_one_severity_accuses_and_it_is_the_gravest():
    assert set(GRAVEST_FIRST) == set(Severity)
    assert GRAVEST_FIRST[0] is Severity.VIOLATION
    assert worst_severity(found(each) for each in Severity) is Severity.VIOLATION
    assert worst_severity([found(Severity.SOFT), found(Severity.SUSPECTED)]) is Severity.SUSPECTED
    assert worst_severity([]) is None


def test_evidence_names_each_line_once_and_passes_over_what_is_not_there():
    lines = [started(), None, turn(1), started()]

    assert evidence(lines) == (Evidence("e0", 0, "run.started"), Evidence("e1", 1, "agent.decided"))


def test_every_kind_that_was_asked_for_exists():
    assert {kind.value for kind in FindingKind} == {
        "merged_after_fail", "success_after_fail", "merged_after_revise", "revise_over_limit",
        "verdict_reversed", "self_verified", "unverified_commit", "low_confidence_not_escalated",
        "content_leak_refused", "schema_mismatch", "conflicting_event", "near_miss_type",
        "verdict_unadvertised", "clock_skew",
    }  # fmt: skip
