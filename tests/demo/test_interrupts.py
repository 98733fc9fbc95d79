"""What an answer does to a question: rules without a host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openwop_console.demo.interrupts import (
    ActionNotOffered,
    AnswersMissing,
    Ask,
    CorrelationMismatch,
    Habits,
    Kind,
    Outcome,
    SchemaViolated,
    Vote,
    check_resume_schema,
    judge,
)

AT = "2026-11-30T08:00:00.000Z"


def approval(**data):
    return Ask(Kind.APPROVAL, "gate", {"actions": ["accept", "reject", "refine", "ask"], **data})


def outcome(ask, value, votes=(), habits=None):
    return judge(ask, value, votes=list(votes), at=AT, habits=habits or Habits()).outcome


def vote_all(ask, actions, habits=None):
    """Outcome and votes after a series of votes by different people."""
    votes = []
    for number, action in enumerate(actions):
        value = {"action": action, "voter": f"p-{number}"}
        judged = judge(ask, value, votes=votes, at=AT, habits=habits or Habits())
        votes = list(judged.votes)
        if judged.outcome is not Outcome.PENDING:
            return judged.outcome, votes
    return Outcome.PENDING, votes


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("accept", Outcome.ACCEPTED),
        ("reject", Outcome.REJECTED),
        ("refine", Outcome.REFINED),
        ("ask", Outcome.PENDING),
    ],
)
def test_an_approval_takes_the_actions_it_offers(action, expected):
    assert outcome(approval(), {"action": action}) is expected


@pytest.mark.parametrize("value", [{"action": "edit"}, {}, None, "accept", ["accept"]])
def test_an_approval_takes_nothing_else(value):
    with pytest.raises(ActionNotOffered) as caught:
        outcome(approval(), value)

    assert "accept" in str(caught.value)


def test_a_side_question_does_not_count_as_consent():
    votes = [Vote("ask", "p-1", AT)]
    quorum = approval(requiredApprovals=2)

    assert outcome(quorum, {"action": "accept", "voter": "p-2"}, votes) is Outcome.PENDING


def test_one_rejection_is_a_veto_unless_a_majority_is_needed():
    veto = approval(requiredApprovals=3)
    majority = approval(requiredApprovals=3, rejectionPolicy="majority")

    assert vote_all(veto, ["accept", "reject"])[0] is Outcome.REJECTED
    assert vote_all(majority, ["reject"])[0] is Outcome.PENDING
    assert vote_all(majority, ["reject", "reject"])[0] is Outcome.REJECTED


def test_a_second_vote_of_one_person_counts_only_on_hosts_that_count_it():
    quorum = approval(requiredApprovals=2)
    votes = [Vote("accept", "p-1", AT)]
    value = {"action": "accept", "decidedBy": "p-1"}

    assert outcome(quorum, value, votes) is Outcome.PENDING
    assert outcome(quorum, value, votes, Habits(counts_repeat_votes=True)) is Outcome.ACCEPTED


@given(st.integers(1, 5), st.lists(st.sampled_from(["accept", "reject"]), max_size=8))
def test_a_majority_gate_never_both_accepts_and_rejects(required, actions):
    quorum = approval(requiredApprovals=required, rejectionPolicy="majority")

    reached, votes = vote_all(quorum, actions)

    accepts = sum(vote.action == "accept" for vote in votes)
    rejects = len(votes) - accepts
    assert (reached is Outcome.ACCEPTED) == (accepts >= required)
    assert (reached is Outcome.REJECTED) == (rejects > required // 2)


@given(st.permutations(["accept", "accept", "reject"]))
def test_the_order_of_votes_does_not_decide_a_majority_gate(actions):
    quorum = approval(requiredApprovals=2, rejectionPolicy="majority")

    assert vote_all(quorum, actions)[0] is Outcome.ACCEPTED


def test_an_external_event_matches_every_key():
    ask = Ask(Kind.EXTERNAL_EVENT, "n", {"correlation": {"order": "1", "state": "done"}})

    assert outcome(ask, {"order": "1", "state": "done", "more": 1}) is Outcome.ACCEPTED
    with pytest.raises(CorrelationMismatch) as caught:
        outcome(ask, {"order": "1"})
    assert (caught.value.key, caught.value.is_absent) == ("state", True)
    assert "done" not in str(caught.value)


def test_an_event_payload_is_read_only_by_hosts_that_follow_the_text():
    ask = Ask(Kind.EXTERNAL_EVENT, "n", {"correlation": {"order": "1"}})
    wrapped = {"eventPayload": {"order": "1"}}

    assert outcome(ask, wrapped) is Outcome.ACCEPTED
    with pytest.raises(CorrelationMismatch):
        outcome(ask, wrapped, habits=Habits(reads_event_payload=False))


@pytest.mark.parametrize(
    "value",
    [{}, {"answers": {}}, {"answers": {"a": "x"}}, {"answers": {"a": "x", "b": 1}}, {"answers": 1}],
)
def test_a_clarification_wants_a_text_for_each_question(value):
    questions = [{"id": "a", "question": "?"}, {"id": "b", "question": "?"}]
    ask = Ask(Kind.CLARIFICATION, "n", {"questions": questions})

    with pytest.raises(AnswersMissing, match="answers"):
        outcome(ask, value)
    assert outcome(ask, {"answers": {"a": "x", "b": "y"}}) is Outcome.ACCEPTED


def test_a_host_that_asks_without_an_id_takes_any_key():
    ask = Ask(Kind.CLARIFICATION, "n", {"questions": [{"id": "a", "question": "?"}]})

    value = {"answers": {"q1": "x"}}

    assert outcome(ask, value, habits=Habits(names_questions=False)) is Outcome.ACCEPTED


def test_a_low_confidence_is_ratified_or_rejected():
    ask = Ask(Kind.LOW_CONFIDENCE, "n", {"agentId": "a"})

    assert outcome(ask, {"ratified": True}) is Outcome.ACCEPTED
    assert outcome(ask, {"rejected": True}) is Outcome.REJECTED
    assert outcome(ask, {"action": "reject"}) is Outcome.REJECTED


def test_a_resume_schema_is_enforced():
    ask = Ask(Kind.CONVERSATION, "n", {}, resume_schema={"type": "object", "required": ["content"]})

    check_resume_schema(ask, {"content": "x"})
    with pytest.raises(SchemaViolated, match="resumeSchema"):
        check_resume_schema(ask, {})
