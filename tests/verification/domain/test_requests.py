"""Single reasons to want a person, and the names they go by."""

import pytest

from tests.logs import completed, line, mark, started, suspended, turn, verdict
from tests.verification.domain.concluding import concluded, wanted
from verification.domain.index import index
from verification.domain.requests import (
    LONGEST_KEY,
    RANK,
    Reason,
    about_interrupts,
    bounded,
    decision_key,
    interrupt_keys,
    target_key,
)
from verification.domain.rules import Rules


def test_reasons_are_ranked_in_the_order_in_which_they_are_weighed():
    assert [reason.value for reason in sorted(Reason, key=RANK.__getitem__)] == [
        "fail", "low_confidence", "ask_user", "interrupt", "revise_limit", "violation",
        "consensus_rejected", "held", "audit_sample",
    ]  # fmt: skip


def test_keys_say_what_a_matter_is_about():
    (interrupt,) = index(
        [suspended(1, "n", interruptId="i"), suspended(2, "n", interruptId="i")]
    ).run.interrupts

    assert target_key("e1") == "target:e1"
    assert decision_key("e1") == "decision:e1"
    assert interrupt_keys(interrupt) == ("interrupt:n:1", "interrupt:n:2", "interrupt:i")


def test_a_key_is_cut_only_where_it_would_not_fit_and_stays_its_own():
    assert bounded("k" * LONGEST_KEY) == "k" * LONGEST_KEY
    assert len(bounded("k" * 900)) == LONGEST_KEY
    assert bounded("k" * 900) != bounded("k" * 901)


def test_an_interrupt_is_decided_by_whoever_saw_its_first_line():
    (request,) = about_interrupts(index([suspended(1, "n"), suspended(2, "n", interruptId="i")]))

    assert [each.event_id for each in request.lines] == ["e1"]


def test_a_failed_consensus_of_the_console_is_named_as_such():
    ours = {"agentId": "console", "target": "e1", "verdict": "fail", "atSequence": 1}
    lines = [started(), turn(1), mark(50, "console.verdict.recorded", ours)]

    (own,) = concluded(*lines).escalations
    (both,) = concluded(*lines, verdict(2, "e1", "fail")).escalations

    assert own.reasons == ("fail", "consensus_rejected")
    assert both.reasons == ("fail",)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0), (1.0, 200), (0.3, 60)])
def test_a_share_of_passes_is_looked_at_anyway(share, expected):
    lines = [started()]
    for at in range(1, 401, 2):
        lines += [turn(at, f"n{at}"), verdict(at + 1, f"e{at}", "pass")]

    found = concluded(*lines, rules=Rules(audit_share=share, audit_salt="s"))

    assert abs(len(found.escalations) - expected) <= 25
    assert {reason for reason, _ in wanted(found)} <= {"audit_sample"}


def test_the_same_pass_is_always_in_the_sample_or_never():
    lines = [started(), turn(1), verdict(2, "e1", "pass")]
    rules = [Rules(audit_share=0.5, audit_salt=str(salt)) for salt in range(20)]

    first = [wanted(concluded(*lines, rules=each)) for each in rules]
    again = [wanted(concluded(*lines, completed(3), rules=each)) for each in rules]

    assert first == again
    assert [] in first
    assert [("audit_sample", "e1")] in first


def test_only_a_pass_that_stands_is_sampled():
    rules = Rules(audit_share=1.0)

    assert wanted(concluded(turn(1), verdict(2, "e1", "revise"), rules=rules)) == []
    assert wanted(concluded(turn(1), verdict(2, "e1", "fail"), rules=rules)) == [("fail", "e1")]
    cancelled = line(3, "run.cancelled", {})
    assert wanted(concluded(turn(1), verdict(2, "e1", "pass"), cancelled, rules=rules)) == []
