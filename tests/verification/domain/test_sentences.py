"""The words of findings."""

import pytest

from tests.logs import merged, step, verdict
from tests.verification.domain.concluding import case_of
from verification.domain.findings import Doubt, FindingKind, Severity
from verification.domain.sentences import explanation, ranges, would_change

DEEDS = [
    FindingKind.MERGED_AFTER_FAIL,
    FindingKind.MERGED_AFTER_REVISE,
    FindingKind.SUCCESS_AFTER_FAIL,
]


@pytest.mark.parametrize("severity", list(Severity))
@pytest.mark.parametrize("kind", DEEDS)
def test_an_explanation_says_who_said_what_when_and_what_was_done(kind, severity):
    case = case_of("c", step(1, "child.completed", "c"), verdict(2, "c", "fail"))

    said = explanation(kind, case.standing[0], merged(5), severity)

    assert said.startswith("critic-1 said fail at sequence 2; the result ")
    assert "at sequence 5." in said
    assert said.endswith(".")


@pytest.mark.parametrize("doubt", list(Doubt))
def test_every_doubt_has_words(doubt):
    assert len(would_change(Severity.SUSPECTED, (), [doubt])) > 40


@pytest.mark.parametrize("severity", list(Severity))
def test_every_severity_says_what_would_change_it(severity):
    assert would_change(severity, [(3, 4)], [Doubt.WIRE]).endswith(".")


def test_ranges_read_as_a_person_would_write_them():
    assert ranges([(3, 3), (5, 9)]) == "3, 5–9"
    assert ranges([]) == ""
