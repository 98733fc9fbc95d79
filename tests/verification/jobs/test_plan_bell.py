"""A plan that waits is under the bell and on the queue's page, for as long as it waits."""

import json

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from openwop_console.pages.sockets import QueueConsumer
from runs.models import Membership, Role
from tests.factories import person
from tests.local_servers import http, serving
from tests.verification.jobs.building import (
    decided,
    tasks_started,
    team_document,
    team_started,
    worked,
)
from tests.verification.jobs.test_tasks import shouting
from verification.actions import notifying
from verification.actions.jobs import cancel
from verification.models import Job, Notification, Wish
from verification.queries.bell import bell_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def job(host, ada, ben, cy) -> Job:
    return waiting(host)


def waiting(host, **more) -> Job:
    return worked(team_started(host, approvePlan=True, **more))


def told(user) -> list[str]:
    return [line.kind for line in bell_of(user, timezone.now()).lines]


def page_of(user, path: str) -> str:
    client = Client()
    client.force_login(user)
    return client.get(path).text


def words_of_job() -> list[str]:
    asked = team_document()
    plan = asked["coordinator"]["settings"]["plan"]
    return [asked["goal"], *(task["title"] for task in plan), plan[0]["description"]]


def test_whoever_may_decide_on_a_plan_is_told_that_it_waits(host, other_host, ada, cy):
    olga, stranger = person("olga"), person("stranger")
    Membership.objects.create(user=olga, workspace=host.workspace, role=Role.OPERATOR)
    Membership.objects.create(user=stranger, workspace=other_host.workspace, role=Role.ADMIN)
    waiting(host)

    assert (told(ada), told(olga)) == (["plan_waits"], ["plan_waits"])
    assert (told(cy), told(stranger)) == ([], [])


def test_the_bell_names_the_job_and_none_of_its_words(job, ada):
    shown = page_of(ada, "/queue")
    lines = shown.split('id="bell-lines"')[1].split("</ul>")[0]

    assert f'href="/jobs/{job.uid}/plan"' in lines
    assert str(job.uid)[:8] in lines
    assert "waits for a person" in lines
    assert [word for word in words_of_job() if word in lines] == []


def test_the_bell_is_quiet_once_somebody_has_decided(job, ada, ben):
    decided(job, is_approved=True, by=f"person:{ben.pk}")

    assert told(ada) == told(ben) == []


def test_the_bell_is_quiet_once_the_job_is_cancelled(job, ada):
    cancel(job=job.pk, by="person:1")
    worked(job)

    assert told(ada) == []


def wish(user, url: str, form: str = "slack") -> None:
    Wish.objects.create(user=user, mode="at_once", webhook_url=url, webhook_form=form)


def sent(server) -> list[dict]:
    notifying.send_due(timezone.now())
    return [json.loads(each.partition(b"\r\n\r\n")[2]) for each in server.requests]


@pytest.mark.parametrize("form", ["slack", "plain"])
def test_a_message_names_the_job_and_none_of_its_words(host, ada, form):
    with serving(http()) as server:
        wish(ada, f"{server.url}/hook", form)
        job = waiting(host)
        (message,) = sent(server)

    text = json.dumps(message)
    assert f"/jobs/{job.uid}/plan" in text
    assert [word for word in words_of_job() if word in text] == []
    if form == "plain":
        (item,) = message["items"]
        assert (item["note"], item["job"], "escalation" in item) == (
            "plan_waits", str(job.uid), False
        )  # fmt: skip


def test_what_was_decided_before_the_message_left_is_not_sent(host, ada):
    with serving(http()) as server:
        wish(ada, f"{server.url}/hook")
        decided(waiting(host))
        assert sent(server) == []

    row = Notification.objects.get(user=ada)
    assert (row.send_at, row.dropped_because, row.tries) == (None, "decided", 0)


def late(row: Notification) -> str:
    """Fire a timer that nobody stopped, and say why it had nothing to send."""
    Notification.objects.filter(pk=row.pk).update(send_at=timezone.now(), dropped_because="")
    notifying.send_due(timezone.now())
    row.refresh_from_db()
    assert row.sent_at is None
    return row.dropped_because


def test_a_timer_looks_again_when_it_fires(host, ada):
    wish(ada, "https://hooks.example/x")
    job = waiting(host)
    row = Notification.objects.get(user=ada)

    Membership.objects.filter(user=ada).update(role=Role.VIEWER)
    assert late(row) == "not_visible"
    Membership.objects.filter(user=ada).update(role=Role.OPERATOR)
    cancel(job=job.pk, by="person:1")
    worked(job)
    assert late(row) == "decided"


def test_a_task_that_is_paused_for_a_person_is_told_of_once_as_an_escalation(host, ada):
    job = worked(tasks_started(host, onRejected="pause", **shouting()))

    assert job.paused_at is not None
    assert list(Notification.objects.values_list("user", "kind")) == [(ada.pk, "opened")]
    assert 'id="queue-plans"></div>' in page_of(ada, "/queue")


def test_a_notification_is_about_one_matter(job, ada):
    with pytest.raises(IntegrityError), transaction.atomic():
        Notification.objects.create(
            user=ada, workspace=job.workspace, kind="plan_waits", made_at=timezone.now()
        )


def test_the_queue_says_that_a_plan_waits_and_no_more_once_it_does_not(host, ada):
    assert 'id="queue-plans"></div>' in page_of(ada, "/queue")
    jobs = [waiting(host)]
    one = page_of(ada, "/queue")
    assert f'<a href="/jobs/{jobs[0].uid}">A team\'s plan waits for a person</a>' in one
    assert "Nothing else is waiting for a person" in one

    jobs.append(waiting(host))
    assert '<a href="/jobs?tab=waiting">2 plans of teams wait for a person</a>' in page_of(
        ada, "/queue"
    )
    for each in jobs:
        decided(each)
    assert 'id="queue-plans"></div>' in page_of(ada, "/queue")


def test_an_open_queue_is_told_of_a_plan_when_its_bell_rings(job, ada):
    news = QueueConsumer().news(ada)

    assert '<div id="queue-plans" hx-swap-oob="true"><p' in news
    assert f'href="/jobs/{job.uid}/plan"' in news
