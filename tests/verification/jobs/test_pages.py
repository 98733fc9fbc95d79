"""The pages of jobs: what they show, what their form explains, who may do what."""

import pytest
from django.test import Client

from openwop_console.pages.sockets import JobConsumer
from tests.model_server import dissents, says
from tests.statements import statements
from tests.verification.jobs.building import SOLVER, panel, started, worked
from verification.actions.judge import judge_again
from verification.job_ledger import document_of
from verification.models import Escalation, Job

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(ada):
    client = Client()
    client.force_login(ada)
    return client


def typed(**more: str) -> dict[str, str]:
    return {
        "prompt": "Is it so?",
        "answer": "It is so.",
        "judge-0-name": "length",
        "judge-0-model": "rule:length",
        "judge-0-settings": '{"minimum": 2}',
        **more,
    }


def test_the_form_starts_a_job_and_its_page_shows_how_it_ended(page, host):
    answer = page.post("/jobs/new", typed())
    job = worked(Job.objects.get())

    assert answer.url == f"/jobs/{job.uid}"
    shown = page.get(answer.url).content.decode()
    assert "By quorum" in shown
    assert "1 of 1 judges accepted the answer; 1 was needed." in shown
    assert "It is so." in shown


@pytest.mark.parametrize(
    ("model", "text", "settings"),
    [
        ("rule:length", "2", {"minimum": 2}),
        ("rule:length", '{"maximum": 9}', {"maximum": 9}),
        ("rule:must-match", "is so", {"pattern": "is so"}),
        (
            "rule:required-citations",
            '{"allowed": ["a"], "minimum": 1}',
            {"minimum": 1, "allowed": ["a"]},
        ),
    ],
)
def test_what_a_rule_asks_for_is_typed_as_it_is_and_shown_so_again(
    page, host, model, text, settings
):
    page.post("/jobs/new", typed(**{"judge-0-model": model, "judge-0-settings": text}))
    job = Job.objects.get()

    assert document_of(job)["judges"][0]["settings"] == settings
    assert page.get(f"/jobs/new?from={job.uid}").context["rows"][0]["settings"] == text


def test_a_form_sent_twice_starts_one_job(page, host):
    page.post("/jobs/new", typed(once="k"))
    page.post("/jobs/new", typed(once="k"))

    assert Job.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"quorum": "4"}, "quorum", "from 1 to 1"),
        ({"quorum": "x"}, "quorum", "whole number"),
        ({"judge-0-model": "gpt-9", "judge-0-settings": ""}, "judge-0-model", "No such model"),
        ({"judge-0-settings": "{"}, "judge-0-settings", "not JSON"),
        ({"judge-0-settings": "two"}, "judge-0-settings", "whole number"),
        ({"judge-1-name": "length", "judge-1-model": "rule:length"}, "judge-1-name", "own"),
        ({"judge-0-name": "", "judge-0-model": ""}, "judges", "At least one judge"),
        ({"answer": ""}, "answer", "no answer"),
        ({"runId": "r-9", "target": "t"}, "runId", "no run"),
    ],
)
def test_the_form_says_what_is_wrong_and_keeps_what_was_typed(page, change, field, sentence):
    shown = page.post("/jobs/new", typed(**change))

    assert shown.status_code == 400
    words = shown.content.decode()
    assert f'href="#{field}"' in words
    assert f'id="{field}"' in words
    assert sentence in words
    assert "Is it so?" in words
    assert not Job.objects.exists()


def test_the_example_needs_no_model_and_runs(page, host):
    shown = page.get("/jobs/new?example=1").context
    form = {"prompt": shown["given"]["prompt"], "answer": shown["given"]["answer"], "quorum": "2"}
    for row in shown["rows"]:
        form |= {
            f"judge-{row['number']}-{part}": row[part] for part in ("name", "model", "settings")
        }

    page.post("/jobs/new", form)
    assert worked(Job.objects.get()).verdict == "pass"


def test_a_page_shows_dissent_its_critique_and_what_changed(page, host, models):
    models.tell(
        solver=[says("About ninety degrees."), says("Exactly a hundred degrees.")],
        judge_a=dissents,
        judge_b=dissents,
    )
    judges = panel("judge-a", "judge-b")
    job = worked(started(host, answer=None, proposer=SOLVER, judges=judges, quorum=2))
    words = page.get(f"/jobs/{job.uid}").content.decode()

    assert words.count("It does not follow.") >= 2
    assert "<ins>Exactly a hundred </ins>" in words
    assert "Rejected by dissent" in words
    assert "Waits for a person" in words


def test_text_of_models_is_never_markup(page, host, models):
    models.tell(solver=says("<script>alert(1)</script>"), judge_a=dissents)
    job = worked(
        started(host, answer=None, proposer=SOLVER, judges=panel("judge-a"), onDissent="reject",
                quorum=None)
    )  # fmt: skip

    assert "<script>alert" not in page.get(f"/jobs/{job.uid}").content.decode()


def test_cancel_and_run_again_are_for_those_who_may(page, host, cy):
    job = started(host)
    viewer = Client()
    viewer.force_login(cy)

    assert b"Cancel" not in viewer.get(f"/jobs/{job.uid}").content
    viewer.post(f"/jobs/{job.uid}/cancel")
    job.refresh_from_db()
    assert job.cancel_asked_at is None

    page.post(f"/jobs/{job.uid}/cancel")
    assert worked(job).stop == "cancelled"
    again = page.post(f"/jobs/{job.uid}/again")
    assert worked(Job.objects.exclude(pk=job.pk).get()).verdict == "pass"
    assert str(job.uid) not in again.url


def test_a_pass_is_sent_to_a_person_once_and_a_fail_waits_already(page, host):
    passed, failed = worked(started(host)), worked(started(host, answer="Boiling!!"))

    first = page.post(f"/jobs/{passed.uid}/review")
    second = page.post(f"/jobs/{passed.uid}/review")
    refused = page.post(f"/jobs/{failed.uid}/review")

    asked = Escalation.objects.waiting().get(run=passed.run)
    assert first.url == second.url == f"/queue/{asked.pk}"
    assert asked.reason == "audit_sample"
    assert refused.url == f"/jobs/{failed.uid}"
    assert page.get(first.url).status_code == 200
    judge_again(run=passed.run_id)
    assert Escalation.objects.waiting().filter(pk=asked.pk).exists()


def test_jobs_of_another_tenant_do_not_exist(page, other_host):
    job = started(other_host)

    assert page.get(f"/jobs/{job.uid}").status_code == 404
    assert page.post(f"/jobs/{job.uid}/cancel").status_code == 404
    assert str(job.uid) not in page.get("/jobs").content.decode()


def test_the_list_says_what_each_job_came_to(page, host):
    worked(started(host, answer="Boiling!!"))
    words = page.get("/jobs").content.decode()

    assert "Rejected by dissent" in words
    assert page.get("/jobs?tab=running").context["rows"] == []


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"minimum": 1, "minimum": 2}', "NaN"])
def test_settings_that_are_no_json_are_said_so_and_start_nothing(page, text):
    judge = {"judge-0-model": "rule:json-schema", "judge-0-settings": text}
    answer = page.post("/jobs/new", typed(**judge))

    assert answer.status_code == 400
    assert "This is not JSON." in answer.content.decode()
    assert not Job.objects.exists()


def test_lists_ask_no_more_questions_for_more_jobs(page, host):
    def asked(path: str) -> int:
        with statements() as questions:
            assert page.get(path).status_code == 200
        return len(questions)

    started(host)
    few = [asked(path) for path in ("/jobs", "/api/v1/jobs")]
    for _ in range(3):
        started(host)

    assert [asked(path) for path in ("/jobs", "/api/v1/jobs")] == few


def test_an_open_page_is_sent_each_vote_once(ada, host):
    job = started(host)
    socket = JobConsumer()
    socket.scope = {"user": ada, "url_route": {"kwargs": {"uid": job.uid}}}

    before = socket.news(ada)
    worked(job)
    news, later = socket.news(ada), socket.news(ada)

    assert [said.count('class="critique"') for said in (before, news, later)] == [0, 2, 0]
    assert 'id="job-answers"' in news
    assert 'id="job-answers"' not in later


def test_a_page_of_another_tenant_is_sent_nothing(ada, other_host):
    socket = JobConsumer()
    socket.scope = {"user": ada, "url_route": {"kwargs": {"uid": started(other_host).uid}}}

    assert socket.groups_for(ada) is None
    assert socket.news(ada) is None
