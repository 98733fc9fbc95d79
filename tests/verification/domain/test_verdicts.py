"""Which verdicts stand, and what they add up to."""

from runs.domain.readers import VerdictKind
from tests.logs import mark, verdict
from tests.verification.domain.concluding import case_of
from verification.domain.verdicts import phases, reversals, worst


def verdicts(*said):
    """Verdicts on one target, written as `critic-1 fail`."""
    lines = [
        verdict(at, "t", *reversed(text.split()), **more) for at, (text, more) in enumerate(said, 1)
    ]
    return case_of("t", *lines)


def said(*texts):
    return verdicts(*((text, {}) for text in texts))


def test_the_latest_word_of_each_verifier_stands():
    case = said("a pass", "b fail", "a fail", "b revise")

    assert [(each.said.agent_id, each.kind) for each in case.standing] == [
        ("a", VerdictKind.FAIL),
        ("b", VerdictKind.REVISE),
    ]


def test_a_verifier_has_one_word_per_host_it_names():
    case = verdicts(("a fail", {"causationHostId": "elsewhere"}), ("a pass", {}))

    assert worst(each.kind for each in case.standing) is VerdictKind.FAIL


def test_the_worst_of_no_verdict_is_none():
    assert worst([]) is None
    assert worst([VerdictKind.PASS, VerdictKind.REVISE]) is VerdictKind.REVISE


def test_phases_say_what_the_verdicts_added_up_to_at_each_moment():
    case = said("a pass", "b fail", "a revise", "b pass", "a pass")

    assert [(p.kind.value, p.verdict.sequence, p.start, p.end) for p in case.phases] == [
        ("pass", 1, 1, 2),
        ("fail", 2, 2, 3),
        ("fail", 2, 3, 4),
        ("revise", 3, 4, 5),
        ("pass", 5, 5, None),
    ]  # fmt: skip
    assert case.phase_at(1) is None
    assert case.phase_at(3).kind is VerdictKind.FAIL
    assert case.phase_at(99).kind is VerdictKind.PASS


def test_the_latest_standing_fail_is_what_a_phase_rests_on():
    case = said("a fail", "b fail", "b pass")

    assert [each.verdict.sequence for each in case.phases] == [1, 2, 1]
    assert phases(case.verdicts) == case.phases


def test_a_reversal_is_a_change_of_a_verifiers_own_word():
    case = said("a fail", "b pass", "a pass", "a pass")

    assert [(old.sequence, new.sequence) for old, new in reversals(case.verdicts)] == [(1, 3)]


def test_a_verdict_of_the_console_stands_where_it_was_given():
    ours = mark(50, "console.verdict.recorded", {
        "agentId": "console", "target": "t", "verdict": "fail", "atSequence": 1})  # fmt: skip

    case = case_of("t", verdict(1, "t", "pass"), ours, verdict(2, "t", "pass", "b"))

    assert [(each.sequence, each.is_ours) for each in case.verdicts] == [
        (1, False), (1, True), (2, False),
    ]  # fmt: skip
