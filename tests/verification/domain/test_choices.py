"""Which decisions an escalation offers, and what each asks to be filled in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.choices import (
    Need,
    TextRequired,
    Tone,
    check_chosen,
    choices,
    every_action,
)
from verification.domain.decisions import (
    LEAVES_OPEN,
    LETS_THROUGH,
    Action,
    Decision,
    Refinement,
    UnreadableDecision,
)
from verification.domain.fields import FieldKind
from verification.domain.interrupt_request import InterruptKind, InterruptRequest, Question
from verification.domain.resume import NotOffered

GATE = [Action.UPHOLD, Action.SEND_BACK, Action.OVERRIDE]
LAST = [Action.CANNOT_DECIDE]


def interrupt(kind, **more):
    return InterruptRequest(InterruptKind(kind), "gate", **more)


def actions(reasons, gate_state=None, request=None):
    return [choice.action for choice in choices(set(reasons), gate_state, request)]


def choice_of(action, reasons, gate_state=None, request=None):
    return next(c for c in choices(set(reasons), gate_state, request) if c.action is action)


ACCEPT_REJECT = interrupt("approval", actions=("accept", "reject"))
FULL = interrupt("approval", actions=("accept", "reject", "refine", "edit-accept", "ask"))
ASKED = interrupt("clarification", questions=(Question("q1", "Colour?"),))


@pytest.mark.parametrize(
    ("reasons", "gate_state", "request_", "expected"),
    [
        (["fail"], "blocked", None, GATE),
        (["revise_limit"], "revise_asked", None, GATE),
        (["consensus_rejected"], "blocked", None, GATE),
        (["fail"], "in_review", None, GATE),
        (["low_confidence"], "no_verdict", None, GATE),
        (["low_confidence"], None, None, GATE),
        (["violation"], "blocked", None, [Action.UPHOLD, Action.OVERRIDE]),
        (["held"], "unknown", None, [Action.UPHOLD, Action.RELEASE_HOLD]),
        (["held"], None, None, [Action.UPHOLD, Action.RELEASE_HOLD]),
        (["fail"], "unknown", None, [Action.UPHOLD, Action.RELEASE_HOLD]),
        (["audit_sample"], "passed", None, [Action.CONFIRM, Action.DISPUTE]),
        (["fail"], "superseded", None, []),
        (["fail"], "overridden", None, []),
        (["ask_user"], None, None, [Action.ANSWER]),
        (["fail", "ask_user"], "blocked", None, [*GATE, Action.ANSWER]),
        (["interrupt"], None, ACCEPT_REJECT, [Action.ACCEPT, Action.REJECT]),
        (
            ["interrupt"],
            None,
            FULL,
            [Action.ACCEPT, Action.REJECT, Action.REFINE, Action.EDIT_ACCEPT, Action.ASK],
        ),
        (["fail", "interrupt"], "blocked", ACCEPT_REJECT, [Action.UPHOLD, Action.OVERRIDE]),
        (["fail", "interrupt"], "blocked", FULL, [*GATE, Action.EDIT_ACCEPT, Action.ASK]),
        (["interrupt", "ask_user"], None, ASKED, [Action.ANSWER]),
        (["fail", "ask_user", "interrupt"], "blocked", ASKED, GATE),
        (["interrupt"], None, interrupt("external-event"), [Action.REPORT_EVENT]),
        (
            ["low_confidence", "interrupt"],
            None,
            interrupt("low-confidence"),
            [Action.RATIFY, Action.REJECT, Action.REPLACE],
        ),
        (
            ["low_confidence"],
            "no_verdict",
            interrupt("low-confidence"),
            [Action.RATIFY, Action.REJECT, Action.REPLACE],
        ),
        (
            ["interrupt"],
            None,
            interrupt("conversation"),
            [Action.REPLY, Action.CLOSE_CONVERSATION],
        ),
        (["interrupt"], None, interrupt("credential"), [Action.AUTHORIZED, Action.DECLINED]),
        (["interrupt"], None, interrupt("custom"), [Action.ANSWER]),
        (["interrupt"], None, interrupt("approval", actions=("approve-all",)), []),
    ],
)
def test_each_matter_offers_its_decisions(reasons, gate_state, request_, expected):
    assert actions(reasons, gate_state, request_) == expected + LAST


def test_every_action_can_be_drawn():
    assert every_action() == set(Action)


@given(
    st.frozensets(
        st.sampled_from(
            ["fail", "low_confidence", "ask_user", "interrupt", "revise_limit", "violation",
             "consensus_rejected", "held", "audit_sample"]
        ),
        min_size=1,
    ),
    st.sampled_from(
        [None, "no_verdict", "passed", "revise_asked", "blocked", "in_review", "overridden",
         "upheld", "superseded", "unknown"]
    ),
    st.one_of(
        st.none(),
        st.builds(
            interrupt,
            st.sampled_from(list(InterruptKind)),
            actions=st.lists(
                st.sampled_from(["accept", "reject", "refine", "edit-accept", "ask", "odd"])
            ).map(tuple),
        ),
    ),
)  # fmt: skip
def test_whatever_the_matter_a_person_can_always_say_they_cannot_decide(reasons, state, request_):
    offered = choices(reasons, state, request_)
    names = [choice.action for choice in offered]

    assert len(set(names)) == len(names)
    assert names[-1] is Action.CANNOT_DECIDE
    for choice in offered:
        assert choice.leaves_open == (choice.action in LEAVES_OPEN)
        if choice.action in {Action.OVERRIDE, Action.RELEASE_HOLD}:
            assert choice.reason is Need.REQUIRED
            assert choice.is_deliberate
    if state == "unknown":
        assert Action.OVERRIDE not in names


def test_what_lets_a_failed_result_through_is_never_one_tap():
    for action in (Action.OVERRIDE,):
        choice = choice_of(action, ["fail"], "blocked")
        assert (choice.is_deliberate, choice.reason, choice.tone) == (
            True, Need.REQUIRED, Tone.DANGER,
        )  # fmt: skip
    assert Action.OVERRIDE in LETS_THROUGH


def test_a_choice_says_whether_the_host_is_told():
    assert not choice_of(Action.UPHOLD, ["fail"], "blocked").goes_to_host
    assert choice_of(Action.UPHOLD, ["fail"], "blocked", ACCEPT_REJECT).goes_to_host
    assert choice_of(Action.REPLY, ["interrupt"], None, interrupt("conversation")).goes_to_host
    assert not choice_of(Action.CANNOT_DECIDE, ["fail"], "blocked", ACCEPT_REJECT).goes_to_host
    assert choice_of(Action.UPHOLD, ["held"], "unknown", ACCEPT_REJECT).goes_to_host
    assert not choice_of(Action.RELEASE_HOLD, ["held"], "unknown", ACCEPT_REJECT).goes_to_host


def test_a_gate_decision_at_a_question_carries_the_answers():
    choice = choice_of(Action.OVERRIDE, ["fail"], "blocked", ASKED)

    assert [(field.label, field.pointer) for field in choice.fields] == [("Colour?", "/q1")]
    assert choice.goes_to_host


def test_words_fit_the_matter():
    assert choice_of(Action.UPHOLD, ["violation"], "blocked").label == "Confirm the violation"
    assert choice_of(Action.OVERRIDE, ["low_confidence"]).label == "Accept the result"
    assert choice_of(Action.UPHOLD, ["held"], "unknown").label == "Keep held"
    assert choice_of(Action.CONFIRM, ["audit_sample"], "passed").label == "The pass was right"


@pytest.mark.parametrize(
    ("request_", "labels"),
    [
        (interrupt("clarification"), ["Answer"]),
        (interrupt("clarification", prompt="Which?"), ["Which?"]),
        (
            interrupt("clarification", resume_schema={"properties": {"age": {"type": "integer"}}}),
            ["Age"],
        ),
        (interrupt("conversation.exchange"), ["Answer"]),
        (interrupt("custom", resume_schema={"properties": {"a": {}, "b": {}}}), ["A", "B"]),
    ],
)
def test_an_answer_asks_what_the_host_asks(request_, labels):
    choice = choice_of(Action.ANSWER, ["interrupt"], None, request_)

    assert [field.label for field in choice.fields] == labels


def test_an_event_shows_only_what_is_not_known_already():
    schema = {"properties": {"orderId": {"type": "string"}, "paid": {"type": "boolean"}}}
    request_ = interrupt("external-event", correlation={"orderId": "A1"}, resume_schema=schema)

    fields = choice_of(Action.REPORT_EVENT, ["interrupt"], None, request_).fields
    assert [field.name for field in fields] == ["answer.paid"]
    (plain,) = choice_of(
        Action.REPORT_EVENT, ["interrupt"], None, interrupt("external-event")
    ).fields
    assert (plain.kind, plain.is_required) == (FieldKind.JSON, False)


def test_an_artifact_can_be_edited():
    request_ = interrupt("approval", actions=("edit-accept",), artifact={"text": "x"})

    (field,) = choice_of(Action.EDIT_ACCEPT, ["interrupt"], None, request_).fields
    assert (field.kind, field.initial, field.pointer) == (
        FieldKind.JSON, {"text": "x"}, "/editedArtifactData",
    )  # fmt: skip


def test_a_credential_asks_for_no_field():
    request_ = interrupt("credential", resume_schema={"properties": {"token": {}}})

    for choice in choices({"interrupt"}, None, request_):
        assert choice.fields == ()


OFFERED = choices({"fail", "interrupt"}, "blocked", FULL)


def test_a_decision_is_checked_against_what_is_offered():
    assert check_chosen(OFFERED, Decision(Action.UPHOLD)).action is Action.UPHOLD
    with pytest.raises(NotOffered) as caught:
        check_chosen(OFFERED, Decision(Action.RATIFY))
    assert Action.UPHOLD in caught.value.offered


@pytest.mark.parametrize(
    ("decision", "which"),
    [
        (Decision(Action.OVERRIDE), "reason"),
        (Decision(Action.SEND_BACK), "feedback"),
        (Decision(Action.CANNOT_DECIDE), "reason"),
        (Decision(Action.ASK), "feedback"),
    ],
)
def test_a_missing_text_is_asked_for(decision, which):
    with pytest.raises(TextRequired) as caught:
        check_chosen(OFFERED, decision)

    assert caught.value.which == which


def test_a_structured_refinement_is_feedback_too():
    decision = Decision(Action.REFINE, refinement=Refinement(text="shorter"))

    assert check_chosen(choices({"interrupt"}, None, FULL), decision).action is Action.REFINE


def test_a_missing_answer_is_asked_for():
    offered = choices({"interrupt"}, None, ASKED)

    with pytest.raises(UnreadableDecision) as caught:
        check_chosen(offered, Decision(Action.ANSWER))
    assert (caught.value.pointer, caught.value.reason) == ("/answers/q1", "required")
    assert check_chosen(offered, Decision(Action.ANSWER, answers={"q1": "blue"}))


def test_an_answer_nobody_asked_for_is_refused():
    with pytest.raises(UnreadableDecision):
        check_chosen(OFFERED, Decision(Action.UPHOLD, answers={"x": 1}))
