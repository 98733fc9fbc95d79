"""Runs of tasks: order, retries, what is passed on, and what verification changes."""

import json
import math

import pytest

from tests.consensus.building import BOOM, FIVE, accept, agents, dissent, saying
from tests.consensus.dialect import VectorSchema
from tests.consensus.drive import drive
from verification.domain.consensus import failures
from verification.domain.consensus.agents import Agent
from verification.domain.consensus.asks import AskWorker
from verification.domain.consensus.budgets import Budgets
from verification.domain.consensus.failures import Status
from verification.domain.consensus.history import AbortRequested
from verification.domain.consensus.queue import DependencyPayload, EmptyTeam, TaskSpec, TaskStatus
from verification.domain.consensus.replay import Cause
from verification.domain.consensus.result import Basis
from verification.domain.consensus.rules import Panel, Setting, Unaccepted
from verification.domain.consensus.steps import Broken, observed
from verification.domain.consensus.tasks import TaskRules

JSON = VectorSchema({"type": "object", "required": ["n"]})


def spec(title, *before, **more):
    return TaskSpec(title=title, description=f"Do {title}.", depends_on=before, **more)


def judged_by(*names, **more):
    return Panel(judges=agents(*names), **more)


def run(*tasks, team=("worker",), setting=None, **lines):
    members = tuple(each if isinstance(each, Agent) else Agent(each) for each in team)
    asked = TaskRules(team=members, tasks=tasks, setting=setting or Setting())
    step, history = drive(asked, saying(lines))
    return step, observed(asked, history)


def test_a_task_is_shown_what_it_depends_on_and_nothing_else():
    seen = {}

    def answer(ask):
        seen[ask.task] = ask.prompt.user
        return [ask.answered(f"OUT-{ask.task}", FIVE)]

    drive(TaskRules(team=agents("w"), tasks=(spec("a"), spec("b"), spec("c", "a"))), answer)

    assert "OUT-task-1" in seen["task-3"]
    assert "OUT-task-2" not in seen["task-3"]
    assert "OUT-" not in seen["task-2"]


def test_unassigned_tasks_go_round_the_team():
    step, _ = run(spec("a"), spec("b"), spec("c"), team=("x", "y"), x=["1", "3"], y=["2"])

    assert [task.assignee for task in step.result.tasks] == ["x", "y", "x"]


def test_a_worker_is_asked_again_after_a_failure_that_may_pass_and_only_then():
    refused = failures.raised(http_status=401)

    again, _ = run(spec("a", max_retries=2), worker=[BOOM, BOOM, "OUT"])
    never, _ = run(spec("a", max_retries=2), worker=[refused])

    assert again.result.status is Status.OK
    assert never.result.failure == refused


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({"retry_delay_ms": 9_000}, [0, 9_000, 18_000, 30_000]),
        ({"retry_delay_ms": 1, "retry_backoff": 1e308}, [0, 1, 30_000, 30_000]),
        ({"retry_delay_ms": 10**400}, [0, 30_000, 30_000, 30_000]),
        ({"retry_delay_ms": 0, "retry_backoff": math.inf}, [0, 0, 30_000, 30_000]),
    ],
)
def test_waits_between_attempts_grow_and_have_a_limit(numbers, expected):
    waits = []

    def answer(ask):
        waits.append(ask.wait_ms)
        return [ask.failed(BOOM)]

    drive(TaskRules(team=agents("w"), tasks=(spec("a", max_retries=3, **numbers),)), answer)

    assert waits == expected


def test_a_failed_task_is_not_verified_and_takes_its_dependants_with_it():
    step, _ = run(spec("a", verify=judged_by("ja")), spec("b", "a"), worker=[BOOM])

    assert [task.status for task in step.result.tasks] == [TaskStatus.FAILED] * 2
    assert (step.result.status, step.result.failure) == (Status.ERROR, BOOM)


def test_an_accepted_revision_replaces_the_output_and_the_structured_value_for_all_that_follows():
    worker, reader = Agent("worker", output_schema=JSON), Agent("reader")
    tasks = (
        spec("a", assignee="worker", verify=judged_by("ja")),
        spec("b", "a", assignee="reader", payload=DependencyPayload.STRUCTURED),
    )
    lines = {
        "worker": iter(['{"n": 1}', '{"n": 2}']),
        "ja": iter([dissent(), accept()]),
        "reader": iter(["READ"]),
    }
    seen = []

    def answer(ask):
        if ask.agent.name == "reader":
            seen.append(ask.prompt.user)
        return [ask.answered(next(lines[ask.agent.name]), FIVE)]

    step, _ = drive(TaskRules(team=(worker, reader), tasks=tasks), answer)

    first = step.result.tasks[0].outcome
    assert (first.output, first.structured) == ('{"n": 2}', {"n": 2})
    assert '{"n":2}' in seen[0]
    assert '{"n":1}' not in seen[0]


def test_a_rejected_revision_replaces_nothing():
    step, shown = run(
        spec("a", verify=judged_by("ja")),
        worker=["ONE", "TWO"],
        ja=[dissent("x"), dissent("y")],
        setting=Setting(remembers=lambda key: True),
    )

    assert step.result.tasks[0].outcome.output == "ONE"
    assert step.result.has_succeeded
    assert [(write.key, write.value) for write in shown.memory][-2:] == [
        ("worker/task:task-1:verdict", "rejected: ja: x; ja: y"),
        ("worker/task:task-1:result", "ONE"),
    ]


def test_verification_is_paid_by_the_task_and_not_by_the_worker():
    step, _ = run(spec("a", verify=judged_by("ja")), worker=["ONE"], ja=[accept()])
    [task] = step.result.tasks

    assert task.usage == FIVE
    assert task.outcome.usage == step.result.usage == FIVE + FIVE


def test_a_judge_that_fails_fails_the_run_though_the_task_is_accepted():
    step, _ = run(spec("a", verify=judged_by("ja", "jb")), worker=["ONE"], ja=[BOOM], jb=[accept()])

    assert step.result.tasks[0].status is TaskStatus.COMPLETED
    assert step.result.failure == BOOM


def test_a_budget_crossed_by_the_worker_leaves_the_task_unverified():
    setting = Setting(budgets=Budgets(max_tokens=4), remembers=lambda key: True)

    step, shown = run(spec("a", verify=judged_by("ja")), spec("b"), worker=["ONE"], setting=setting)

    assert [task.status.value for task in step.result.tasks] == ["completed", "skipped"]
    assert step.result.status is Status.BUDGET_EXHAUSTED
    assert [write.name for write in shown.memory] == ["task:task-1:result"]


def test_a_budget_crossed_by_a_judge_is_reported_once_under_the_worker():
    setting = Setting(budgets=Budgets(max_tokens=9))

    step, shown = run(
        spec("a", verify=judged_by("ja")), worker=["ONE"], ja=[accept()], setting=setting
    )

    [event] = [each for each in shown.progress if each.type == "budget_exceeded"]
    assert (event.agent, event.crossing.agent) == ("worker", "ja")
    assert step.result.tasks[0].outcome.output == "ONE"


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        (DependencyPayload.STRUCTURED, False),
        (DependencyPayload.BOTH, False),
        (DependencyPayload.OUTPUT, True),
    ],
)
def test_a_task_that_needs_structure_fails_where_there_is_none(payload, shown):
    asked = (spec("a"), spec("b", "a", payload=payload))

    step, _ = run(*asked, worker=["plain", "READ"])

    assert (step.result.tasks[1].status is TaskStatus.COMPLETED) is shown
    if not shown:
        code = "DEPENDENCY_STRUCTURED_RESULT_MISSING"
        assert step.result.tasks[1].outcome.failure.code == code


def test_a_task_is_not_shown_more_than_64_kib_of_another():
    asked = (spec("a"), spec("b", "a", payload=DependencyPayload.STRUCTURED))
    long = json.dumps({"n": "x" * 70_000})

    step, _ = run(*asked, team=(Agent("worker", output_schema=JSON),), worker=[long])

    assert step.result.tasks[1].outcome.failure is failures.DEPENDENCY_TOO_LARGE


def test_a_task_may_be_shown_all_memory():
    seen = []

    def answer(ask):
        seen.append(ask.prompt.user)
        return [ask.answered("OUT", FIVE)]

    tasks = (spec("a"), spec("b", sees_all_memory=True))
    drive(
        TaskRules(team=agents("w"), tasks=tasks, setting=Setting(remembers=lambda key: True)),
        answer,
    )

    assert "task:task-1:result: OUT" in seen[1]


def test_what_other_tasks_produced_is_fenced_where_prompts_are():
    seen = []

    def answer(ask):
        seen.append(ask.prompt.user)
        return [ask.answered("OUT", FIVE)]

    setting = Setting(nonce=lambda position: f"{position:032x}")
    drive(TaskRules(team=agents("w"), tasks=(spec("a"), spec("b", "a")), setting=setting), answer)

    assert f"<<<DATA {1:032x} a (by w)\nOUT\n<<<END" in seen[1]


def test_a_cancelled_run_finishes_nothing_new():
    asked = TaskRules(team=agents("worker"), tasks=(spec("a", verify=judged_by("ja")), spec("b")))

    def answer(ask):
        abort = [AbortRequested()] if isinstance(ask, AskWorker) else []
        return [*abort, ask.answered("ONE", FIVE)]

    step, _ = drive(asked, answer)

    assert [task.status.value for task in step.result.tasks] == ["completed", "skipped"]
    assert step.result.status is Status.CANCELLED


def test_a_price_that_is_none_fails_the_workers_task_and_breaks_a_verification():
    def estimate(purchase):
        return -1.0 if purchase.phase == bad else 1.0

    setting = Setting(budgets=Budgets(max_cost=99, estimate=estimate))
    task = spec("a", verify=judged_by("ja"))
    bad = "worker"
    failed, _ = run(task, worker=["ONE"], setting=setting)
    bad = "consensus"
    broken, shown = run(task, spec("b"), worker=["ONE"], ja=[accept()], setting=setting)

    assert failed.result.tasks[0].outcome.failure is failures.COST_UNKNOWN
    assert broken == Broken(Cause.PRICE_INVALID)
    assert [each.task for each in shown.progress if each.type == "task_skipped"] == [
        "task-1",
        "task-2",
    ]


def test_a_recovery_policy_is_told_of_every_outcome():
    setting = Setting(reports_outcomes=True)
    tasks = (spec("a", verify=judged_by("ja", on_dissent="reject")), spec("b"), spec("c"))

    _, shown = run(*tasks, worker=["1", "2", BOOM], ja=[dissent("no")], setting=setting)

    assert [outcome.kind for outcome in shown.outcomes] == [
        "verification_rejected",
        "success",
        "failure",
    ]
    assert shown.outcomes[0].verification.dissent == ("ja: no",)


def test_a_team_of_nobody_is_refused():
    with pytest.raises(EmptyTeam):
        TaskRules(team=(), tasks=(spec("a"),))


def test_where_only_accepted_results_count_nothing_said_is_rejected_unheard():
    withholds = Setting(unaccepted=Unaccepted.WITHHELD)
    step, _ = run(
        spec("a", verify=judged_by("ja", on_dissent="keep")), setting=withholds, worker=[""], ja=[]
    )

    (task,) = step.result.tasks
    assert task.is_withheld
    assert task.verification.basis is Basis.NO_ANSWER
    assert task.verification.rounds == 0


def test_where_results_stand_judges_hear_an_empty_one_as_in_the_original():
    step, _ = run(spec("a", verify=judged_by("ja")), worker=[""], ja=[accept()])

    assert step.result.tasks[0].verification.basis is Basis.QUORUM
