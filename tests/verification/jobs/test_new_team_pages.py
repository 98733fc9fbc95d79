"""The forms that start runs of tasks and of teams: what they send, explain, keep and start with."""

import json

import pytest
from django.test import Client

from openwop_console.pages.job_examples import EXAMPLES
from openwop_console.pages.job_team_form import made_of, typed_of
from tests.verification.jobs.building import tasks_document, tasks_started, team_document, worked
from verification.domain.jobs.states import Operation
from verification.job_ledger import document_of
from verification.models import Job

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(ada):
    client = Client()
    client.force_login(ada)
    return client


def given(*titles):
    """Return the member of `tasks_document`, with answers to some of its tasks only."""
    (ada,) = tasks_document()["team"]
    replies = {title: ada["settings"]["replies"][title] for title in titles}
    return [ada | {"settings": {"replies": replies}}]


TEAM = team_document(team=given("Find", "Write"))


def form(document, **more):
    """Return a request as it is typed into its form."""
    return {**typed_of(document), "operation": document["operation"], **more}


@pytest.mark.parametrize(
    "document",
    [
        tasks_document(),
        TEAM | {"approvePlan": True},
        tasks_document(onRejected="pause", atOnce=2, maxTokenBudget=900, maxCostBudget=0.5),
        tasks_document(criteria=["true", "brief"]),
        EXAMPLES[Operation.TASKS],
        EXAMPLES[Operation.TEAM],
    ],
)
def test_what_is_typed_says_what_the_document_said(document):
    typed = typed_of(document)

    assert typed is not None
    assert made_of(typed, Operation(document["operation"])).document == document


def test_what_the_form_has_no_room_for_is_shown_as_json_and_not_lost(page, host):
    team = [tasks_document()["team"][0] | {"maxTokenBudget": 50}]
    job = tasks_started(host, team=team)
    shown = page.get(f"/jobs/new?from={job.uid}").context

    assert json.loads(shown["json"]) == document_of(job)


def test_a_task_keeps_what_the_form_has_no_field_for():
    tasks = [{"title": "Find", "description": "Find it.", "maxRetries": 2, "verify": {"quorum": 2}}]
    document = tasks_document(tasks=tasks, team=given("Find"))

    assert made_of(typed_of(document), Operation.TASKS).document == document


def test_an_answer_that_only_a_plan_could_ask_for_is_shown_as_json_and_not_lost():
    assert typed_of(team_document()) is None


def test_answers_are_typed_beside_their_tasks_and_said_by_who_does_them(page, host):
    typed = form(tasks_document(), **{"task-1-revised": "At 100 degrees."})
    typed |= {"member-2-name": "bob", "member-2-model": "given", "task-2-assignee": "bob"}
    page.post("/jobs/new", typed)

    said = {each["name"]: each["settings"] for each in document_of(Job.objects.get())["team"]}
    assert said["ada"]["replies"]["Find"] == ["It boils at 100 degrees.", "At 100 degrees."]
    assert list(said["bob"]["replies"]) == ["Check"]


def test_a_plan_that_is_typed_is_proposed_by_a_coordinator_whose_words_are_given(page, host):
    page.post("/jobs/new", form(TEAM))

    assert document_of(Job.objects.get()) == TEAM


@pytest.mark.parametrize("operation", [Operation.TASKS, Operation.TEAM])
def test_the_example_needs_no_model_and_starts(page, host, operation):
    shown = page.get(f"/jobs/new?operation={operation}&example=1").context
    typed = {**shown["given"], "operation": operation}
    answer = page.post("/jobs/new", typed)

    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.uid}"
    assert job.operation == operation


def test_the_form_of_tasks_starts_them_and_they_pass(page, host):
    page.post("/jobs/new", form(tasks_document()))

    assert worked(Job.objects.get()).verdict == "pass"


def test_a_form_sent_twice_starts_one_job(page, host):
    for _ in range(2):
        page.post("/jobs/new", form(TEAM, once="k"))

    assert Job.objects.count() == 1


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({"task-2-title": "find"}, "task-2-title", "title of its own"),
        ({"task-3-dependsOn": "1, 9"}, "task-3-dependsOn", "No task has this title"),
        ({"task-1-dependsOn": "3"}, "task-1-title", "circle"),
        ({"task-1-assignee": "zoe"}, "task-1-assignee", "One of ada"),
        ({"task-1-description": ""}, "task-1-description", "must not be empty"),
        ({"task-1-more": "{"}, "task-1-more", "not JSON"),
        ({"task-1-more": '{"maxRetries": 99}'}, "task-1-more", "from 0 to 5"),
        ({"member-1-pauseSeconds": "long"}, "member-1-pauseSeconds", "whole number"),
        ({"member-1-pauseSeconds": "99"}, "member-1-pauseSeconds", "from 0 to 60"),
        ({"member-1-model": "gpt-9"}, "member-1-model", "No such model"),
        (
            {"member-2-name": "bob", "member-2-model": "gpt-9", "task-1-assignee": "bob"},
            "task-1-answer",
            "answers by itself",
        ),
        ({"task-1-answer": ""}, "task-1-assignee", "given no answer"),
        ({"judge-1-settings": "long"}, "judge-1-settings", "whole number"),
        ({"member-1-name": ""}, "member-1-name", "A name of"),
        ({"judge-2-name": "ada"}, "judge-2-name", "Nobody judges"),
        ({"atOnce": "many"}, "atOnce", "whole number"),
        ({"maxCostBudget": "nan"}, "maxCostBudget", "US dollars"),
        ({"maxTokenBudget": "0"}, "maxTokenBudget", "from 1"),
    ],
)
def test_the_form_says_what_is_wrong_and_keeps_what_was_typed(page, host, typed, field, words):
    answer = page.post(
        "/jobs/new", form(tasks_document(), **{"task-2-description": "KEPT"} | typed)
    )
    shown = answer.content.decode()

    assert answer.status_code == 400
    assert f'href="#{field}"' in shown
    assert f'id="{field}"' in shown
    assert words in shown
    assert ">KEPT</textarea>" in shown
    assert not Job.objects.exists()


def test_a_fault_is_led_to_its_row_past_rows_that_were_left_empty(page, host):
    rows = form(tasks_document())
    moved = {name.replace("task-3-", "task-5-"): text for name, text in rows.items()}
    answer = page.post("/jobs/new", moved | {"task-5-description": ""})

    assert answer.context["errors"][0]["field"] == "task-5-description"
    assert answer.context["tasks"][4]["wrong"] == ["description"]


@pytest.mark.parametrize("kind", ["member", "judge", "task"])
def test_a_row_is_added_without_losing_what_was_typed(page, host, kind):
    before = len(page.get("/jobs/new?operation=runTasks").context[f"{kind}s"])
    answer = page.post("/jobs/new", form(tasks_document(), move=f"add-{kind}"))

    assert len(answer.context[f"{kind}s"]) == before + 1
    assert answer.context["given"]["task-3-title"] == "Write"
    assert not Job.objects.exists()


def test_a_form_goes_on_as_json_and_the_json_starts_the_job(page, host):
    shown = page.post("/jobs/new", form(TEAM, move="json")).context["json"]
    assert json.loads(shown) == TEAM

    page.post("/jobs/new", {"operation": "json", "json": shown})
    assert worked(Job.objects.get()).verdict == "pass"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "At least one judge"),
        ('{"operation": "runNothing"}', "Say which operation"),
        ('{"operation": "runTeam", "team": []}', "1 to 16 members"),
    ],
)
def test_json_that_is_no_request_is_explained_and_kept(page, host, text, words):
    answer = page.post("/jobs/new", {"operation": "json", "json": text})

    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert answer.context["json"] == text


def test_an_ended_job_is_changed_and_run_again_in_its_form(page, host):
    job = worked(tasks_started(host))
    shown = page.get(f"/jobs/new?from={job.uid}").context

    assert shown["operation"] == "runTasks"
    assert made_of(shown["given"], Operation.TASKS).document == tasks_document()


def test_the_list_shows_kind_and_progress_and_finds_what_waits(page, host):
    worked(tasks_started(host))
    page.post("/jobs/new", form(TEAM | {"approvePlan": True}))
    waiting = worked(Job.objects.get(operation="runTeam"))
    words = page.get("/jobs").content.decode()

    assert "3 of 3 tasks" in words
    assert "Tasks · 3 tasks · " in words
    assert "Team · " in words
    rows = page.get("/jobs?tab=waiting").context["rows"]
    assert [row["uid"] for row in rows] == [waiting.uid]
