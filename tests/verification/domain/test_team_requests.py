"""What a request for tasks or a team may hold, and where a fault in it is said to be."""

from decimal import Decimal

import pytest

from tests.verification.jobs.building import NO_SHOUTING, tasks_document, team_document
from verification.domain.consensus.rules import Unaccepted
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.requests import read_any

TASK = {"title": "Find", "description": "Find it.", "assignee": "ada"}
ADA = tasks_document()["team"][0]


def refusal(document) -> tuple[str, str]:
    with pytest.raises(JobRefused) as refused:
        read_any(document)
    return refused.value.reason, refused.value.pointer


def of_task(**more) -> dict:
    return {"tasks": [TASK | more]}


@pytest.mark.parametrize(
    ("change", "reason", "pointer"),
    [
        ({"tasks": None}, "range", "/tasks"),
        ({"tasks": []}, "range", "/tasks"),
        ({"tasks": [TASK] * 101}, "range", "/tasks"),
        ({"team": []}, "range", "/team"),
        ({"team": [ADA, ADA]}, "duplicate", "/team/1/name"),
        ({"team": [ADA | {"apiKey": "x"}]}, "inline_secret", "/team/0/apiKey"),
        ({"team": [{"name": "ada", "model": "rule:length"}]}, "model", "/team/0/model"),
        (
            {"team": [{"name": "ada", "model": "x:y", "settings": {}}]},
            "unexpected_key",
            "/team/0/settings",
        ),
        (
            {"team": [{"name": "ada", "model": "given"}]},
            "type",
            "/team/0/settings",
        ),
        ({"goal": "Do it."}, "unexpected_key", ""),
        ({"verifyJudges": [NO_SHOUTING]}, "unexpected_key", ""),
        ({"runId": "r-1"}, "unexpected_key", ""),
        ({"judges": [NO_SHOUTING | {"name": "ada"}]}, "judge_is_actor", "/judges/0/name"),
        ({"judges": [NO_SHOUTING, NO_SHOUTING]}, "duplicate_judge", "/judges/1/name"),
        (of_task(title=" "), "empty", "/tasks/0/title"),
        (of_task(assignee="eve"), "enum", "/tasks/0/assignee"),
        (of_task(dependsOn=["Look"]), "unknown_task", "/tasks/0/dependsOn/0"),
        (of_task(dependsOn=["Find"]), "cycle", "/tasks"),
        (of_task(priority="high"), "unexpected_key", "/tasks/0"),
        (of_task(maxRetries=6), "range", "/tasks/0/maxRetries"),
        (of_task(verify=False), "type", "/tasks/0/verify"),
        (of_task(verify={"quorum": 3}), "range", "/tasks/0/verify/quorum"),
        (of_task(verify={"judges": []}), "no_judges", "/tasks/0/verify/judges"),
        (
            of_task(verify={"onDissent": "keep"}),
            "keep_forbidden_on_gating",
            "/tasks/0/verify/onDissent",
        ),
        ({"tasks": [TASK, TASK | {"title": " find "}]}, "duplicate", "/tasks/1/title"),
        (of_task(title="Look"), "no_reply", "/tasks/0/assignee"),
        ({"maxCostBudget": 0}, "range", "/maxCostBudget"),
        ({"maxCostBudget": "1"}, "type", "/maxCostBudget"),
        ({"maxCostBudget": True}, "type", "/maxCostBudget"),
        ({"maxCostBudget": 1e-9}, "range", "/maxCostBudget"),
        ({"onRejected": "merge"}, "enum", "/onRejected"),
        ({"atOnce": 0}, "range", "/atOnce"),
    ],
)
def test_a_fault_in_a_request_for_tasks_is_named_where_it_stands(change, reason, pointer):
    assert refusal(tasks_document() | change) == (reason, pointer)


LEAD = team_document()["coordinator"]
NO_ANSWER = LEAD | {"settings": {"plan": []}}
LEADS = NO_SHOUTING | {"name": "lead"}


@pytest.mark.parametrize(
    ("change", "reason", "pointer"),
    [
        ({"goal": ""}, "empty", "/goal"),
        ({"coordinator": LEAD | {"name": "ada"}}, "duplicate", "/coordinator/name"),
        ({"coordinator": NO_ANSWER}, "required", "/coordinator/settings/answer"),
        ({"tasks": []}, "unexpected_key", ""),
        ({"judges": [NO_SHOUTING]}, "unexpected_key", ""),
        ({"verifyJudges": [LEADS]}, "judge_is_actor", "/verifyJudges/0/name"),
        ({"approvePlan": 1}, "type", "/approvePlan"),
    ],
)  # fmt: skip
def test_a_fault_in_a_request_for_a_team_is_named_where_it_stands(change, reason, pointer):
    assert refusal(team_document() | change) == (reason, pointer)


@pytest.mark.parametrize("missing", ["goal", "coordinator"])
def test_a_team_needs_a_goal_and_somebody_who_plans(missing):
    assert refusal(team_document(**{missing: None})) == ("required", f"/{missing}")


def test_an_unknown_operation_is_refused():
    assert refusal(tasks_document(operation="runAnything")) == ("operation", "/operation")


def test_a_verified_task_without_judges_is_refused():
    assert refusal(tasks_document(judges=None)) == ("no_judges", "/tasks/0/verify")


def test_a_task_may_name_judges_of_its_own():
    own = {"name": "own", "model": "rule:length"}
    asked = read_any(tasks_document(tasks=[TASK | {"verify": {"judges": [own], "quorum": 1}}]))

    assert [judge.name for judge in asked.tasks[0].verify.judges] == ["own"]
    assert {judge.name for judge in asked.judges} == {"length", "calm", "own"}


def test_what_was_asked_for_is_what_is_read():
    asked = read_any(tasks_document(maxCostBudget=0.25, atOnce=3, onRejected="pause"))

    assert (asked.max_cost, asked.at_once) == (Decimal("0.25"), 3)
    assert asked.unaccepted is Unaccepted.ASKED
    assert asked.tasks[2].depends_on == ("Find", "Check")
    assert asked.models == ()
