"""The rules around jobs: what is asked for, what it may cost, how it is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.consensus.failures import CALL_TIMEOUT, CANCELLED, raised
from verification.domain.consensus.prompts import Prompt
from verification.domain.consensus.result import Basis
from verification.domain.jobs.agreed import agreed_quorum, nonces
from verification.domain.jobs.backoff import (
    LONGEST_WAIT,
    may_have_cost,
    may_try_again,
    next_attempt,
)
from verification.domain.jobs.differences import differences
from verification.domain.jobs.grid import Call, Cell, Voted, grid
from verification.domain.jobs.outcome_words import outcome_sentence
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.request import read_request
from verification.domain.jobs.spending import SHORTEST_REPLY, Spent, reserve
from verification.domain.jobs.told import concluded, told_basis, verified
from verification.domain.jobs.words import failure_document, failure_of

from tests.runs.domain.events import NOW  # isort: skip


def request(judges: int = 3, **more):
    panel = [{"name": f"j{n}", "model": "compatible:m"} for n in range(judges)]
    return read_request({"prompt": "Q?", "answer": "A", "judges": panel, **more})


# --- what is asked for ---


@pytest.mark.parametrize(
    ("change", "reason", "pointer"),
    [
        ({"answer": None}, "type", "/answer"),
        ({"prompt": "  "}, "empty", "/prompt"),
        ({"prompt": "x" * 50_001}, "too_long", "/prompt"),
        ({"answer": "x" * 200_001}, "too_long", "/answer"),
        ({"criteria": ["two words"]}, "criterion", "/criteria/0"),
        ({"criteria": ["a", "a"]}, "duplicate", "/criteria/0"),
        ({"verdictSchema": {"type": "nonsense"}}, "schema", "/verdictSchema"),
        ({"judgePrompt": {"j0": "Look."}}, "required", "/judgePrompt"),
        ({"proposer": {"name": "p", "model": "rule:length"}}, "model", "/proposer/0/model"),
        ({"proposer": {"name": "j0", "model": "m"}}, "judge_is_actor", "/judges/0/name"),
        ({"proposer": []}, "range", "/proposer"),
        ({"target": "t"}, "required", "/runId"),
        ({"runId": "r"}, "required", "/target"),
        ({"apiKey": "sk-1"}, "inline_secret", "/apiKey"),
        ({"headers": {}}, "inline_address", "/headers"),
        ({"maxTokenBudget": 0}, "range", "/maxTokenBudget"),
        ({"maxTokenBudget": True}, "type", "/maxTokenBudget"),
    ],
)
def test_a_request_is_refused_with_the_place_of_its_fault(change, reason, pointer):
    with pytest.raises(JobRefused) as refused:
        request(**change)

    assert (refused.value.reason, refused.value.pointer) == (reason, pointer)


@pytest.mark.parametrize(("judges", "quorum"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_by_default_half_of_the_judges_decide(judges, quorum):
    assert agreed_quorum(request(judges), is_gating=False) == quorum


@pytest.mark.parametrize(("judges", "quorum"), [(2, 2), (3, 2), (4, 3), (5, 3)])
def test_a_gate_takes_more_than_half_of_two_judges_at_least(judges, quorum):
    assert agreed_quorum(request(judges), is_gating=True) == quorum


@pytest.mark.parametrize(
    ("judges", "more", "reason"),
    [
        (1, {}, "panel_too_small"),
        (3, {"quorum": 1}, "quorum_below_majority"),
        (3, {"onDissent": "keep"}, "keep_forbidden_on_gating"),
    ],
)
def test_a_gate_does_not_rest_on_less(judges, more, reason):
    with pytest.raises(JobRefused) as refused:
        agreed_quorum(request(judges, **more), is_gating=True)

    assert refused.value.reason == reason


def test_a_call_keeps_its_nonce_and_shares_it_with_no_other():
    nonce = nonces(b"secret")

    assert nonce(3) == nonces(b"secret")(3)
    assert len({nonce(n) for n in range(50)} | {nonces(b"other")(3)}) == 51


# --- what it may cost ---


@given(
    budget=st.integers(1, 20_000),
    longest=st.integers(SHORTEST_REPLY, 4000),
    words=st.text(max_size=2000),
    used=st.lists(st.integers(0, 5000), max_size=5),
)
def test_what_is_set_aside_never_exceeds_what_is_left(budget, longest, words, used):
    spent = [Spent(each) for each in used]
    reservation = reserve(Prompt(words), budget=budget, spent=spent, longest_reply=longest)

    if reservation is not None:
        assert reservation.tokens + sum(used) <= budget
        assert SHORTEST_REPLY <= reservation.reply_tokens <= longest


def test_lost_and_reserved_tokens_are_gone_as_well():
    assert Spent(used=10, lost=20, reserved=30).total == 60
    left = reserve(Prompt("x"), budget=1000, spent=[Spent(0, 900)], longest_reply=100)
    assert left is None


def test_without_a_budget_the_longest_reply_is_asked_for():
    reservation = reserve(Prompt("x"), budget=None, spent=[Spent(10**9)], longest_reply=100)
    assert reservation is not None
    assert reservation.reply_tokens == 100


# --- when to ask again ---


@pytest.mark.parametrize(
    "failure", [raised(http_status=429), raised(http_status=500), CALL_TIMEOUT]
)
def test_a_failure_that_may_pass_is_tried_again_so_often_and_no_more(failure):
    assert may_try_again(failure, 1, 3)
    assert not may_try_again(failure, 3, 3)


@pytest.mark.parametrize("failure", [raised(http_status=401), CANCELLED])
def test_a_failure_that_stays_is_not_tried_again(failure):
    assert not may_try_again(failure, 1, 3)


def test_only_calls_that_may_have_been_answered_may_have_cost():
    assert [may_have_cost(each) for each in (CALL_TIMEOUT, CANCELLED, raised(http_status=429))] == [
        True,
        True,
        False,
    ]


@given(
    st.integers(1, 12), st.floats(0, 1), st.one_of(st.none(), st.floats(0, 10_000)),
)  # fmt: skip
def test_the_next_attempt_waits_at_least_as_asked_and_never_for_long(failed, chance, asked):
    wait = next_attempt(failed, NOW, asked_s=asked, chance=chance) - NOW

    assert wait <= LONGEST_WAIT
    assert wait.total_seconds() >= min(asked or 0.5, LONGEST_WAIT.total_seconds()) - 1e-5


# --- how it is shown ---

JUDGES = ("a", "b", "c")


def cells(votes=(), calls=(), basis="", *, over=False):
    return [row.cells for row in grid(JUDGES, votes, calls, basis=basis, has_ended=over)]


def test_before_anybody_is_asked_the_first_round_waits():
    assert cells() == [(Cell.PENDING,) * 3]


def test_each_judge_stands_where_the_ledger_has_them():
    votes = [Voted(1, "a", True, False), Voted(1, "b", False, True)]
    assert cells(votes, [Call(1, "c", False, False)]) == [(Cell.ACCEPT, Cell.ERROR, Cell.ASKING)]
    assert cells(votes, [Call(1, "c", False, True)]) == [(Cell.ACCEPT, Cell.ERROR, Cell.RETRYING)]


@pytest.mark.parametrize(
    ("basis", "cell"),
    [
        ("quorum", Cell.NOT_ASKED_QUORUM),
        ("budget", Cell.NOT_ASKED_BUDGET),
        ("aborted", Cell.NOT_ASKED_STOPPED),
        ("", Cell.NOT_ASKED_STOPPED),
    ],
)
def test_who_was_not_asked_says_why(basis, cell):
    votes = [Voted(1, "a", True, False)]
    assert cells(votes, basis=basis, over=True) == [(Cell.ACCEPT, cell, cell)]


def test_an_answer_that_came_after_the_stop_is_shown_as_void():
    shown = cells([], [Call(1, "a", True, False)], "budget", over=True)
    assert shown == [(Cell.VOID, Cell.NOT_ASKED_BUDGET, Cell.NOT_ASKED_BUDGET)]


@given(st.text(max_size=300), st.text(max_size=300))
def test_differences_lead_from_the_one_text_to_the_other(before, after):
    pieces = differences(before, after)

    assert "".join(p.text for p in pieces if p.kind != "added") == before
    assert "".join(p.text for p in pieces if p.kind != "removed") == after


@pytest.mark.parametrize("basis", list(Basis))
def test_every_basis_has_its_sentence(basis):
    assert outcome_sentence(basis, accepts=1, judges=3, quorum=2).endswith(".")


def test_a_judge_who_was_not_asked_any_more_is_told_from_one_who_dissented():
    said = outcome_sentence("quorum", accepts=2, judges=3, quorum=2, unasked=1)

    assert said == "2 of 3 judges accepted the answer; 2 were needed, so 1 was not asked."


def test_only_a_pass_meets_the_goal():
    met = {
        word: concluded(word)["decision"]["successCriteria"][0]["met"]
        for word in ("pass", "revise", "fail")
    }
    assert met == {"pass": True, "revise": False, "fail": False}


def test_a_verdict_told_holds_the_closed_members_only():
    assert set(verified("t", "fail", ["facts"])) == {"agentId", "target", "verdict", "criteria"}


def test_a_stop_for_the_budget_is_told_as_the_budget():
    assert told_basis(Basis.ABORTED, "budget") is Basis.BUDGET
    assert told_basis(Basis.ABORTED, "cancelled") is Basis.ABORTED


@pytest.mark.parametrize("failure", [CALL_TIMEOUT, CANCELLED, raised("X", 503)])
def test_a_failure_is_read_back_as_it_was_written(failure):
    assert failure_of(failure_document(failure)) == failure
