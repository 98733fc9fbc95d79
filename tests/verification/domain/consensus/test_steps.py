"""A job can be killed anywhere: what it does next depends on its rules and its history alone."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.consensus.building import BOOM, FIVE, accept, dissent, rules, saying
from tests.consensus.drive import drive
from tests.consensus.fixtures import vectors
from tests.consensus.translation import history_of, rules_of, world_of
from verification.domain.consensus.asks import AskJudge, AskProposer
from verification.domain.consensus.budgets import CostCapWithoutEstimator
from verification.domain.consensus.failures import Status
from verification.domain.consensus.history import AbortRequested, HistoryMismatch, Phase, Reply
from verification.domain.consensus.replay import Cause
from verification.domain.consensus.result import Basis, GateVerdict, Result
from verification.domain.consensus.rules import InvalidConsensus, Setting
from verification.domain.consensus.steps import Broken, Done, next_step, observed


def driven(vector):
    try:
        asked = rules_of(vector)
    except (InvalidConsensus, CostCapWithoutEstimator):
        return None
    world = world_of(vector)
    return asked, world, *drive(asked, world.answer, history_of(vector))


def is_mid_call(history, cut):
    """True between a cancellation and the reply in flight; cut there, that reply is lost."""
    return 0 < cut < len(history) and isinstance(history[cut - 1], AbortRequested)


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["name"])
def test_a_job_resumed_at_any_point_ends_as_if_it_had_never_stopped(vector):
    whole = driven(vector)
    if whole is None:
        assert "throws" in vector["expected"]
        return
    asked, _, end, history = whole

    for cut in range(len(history_of(vector)), len(history) + 1):
        kept = history[:cut]
        if is_mid_call(history, cut):
            continue
        world = world_of(vector)
        world.taken.update(entry.agent for entry in kept if isinstance(entry, Reply))
        resumed, same_history = drive(asked, world.answer, kept)

        assert resumed == end
        assert same_history == history


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["name"])
def test_what_was_observed_is_never_taken_back(vector):
    whole = driven(vector)
    if whole is None:
        return
    asked, _, _, history = whole

    cuts = [cut for cut in range(len(history) + 1) if not is_mid_call(history, cut)]
    shown = [observed(asked, history[:cut]) for cut in cuts]

    for earlier, later in itertools.pairwise(shown):
        assert later.trace[: len(earlier.trace)] == earlier.trace
        assert later.memory[: len(earlier.memory)] == earlier.memory
        assert later.progress[: len(earlier.progress)] == earlier.progress
        assert [span.name for span in later.spans][: len(earlier.spans)] == [
            span.name for span in earlier.spans
        ]
    assert all(span.has_ended for span in shown[-1].spans)


def test_the_first_step_asks_the_first_proposer():
    step = next_step(rules("ja", proposers=("pa", "pb")), [])

    assert isinstance(step, AskProposer)
    assert (step.agent.name, step.phase, step.position) == ("pa", Phase.PROPOSER, 0)


def test_positions_count_calls_from_zero():
    _, history = drive(rules("ja"), saying({"solver": ["A1", "A2"], "ja": [dissent(), accept()]}))

    assert [entry.position for entry in history] == [0, 1, 2, 3]


def test_a_history_of_other_rules_is_refused():
    foreign = Reply(0, "somebody", Phase.PROPOSER, "A1")

    with pytest.raises(HistoryMismatch):
        next_step(rules("ja"), [foreign])


def test_a_reply_that_was_never_asked_for_is_refused():
    _, history = drive(rules("ja"), saying({"solver": ["A1"], "ja": [accept()]}))
    extra = Reply(2, "ja", Phase.JUDGE, accept())

    with pytest.raises(HistoryMismatch):
        next_step(rules("ja"), [*history, extra])


def test_cancelling_after_the_end_changes_nothing():
    end, history = drive(rules("ja"), saying({"solver": ["A1"], "ja": [accept()]}))

    assert next_step(rules("ja"), [*history, AbortRequested()]) == end


def test_a_vote_cast_before_the_cancellation_counts_and_nothing_is_asked_after_it():
    asked = rules("ja", "jb", quorum=2)
    proposal = next_step(asked, []).answered("A1", FIVE)
    first = next_step(asked, [proposal]).answered(accept(), FIVE)

    end = next_step(asked, [proposal, first, AbortRequested()])

    assert isinstance(end, Done)
    assert isinstance(end.result, Result)
    assert end.result.basis is Basis.ABORTED
    assert [vote.judge for vote in end.result.votes] == ["ja"]


def test_after_a_cancellation_not_even_an_unmade_call_is_shown():
    asked = rules("ja", "jb", quorum=2)
    proposal = next_step(asked, []).answered("A1", FIVE)
    vote = next_step(asked, [proposal]).answered(dissent(), FIVE)

    shown = observed(asked, [proposal, vote, AbortRequested()])

    assert [span.attributes["oma.agent.name"] for span in shown.spans[2:]] == ["solver", "ja"]


def test_a_revision_that_arrives_after_the_cancellation_replaces_nothing():
    asked = rules("ja")
    history = [next_step(asked, []).answered("A1", FIVE)]
    history.append(next_step(asked, history).answered(dissent(), FIVE))
    late = next_step(asked, history).answered("A2", FIVE)

    end = next_step(asked, [*history, AbortRequested(), late])

    assert (end.result.answer, end.result.basis) == ("A1", Basis.ABORTED)


def test_a_call_that_fails_because_of_the_cancellation_was_cancelled():
    asked = rules("ja")
    proposal = next_step(asked, []).answered("A1", FIVE)
    late = next_step(asked, [proposal]).failed(BOOM)

    shown = observed(asked, [proposal, AbortRequested(), late])

    assert shown.spans[-1].status is Status.CANCELLED


def test_a_vote_that_arrives_after_the_cancellation_is_paid_for_and_does_not_count():
    asked = rules("ja")
    proposal = next_step(asked, []).answered("A1", FIVE)
    late = next_step(asked, [proposal]).answered(accept(), FIVE)

    end = next_step(asked, [proposal, AbortRequested(), late])

    assert isinstance(end, Done)
    assert isinstance(end.result, Result)
    assert end.result.gate_verdict is GateVerdict.FAIL
    assert end.result.votes == ()
    assert end.result.usage == FIVE + FIVE


def test_a_job_that_is_cancelled_while_a_call_is_in_flight_waits_for_nothing():
    asked = rules("ja")
    proposal = next_step(asked, []).answered("A1", FIVE)

    end = next_step(asked, [proposal, AbortRequested()])

    assert isinstance(end, Done)
    assert isinstance(end.result, Result)
    assert end.result.answer == "A1"
    assert end.result.basis is Basis.ABORTED


def test_a_run_that_breaks_says_why_and_closes_its_spans():
    asked = rules("ja", setting=Setting(remembers=lambda key: False))
    proposal = next_step(asked, []).answered("A1", FIVE)
    vote = next_step(asked, [proposal]).answered(dissent(), FIVE)

    end = next_step(asked, [proposal, vote])

    statuses = [span.status for span in observed(asked, [proposal, vote]).spans]

    assert end == Broken(Cause.MEMORY_REFUSED)
    assert statuses == [Status.ERROR, Status.ERROR, Status.OK, Status.OK]


def test_asking_for_the_next_step_twice_gives_the_same_step():
    asked = rules("ja", "jb", mode="lens")
    proposal = next_step(asked, []).answered("A1", FIVE)

    assert next_step(asked, [proposal]) == next_step(asked, [proposal])


@given(st.lists(st.sampled_from([accept(), dissent(), "hm", ""]), min_size=24, max_size=24))
def test_no_judge_is_asked_twice_about_one_answer(said):
    asked = rules("ja", "jb", "jc", quorum=2, max_rounds=3)
    heard = []
    lines = iter(said)

    def answer(ask):
        if isinstance(ask, AskJudge):
            heard.append((ask.agent.name, ask.round))
        text = next(lines) if isinstance(ask, AskJudge) else f"A{ask.position}"
        return [ask.answered(text, FIVE)]

    drive(asked, answer)

    assert len(heard) == len(set(heard)) <= 9
