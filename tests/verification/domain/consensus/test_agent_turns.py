"""One turn of one agent: what is charged, repaired, and counted as failed."""

import pytest

from tests.consensus.building import BOOM, FIVE, saying
from tests.consensus.dialect import VectorSchema
from tests.consensus.drive import drive
from verification.domain.consensus.agents import Agent
from verification.domain.consensus.failures import (
    OUTPUT_INVALID,
    TOKEN_BUDGET_EXCEEDED,
    Status,
)
from verification.domain.consensus.history import Usage
from verification.domain.consensus.queue import TaskSpec
from verification.domain.consensus.steps import observed
from verification.domain.consensus.tasks import TaskRules

FORM = VectorSchema({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]})


def turn(*said, **limits):
    """Let a worker take one turn and return its outcome and what was observed."""
    worker = Agent("worker", **limits)
    asked = TaskRules(team=(worker,), tasks=(TaskSpec(title="a", description="Do a."),))
    step, history = drive(asked, saying({"worker": list(said)}))
    return step.result.tasks[0].outcome, observed(asked, history), history


def test_a_reply_of_the_right_form_is_understood():
    outcome, _, _ = turn('Here: {"n": 1, "extra": 2}', output_schema=FORM)

    assert (outcome.structured, outcome.status) == ({"n": 1}, Status.OK)


def test_a_reply_of_the_wrong_form_is_repaired_once_and_both_are_charged():
    outcome, shown, _ = turn("hm", '{"n": 1}', output_schema=FORM)

    assert (outcome.output, outcome.usage) == ('{"n": 1}', FIVE + FIVE)
    assert shown.spans[2].attributes["oma.agent.turns"] == 2


def test_a_second_reply_of_the_wrong_form_is_a_failure():
    outcome, _, history = turn("hm", "hm", output_schema=FORM)

    assert outcome.failure is OUTPUT_INVALID
    assert len(history) == 2


def test_a_repair_whose_call_fails_fails_as_the_call_did():
    outcome, _, _ = turn("hm", BOOM, output_schema=FORM)

    assert (outcome.failure, outcome.usage) == (BOOM, Usage())


@pytest.mark.parametrize(("limit", "failure"), [(5, None), (4, TOKEN_BUDGET_EXCEEDED)])
def test_an_agent_may_use_exactly_what_it_is_given(limit, failure):
    outcome, _, _ = turn("OUT", max_tokens=limit)

    assert (outcome.failure, outcome.output, outcome.usage) == (failure, "OUT", FIVE)


def test_an_agent_over_its_limit_is_not_asked_for_a_repair():
    outcome, _, history = turn("hm", output_schema=FORM, max_tokens=1)

    assert outcome.failure is TOKEN_BUDGET_EXCEEDED
    assert len(history) == 1
