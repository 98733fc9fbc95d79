"""What stood at a moment of the run, and whether it had been lifted by then."""

from tests.logs import arrived, line, merged, step, turn, verdict
from tests.verification.domain.concluding import case_of, decision
from verification.domain.decisions import Action
from verification.domain.index import index

FAIL = [turn(1), verdict(2, "e1", "fail")]


def override(sequence, gate="e1"):
    return line(sequence, "approval.overridden", {"gateId": gate, "principal": "p", "reason": "r"})


def test_a_hosts_override_lifts_what_was_said_before_it_from_then_on():
    case = case_of("e1", *FAIL, override(4), verdict(6, "e1", "fail", "critic-2"))
    first, second = case.standing

    assert not case.is_lifted(first, 4)
    assert case.is_lifted(first, 5)
    assert not case.is_lifted(second)


def test_an_override_for_another_gate_lifts_nothing():
    case = case_of("e1", *FAIL, override(4, "e9"))

    assert not case.is_lifted(case.standing[0])


def test_a_persons_override_counts_from_the_last_sequence_they_had_seen():
    made = [decision("target:e1", Action.OVERRIDE, seen=3)]
    case = case_of("e1", *FAIL, line(3, "node.started", {}), turn(5, "n9"), decisions=made)

    assert not case.is_lifted(case.standing[0], 2)
    assert case.is_lifted(case.standing[0], 5)


def test_a_person_has_not_lifted_what_they_had_not_seen():
    late = arrived(40, verdict(3, "e1", "fail", "critic-2"))
    made = [decision("target:e1", Action.OVERRIDE, seen=5)]

    case = case_of("e1", *FAIL, late, merged(5), decisions=made)

    assert [case.is_lifted(each) for each in case.standing] == [True, False]


def test_the_last_ruling_on_a_verdict_counts():
    made = [
        decision("target:e1", Action.OVERRIDE, seen=3),
        decision("target:e1", Action.UPHOLD, seen=6),
    ]
    case = case_of("e1", *FAIL, turn(3, "n3"), turn(6, "n6"), decisions=made)

    assert not case.is_lifted(case.standing[0])
    assert case.is_lifted(case.standing[0], 5)


def test_an_answer_is_no_ruling():
    case = case_of("e1", *FAIL, decisions=[decision("target:e1", Action.ANSWER, seen=2)])

    assert case.ruling_on(case.standing[0]) is None


def test_a_decision_is_about_its_target_even_if_its_key_names_an_interrupt():
    made = [decision("interrupt:n:4", Action.OVERRIDE, seen=2, target="e1")]

    assert case_of("e1", *FAIL, decisions=made).is_lifted(case_of("e1", *FAIL).standing[0])


def test_a_case_remembers_when_another_turn_was_first_asked_for():
    case = case_of("e1", turn(1), verdict(2, "e1", "pass"), verdict(3, "e1", "revise"))

    assert case.asked_at == 3
    assert case_of("e1", turn(1), verdict(2, "e1", "pass")).asked_at is None


def test_what_had_come_after_is_asked_for_a_moment():
    lines = [
        step(1, "child.completed", "child-1"),
        verdict(2, "child-1", "fail"),
        step(3, "child.completed", "child-2"),
    ]
    case = case_of("child-1", *lines)

    assert case.successors(index(lines), 3).replaced_by is None
    assert case.successors(index(lines), 9).replaced_by is not None
