"""Coordinators: plans that are repaired once, run whole, and summed up while there is money."""

import json

import pytest

from tests.consensus.building import BOOM, FIVE, accept, agents, saying
from tests.consensus.drive import drive
from verification.domain.consensus import prompts
from verification.domain.consensus.budgets import Budgets
from verification.domain.consensus.failures import PLAN_INVALID, Status
from verification.domain.consensus.history import AbortRequested, Phase
from verification.domain.consensus.queue import EmptyTeam, TaskStatus
from verification.domain.consensus.rules import DuplicateJudge, Setting
from verification.domain.consensus.steps import observed
from verification.domain.consensus.team import TeamRules


def plan(**more):
    return json.dumps([{"title": "A", "description": "Do A.", "assignee": "worker", **more}])


def run(lines, **more):
    asked = TeamRules(goal="Reach it.", team=agents("worker"), **more)
    step, history = drive(asked, saying(lines))
    return step.result, observed(asked, history)


def test_a_plan_is_run_and_summed_up():
    result, _ = run({"coordinator": [plan(), "FINAL"], "worker": ["OUT"]})

    assert result.has_succeeded
    assert result.agents["coordinator"].output.endswith("FINAL")


def test_a_plan_that_is_invalid_twice_runs_nothing():
    result, shown = run({"coordinator": [plan(verify=7), "no plan"], "worker": []})

    assert (result.failure, result.tasks) == (PLAN_INVALID, ())
    assert [each.code for each in shown.progress if each.code] == ["COORDINATOR_PLAN_INVALID"]
    assert result.usage == FIVE + FIVE


def test_a_repaired_plan_is_run():
    result, _ = run({"coordinator": ["no plan", plan(), "FINAL"], "worker": ["OUT"]})

    assert result.has_succeeded


@pytest.mark.parametrize(
    "wish", [{"maxRetries": 10**9}, {"retryDelayMs": 10**9}, {"verify": {"maxRounds": 10**9}}]
)
def test_a_plan_that_asks_for_more_than_a_request_may_is_repaired_once_and_never_run(wish):
    refused, shown = run({"coordinator": [plan(**wish), plan(**wish)], "worker": []})
    repaired, _ = run({"coordinator": [plan(**wish), plan(), "FINAL"], "worker": ["OUT"]})

    assert (refused.failure, refused.tasks) == (PLAN_INVALID, ())
    assert [each.code for each in shown.progress if each.code] == ["COORDINATOR_PLAN_INVALID"]
    assert repaired.has_succeeded


def test_a_coordinator_that_fails_keeps_its_own_failure():
    result, shown = run({"coordinator": [BOOM]})

    assert result.failure == BOOM
    assert [each.code for each in shown.progress if each.code] == [
        "COORDINATOR_DECOMPOSITION_FAILED"
    ]


def test_only_the_callers_judges_verify_what_the_plan_marks():
    lines = {"coordinator": [plan(verify=True), "FINAL"], "worker": ["OUT"]}

    verified, _ = run({**lines, "ja": [accept()]}, verify_judges=agents("ja"))
    unverified, _ = run(lines)

    assert verified.tasks[0].verify.judges == agents("ja")
    assert unverified.tasks[0].verify is None


@pytest.mark.parametrize(("judges", "is_told"), [((), False), (agents("ja"), True)])
def test_a_coordinator_is_told_of_verification_only_where_there_are_judges(judges, is_told):
    seen = []

    def answer(ask):
        seen.append(ask.prompt.system)
        return [ask.answered(plan(), FIVE)]

    asked = TeamRules(
        goal="Reach it.", team=agents("worker"), verify_judges=judges, is_plan_only=True
    )
    drive(asked, answer)

    assert (prompts.VERIFY_FIELD in seen[0]) is is_told


def test_a_plan_can_be_had_without_running_it():
    result, _ = run({"coordinator": [plan(assignee="worker")]}, is_plan_only=True)

    assert result.is_plan_only
    assert result.has_succeeded
    assert [task.status for task in result.tasks] == [TaskStatus.PENDING]


def test_there_is_no_final_answer_without_money_for_it():
    setting = Setting(budgets=Budgets(max_tokens=2 * FIVE.total - 1))

    result, _ = run({"coordinator": [plan()], "worker": ["OUT"]}, setting=setting)

    assert result.status is Status.BUDGET_EXHAUSTED
    assert result.tasks[0].status is TaskStatus.COMPLETED


def test_a_final_answer_over_the_budget_is_shown_as_failed():
    setting = Setting(budgets=Budgets(max_tokens=3 * FIVE.total - 1))

    result, shown = run({"coordinator": [plan(), "FINAL"], "worker": ["OUT"]}, setting=setting)

    assert result.status is Status.BUDGET_EXHAUSTED
    assert shown.progress[-1].outcome.output == "FINAL"
    assert not shown.progress[-1].outcome.has_succeeded


def test_what_stopped_a_run_is_not_renamed_by_a_costly_final_answer():
    setting = Setting(budgets=Budgets(max_tokens=3 * FIVE.total - 1))
    wish = plan(verify={"onDissent": "reject"})
    lines = {"coordinator": [wish, "FINAL"], "worker": ["OUT"], "ja": [BOOM]}

    result, _ = run(lines, verify_judges=agents("ja"), setting=setting)

    assert result.failure == BOOM


def test_a_cancelled_team_run_is_cancelled_and_not_badly_planned():
    asked = TeamRules(goal="Reach it.", team=agents("worker"))

    step, _ = drive(asked, saying({}), [AbortRequested()])

    assert step.result.status is Status.CANCELLED


def test_a_failed_task_is_named_in_the_request_for_the_final_answer():
    seen = []

    def answer(ask):
        if ask.phase is Phase.WORKER:
            return [ask.failed(BOOM, "it broke")]
        seen.append(ask.prompt.user)
        return [ask.answered(plan() if ask.phase is Phase.DECOMPOSITION else "FINAL", FIVE)]

    drive(TeamRules(goal="Reach it.", team=agents("worker")), answer)

    assert "A (failed)" in seen[1]


def test_a_team_needs_members_and_judges_with_names_of_their_own():
    with pytest.raises(EmptyTeam):
        TeamRules(goal="Reach it.", team=())
    with pytest.raises(DuplicateJudge):
        TeamRules(goal="Reach it.", team=agents("worker"), verify_judges=agents("ja", "ja"))
