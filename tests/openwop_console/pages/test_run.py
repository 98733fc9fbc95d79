"""What a run's page says that stands in no event of it."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from runs.actions.reading_runs import keep_snapshot
from runs.domain.limits import Limits
from runs.domain.snapshots import snapshot_of
from tests.factories import event, run_of, send

pytestmark = pytest.mark.django_db

WAITS = {
    "status": "waiting-approval",
    "interrupt": {"nodeId": "review", "kind": "approval", "data": {"title": "CANARY"}},
    "parentRunId": "r-0",
}


def told(host, **document):
    keep_snapshot(
        run_of(host),
        snapshot_of(document, Limits()),
        is_caught_up=True,
        is_fresh=True,
        now=timezone.now() + timedelta(seconds=1),
    )


@pytest.fixture
def page(host, client, ada):
    client.force_login(ada)
    send(host, event(0, "run.started"), event(0, "run.started", run="r-0"))
    return lambda: client.get("/runs/alpha/r-1").text


def test_what_the_host_says_beyond_its_events_is_told_without_content(host, page):
    told(host, **WAITS)

    assert "the run is waiting-approval, at review (approval). Its events do not say so." in page()
    assert "The host waits." in page()
    assert "CANARY" not in page()


def test_it_is_not_told_once_the_events_say_so_too(host, page):
    told(host, **WAITS)
    send(host, event(1, "node.suspended", payload={"kind": "approval"}, nodeId="review"))

    assert "Its events do not say so." not in page()


def test_a_snapshot_that_says_what_the_events_say_is_no_news(host, page):
    told(host, status="running")

    assert "Its events do not say so." not in page()


def test_an_end_that_only_the_host_tells_of_is_told_as_such(host, page):
    told(host, status="failed")

    assert "The host says more." in page()


def test_a_parent_that_only_the_snapshot_names_is_shown(host, page):
    assert "/runs/alpha/r-0" not in page()
    told(host, **WAITS)

    assert "/runs/alpha/r-0" in page()


@pytest.mark.parametrize(
    ("apart", "said"),
    [
        (-84.2, "1 m 24 s after the host&#x27;s time"),
        (12.0, "12.0 s before the host&#x27;s time: its clock is ahead"),
    ],
)
def test_an_opened_line_says_in_words_how_far_its_arrival_was_from_the_hosts_time(
    host, client, ada, apart, said
):
    at = timezone.now() + timedelta(seconds=apart)
    send(host, event(0, "run.started", timestamp=at.isoformat().replace("+00:00", "Z")))
    client.force_login(ada)
    line = client.get("/runs/alpha/r-1/lines/1")

    assert re.search(said.replace(".0 s", r"\.\d s").replace("24 s", r"2\d s"), line.text)
    assert 'data-when="full"' in line.text.split("Received")[1]
