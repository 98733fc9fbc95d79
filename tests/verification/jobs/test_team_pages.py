"""Pages of runs of tasks and of teams: what they show while they run, wait and after they ended."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from openwop_console.pages.sockets import JobConsumer
from runs.models import Run
from tests.verification.jobs.building import decided, tasks_started, team_started, worked
from tests.verification.jobs.test_tasks import shouting
from verification.models import Escalation
from verification.queries.analytics import outcomes_by_day

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(ada):
    client = Client()
    client.force_login(ada)
    return client


def words_of(page, job):
    answer = page.get(f"/jobs/{job.uid}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_team_is_shown_with_its_graph_and_a_table_that_says_the_same(page, host):
    job = worked(team_started(host))
    shown = page.get(f"/jobs/{job.uid}").context
    words = words_of(page, job)

    assert [node["task"].title for node in shown["graph"]["nodes"]] == ["Find", "Write"]
    (edge,) = shown["graph"]["edges"]
    assert f'<path d="{edge["path"]}" data-done' in words
    for number in (1, 2):
        assert f'class="node" id="node-{number}" href="#task-{number}"' in words
        assert f'id="row-{number}-door" href="#task-{number}"' in words
        assert f'id="task-{number}"' in words
    assert "Water boils at 100 degrees at sea level." in words
    assert "2 of 2 tasks ended" in words


def test_each_task_has_its_grid_its_run_and_its_result(page, host):
    job = worked(tasks_started(host, **shouting()))
    words = words_of(page, job)
    first = job.tasks.get(number=1)

    assert words.count('<table class="votes">') == 2
    assert words.count("Dissent") >= 2
    assert "Result, not merged" in words
    assert "It boils!!" in words
    assert f"/runs/{job.run.host.slug}/{first.run.run_id}" in words
    assert f"/queue/{Escalation.objects.waiting().get(run=job.run).pk}" in words


def test_what_took_time_stands_below_what_it_is_part_of(page, host):
    job = worked(tasks_started(host))
    spans = page.get(f"/jobs/{job.uid}").context["spans"]
    whole, *parts = [(span["depth"], span["name"], span["task"]) for span in spans]

    assert whole == (0, "oma.run", "")
    tasks = [task for depth, _, task in parts if depth == 1]
    assert tasks == ["task 1", "task 2", "task 3"]
    inside = ""
    for depth, name, task in parts:
        inside = task if depth == 1 else inside
        assert task in ("", inside), name


def test_memory_is_shown_by_namespace_with_what_it_held_before(page, host):
    job = worked(tasks_started(host, **shouting()))
    shown = page.get(f"/jobs/{job.uid}").context

    assert [each["name"] for each in shown["namespaces"]] == ["calm", "ada"]
    assert "task:task-1:verdict" in words_of(page, job)


def test_a_task_that_waits_says_what_is_asked_why_and_what_follows(page, host):
    job = worked(tasks_started(host, onRejected="pause", **shouting()))
    words = words_of(page, job)
    asked = Escalation.objects.waiting().get(run=job.run)

    assert "May the result of task 1 count?" in words
    assert "0 of 1 judges accepted it in round 2" in words
    assert "The answer contains what it must not." in words
    assert "Override to pass" in words
    assert "Uphold, or send back" in words
    assert '<a href="#task-3">3</a>' in words
    assert "Everything waits, and the job's clock stands still." in words
    assert f'href="/queue/{asked.pk}"' in words
    assert "it goes on when a person has decided" in words


def test_what_hangs_on_a_decision_is_told_to_the_end(page, host):
    before = {"Find": [], "Check": ["Find"], "Write": ["Check"]}
    tasks = [
        {"title": title, "description": "Do it.", "dependsOn": wanted, "verify": True}
        for title, wanted in before.items()
    ]
    job = worked(tasks_started(host, onRejected="pause", **shouting(tasks=tasks)))
    (asked,) = page.get(f"/jobs/{job.uid}").context["asked"]

    assert [task["title"] for task in asked["after"]] == ["Check", "Write"]


def test_a_plan_that_waits_is_linked_for_those_who_may_decide_only(page, host, cy):
    job = worked(team_started(host, approvePlan=True))
    viewer = Client()
    viewer.force_login(cy)

    assert f'href="/jobs/{job.uid}/plan"' in words_of(page, job)
    seen = words_of(viewer, job)
    assert "May this plan be run?" in seen
    assert f'href="/jobs/{job.uid}/plan"' not in seen


def test_a_plan_that_waits_is_counted_beside_jobs_and_linked_from_the_list(page, host, cy):
    job = worked(team_started(host, approvePlan=True))
    viewer = Client()
    viewer.force_login(cy)
    seen, link = page.get("/runs").context["nav"], f'href="/jobs/{job.uid}/plan"'

    assert {each["label"]: each["badge"] for each in seen if each["badge"]} == {"Jobs": 1}
    (run,) = page.get("/runs?tile=review").context["runs"]
    assert run["waits"]
    assert "Waits for a person" in page.get(run["url"]).text
    assert link in page.get("/jobs").text
    assert link not in viewer.get("/jobs").text
    decided(job, is_approved=False)
    worked(job)
    assert link not in page.get("/jobs").text
    assert not any(each["badge"] for each in page.get("/runs").context["nav"])


def test_rows_of_the_list_are_told_apart_by_kind_number_of_tasks_and_id(page, host):
    jobs = [worked(team_started(host)), worked(team_started(host))]
    doors = re.findall(r'<a class="door" [^>]+>(.*?)</a>', page.get("/jobs").text)
    names = [re.sub(r"<[^>]+>", "", each) for each in doors]

    assert names == [f"Team · 2 tasks · {str(job.uid)[:8]}" for job in reversed(jobs)]


def test_the_time_that_people_took_stands_beside_what_the_job_took(page, host):
    job = worked(team_started(host, approvePlan=True))
    later = job.steps.get(phase="approval").started_at + timedelta(hours=2)
    decided(job, is_approved=False, now=later)
    worked(job)

    assert "+ 2 h 00 m for people to decide" in words_of(page, job)


def test_runs_of_single_tasks_are_listed_when_they_are_asked_for(page, host):
    job = worked(team_started(host))

    def listed(query: str) -> list[str]:
        return [run["workflow_id"] for run in page.get(f"/runs{query}").context["runs"]]

    alone = page.get("/runs")
    assert (listed(""), alone.context["hidden"]) == (["console.team"], 2)
    assert "2 runs of single tasks of jobs are not shown." in alone.text
    assert {tile["key"]: tile["count"] for tile in alone.context["tiles"]}["running"] == 0
    for query in ("?tasks=shown", f"?host={job.run.host.slug}", "?q=console.t"):
        assert sorted(listed(query)) == ["console.task", "console.task", "console.team"]
    assert (listed("?outcome=ended"), listed("?outcome=ended&tasks=shown")) == (
        [],
        ["console.task"] * 2,
    )
    (day,) = outcomes_by_day(User.objects.get(username="ada"), job.created_at, timezone.now())
    assert day.counts == {"goal_met": 1}


def test_a_task_run_that_asks_for_attention_is_listed(page, host):
    worked(team_started(host))
    child = Run.objects.filter(workflow_id="console.task").first()
    child.held = True
    child.save()

    assert str(child.run_id) in page.get("/runs").text


def test_a_reply_that_is_no_plan_is_shown_with_what_is_wrong_with_it(page, host):
    said = {"plan": [{"title": "Find", "assignee": "zoe"}], "answer": "Nothing."}
    job = worked(
        team_started(host, coordinator={"name": "lead", "model": "given", "settings": said})
    )
    words = words_of(page, job)

    assert "COORDINATOR_PLAN_INVALID" in words
    assert words.count("<b>Task 1, description</b>: It is missing.") == 2
    assert "zoe" in words


def test_words_of_members_are_never_markup(page, host):
    replies = {"Find": "<script>alert(1)</script>", "Write": "<b>x</b>"}
    team = [{"name": "ada", "model": "given", "settings": {"replies": replies}}]
    words = words_of(page, worked(team_started(host, team=team)))

    assert "<script>alert" not in words
    assert "<b>x</b>" not in words


def test_a_job_whose_words_are_erased_still_has_a_page(page, host):
    job = worked(team_started(host))
    job.request.body, job.request.erased_at = b"", timezone.now()
    job.request.save()

    assert "have been erased" in words_of(page, job)


def test_an_open_page_is_sent_only_the_tasks_that_changed(ada, host):
    job = team_started(host)
    socket = JobConsumer()
    socket.scope = {"user": ada, "url_route": {"kwargs": {"uid": job.uid}}}

    before = socket.news(ada)
    worked(job)
    news, later = socket.news(ada), socket.news(ada)

    folds = [said.count('class="fold task"') for said in (before, news, later)]
    assert folds == [0, 2, 0]
    assert 'id="job-folds"' in news
    assert 'id="job-folds"' not in later
    assert 'id="job-graph"' in later
