"""The page of a plan that waits: read, changed, refused with reasons, decided on once."""

import json

import pytest
from django.test import Client

from openwop_console.pages.sockets import PlanConsumer
from tests.verification.jobs.building import team_document, team_started, worked
from verification.domain.jobs.plan_changes import digest
from verification.models import AuditEntry, Job
from verification.queries.job_tasks import team_view

pytestmark = pytest.mark.django_db(transaction=True)

PLAN = team_document()["coordinator"]["settings"]["plan"]


@pytest.fixture
def page(ada):
    client = Client()
    client.force_login(ada)
    return client


@pytest.fixture
def job(host) -> Job:
    return worked(team_started(host, approvePlan=True))


def sent(page, job, **more) -> dict[str, str]:
    """Return the form as the page gives it, with what somebody typed."""
    shown = page.get(f"/jobs/{job.uid}/plan").context
    form = {"seen": shown["seen"]}
    for row in shown["rows"]:
        begin = f"task-{row['number']}-"
        for field in [*row["main"], *row["verify"], *row["more"]]:
            form[begin + field["name"]] = field["value"]
        if row["is_verified"]:
            form[f"{begin}verify"] = "yes"
    return form | more


def decided(page, job, **more):
    return page.post(f"/jobs/{job.uid}/plan", sent(page, job, **more))


def titles(job):
    return [task.title for task in team_view(job).tasks]


def test_a_plan_is_approved_as_it_came(page, job):
    answer = decided(page, job, move="approve")
    job = worked(job)

    assert answer.url == f"/jobs/{job.uid}"
    assert (job.basis, titles(job)) == ("quorum", ["Find", "Write"])
    entry = AuditEntry.objects.get(action="job.plan_approved")
    assert entry.detail == {
        "changed": False, "proposed": digest(PLAN), "approved": digest(PLAN)
    }  # fmt: skip


def test_a_plan_is_run_as_it_was_changed_and_the_page_shows_the_difference(page, job):
    decided(page, job, move="approve", **{"task-1-title": "Check", "task-1-verify": ""})
    job = worked(job)

    view = team_view(job)
    assert [task.title for task in view.tasks] == ["Check", "Write"]
    assert view.tasks[1].depends_on == (1,)  # it waits for the same task, under its new title
    words = page.get(f"/jobs/{job.uid}").content.decode()
    assert "changed by a person before it was run" in words
    assert words.count("<span>Added</span>") == words.count("<span>Taken out</span>") == 1
    entry = AuditEntry.objects.get(action="job.plan_approved")
    assert entry.detail["changed"]
    assert entry.detail["approved"] != entry.detail["proposed"]


def test_a_task_is_taken_out_and_nothing_waits_for_it_any_more(page, job):
    decided(page, job, move="approve", **{"task-1-remove": "yes"})

    assert titles(worked(job)) == ["Write"]


def test_a_refused_plan_ends_the_job(page, job):
    decided(page, job, move="reject", **{"task-1-title": ""})
    job = worked(job)

    assert (job.basis, job.tasks.count()) == ("no_plan", 0)
    assert "PLAN_REFUSED" in page.get(f"/jobs/{job.uid}").content.decode()


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({"task-1-title": " "}, "task-1-title", "must not be empty"),
        ({"task-2-title": "find"}, "task-2-title", "title of its own"),
        ({"task-2-dependsOn": "7"}, "task-2-dependsOn", "not in the plan"),
        ({"task-1-dependsOn": "2"}, "json", "circle"),
        ({"task-1-assignee": "zoe"}, "task-1-assignee", "Nobody of the team: ada"),
        ({"task-1-maxRetries": "some"}, "task-1-maxRetries", "whole number"),
        ({"task-1-maxRetries": "6"}, "task-1-maxRetries", "At most 5"),
        ({"task-1-retryDelayMs": "30001"}, "task-1-retryDelayMs", "At most 30000"),
        ({"task-1-maxRounds": "11"}, "task-1-verify", "1 to 10"),
        ({"task-1-retryBackoff": "nan"}, "task-1-retryBackoff", "number"),
        ({"task-1-quorum": "0"}, "task-1-verify", "Either true"),
    ],
)
def test_a_plan_that_cannot_be_run_is_explained_and_nothing_typed_is_lost(
    page, job, typed, field, words
):
    answer = decided(page, job, move="approve", **{"task-2-description": "KEPT"} | typed)
    shown = answer.content.decode()

    assert answer.status_code == 400
    assert f'href="#{field}"' in shown
    assert f'id="{field}"' in shown
    assert words in shown
    assert ">KEPT</textarea>" in shown
    assert team_view(job).plan.awaits_approval


def test_a_title_that_is_missing_is_one_fault_and_not_one_more_where_it_is_waited_for(page, job):
    answer = decided(page, job, move="check", **{"task-1-title": ""})

    assert [error["field"] for error in answer.context["errors"]] == ["task-1-title"]


def test_a_check_decides_nothing_and_says_what_differs(page, job):
    same = decided(page, job, move="check").content.decode()
    other = decided(page, job, move="check", **{"task-1-description": "Now."}).content.decode()

    assert "It is the plan that was proposed." in same
    assert "<span>Changed</span>" in other
    assert team_view(job).plan.awaits_approval


def test_a_task_is_added_without_losing_the_others(page, job):
    answer = decided(page, job, move="add", **{"task-1-title": "Look"})

    rows = answer.context["rows"]
    assert [row["title"] for row in rows] == ["Look", "Write", ""]


def test_the_longest_plan_can_be_changed_in_its_form(page, host):
    plan = [{"title": f"Find {n}", "description": "Find it.", "verify": True} for n in range(100)]
    lead = {"name": "lead", "model": "given", "settings": {"plan": plan, "answer": "Found."}}
    job = worked(team_started(host, coordinator=lead, approvePlan=True))

    answer = decided(page, job, move="approve", **{"task-100-title": "Find all"})
    assert answer.url == f"/jobs/{job.uid}"
    assert AuditEntry.objects.get(action="job.plan_approved").detail["changed"]


def test_a_plan_is_approved_as_json(page, job):
    plan = [{"title": "Write", "description": "Write at once.", "assignee": "ada"}]
    said = {"how": "json", "json": json.dumps(plan), "move": "approve", "seen": digest(PLAN)}
    page.post(f"/jobs/{job.uid}/plan", said)

    assert titles(worked(job)) == ["Write"]


@pytest.mark.parametrize("text", ['[{"title": "Write"}]', "[{", '[{"title":"a","title":"b"}]'])
def test_json_that_is_no_plan_is_explained_and_kept(page, job, text):
    said = {"how": "json", "json": text, "move": "approve", "seen": digest(PLAN)}
    answer = page.post(f"/jobs/{job.uid}/plan", said)

    assert answer.status_code == 400
    assert answer.context["json"] == text
    assert answer.context["errors"]
    assert team_view(job).plan.awaits_approval


def test_who_comes_second_is_told_and_keeps_what_they_typed(page, job):
    form = sent(page, job, move="approve", **{"task-1-description": "MINE"})
    decided(page, job, move="reject")
    answer = page.post(f"/jobs/{job.uid}/plan", form)

    assert answer.status_code == 409
    assert "The plan was already decided by ada: rejected." in answer.text
    assert ">MINE</textarea>" in answer.text
    assert 'value="approve"' not in answer.text
    assert "already decided by ada" in page.get(f"/jobs/{job.uid}/plan", follow=True).text


def test_who_comes_second_is_shown_what_differs_in_the_plan_that_is_run(page, job, ben):
    other = Client()
    other.force_login(ben)
    form = sent(page, job, move="approve", **{"task-1-title": "Look"})
    decided(other, job, move="approve", **{"task-2-description": "Write it in verse."})
    answer = page.post(f"/jobs/{job.uid}/plan", form)

    assert answer.status_code == 409
    assert "The plan was already decided by ben: approved." in answer.text
    found = {line["title"]: line["change"] for line in answer.context["differences"]}
    assert found == {"Find": "added", "Write": "changed", "Look": "removed"}
    assert "<del>Write it down.</del> <ins>Write it in verse.</ins>" in answer.text


@pytest.mark.parametrize("move", ["approve", "reject"])
@pytest.mark.parametrize("seen", ["0" * 64, ""])
def test_another_plan_than_was_looked_at_is_not_decided_on(page, job, move, seen):
    answer = decided(page, job, move=move, seen=seen, **{"task-1-description": "Mine."})

    assert answer.status_code == 409
    assert "The plan that waits is not the one that you looked at." in answer.text
    assert "How the plan that waits differs from yours" in answer.text
    assert "<del>Mine.</del> <ins>Find it.</ins>" in answer.text
    assert team_view(job).plan.awaits_approval


def test_an_open_page_is_told_that_somebody_else_has_decided(page, job, ada, ben, other_host):
    socket = PlanConsumer()
    socket.scope = {"url_route": {"kwargs": {"uid": job.uid}}}
    other = Client()
    other.force_login(ben)
    assert f'ws-connect="/ws/jobs/{job.uid}/plan/"' in page.get(f"/jobs/{job.uid}/plan").text
    before = socket.news(ada)
    decided(other, job, move="reject")

    assert '<div id="plan-late" hidden hx-swap-oob="true"></div>' in before
    assert "The plan was already decided by ben: rejected." in socket.news(ada)
    socket.scope = {"url_route": {"kwargs": {"uid": team_started(other_host).uid}}}
    assert socket.news(ada) is None


def test_the_job_says_who_decided_on_its_plan(page, job):
    decided(page, job, move="approve")

    assert "approved by ada" in page.get(f"/jobs/{job.uid}").text


def test_viewers_decide_nothing_and_others_find_nothing(job, cy, other_host, ada):
    viewer, stranger = Client(), Client()
    viewer.force_login(cy)
    stranger.force_login(ada)
    theirs = team_started(other_host, approvePlan=True)

    for answer in (viewer.get(f"/jobs/{job.uid}/plan"), viewer.post(f"/jobs/{job.uid}/plan")):
        assert answer.url == f"/jobs/{job.uid}"
    assert stranger.get(f"/jobs/{theirs.uid}/plan").status_code == 404
    assert stranger.post(f"/jobs/{theirs.uid}/plan", {"move": "approve"}).status_code == 404
    assert team_view(job).plan.awaits_approval


def test_where_no_plan_waits_the_page_leads_to_the_job(page, host):
    job = worked(team_started(host))

    assert page.get(f"/jobs/{job.uid}/plan").url == f"/jobs/{job.uid}"
