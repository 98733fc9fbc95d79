"""What people take away is what they see, and harmless where they open it."""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from runs.models import Run
from tests.factories import decided, event, send, verified

pytestmark = pytest.mark.django_db


@pytest.fixture
def get(client, ada):
    client.force_login(ada)
    return client.get


def rows(answer):
    assert answer.status_code == 200
    assert answer["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_the_runs_that_the_list_shows_go_out_and_no_others(get, host):
    for name, end in (("r-1", "run.completed"), ("r-2", "run.failed"), ("r-3", "run.failed")):
        send(host, event(0, "run.started", run=name), event(1, end, run=name))

    found = rows(get("/runs/export?outcome=failed"))

    assert [(each["run"], each["outcome"], each["events"]) for each in found] == [
        ("r-3", "failed", "2"),
        ("r-2", "failed", "2"),
    ]
    assert found[0]["address"].endswith(f"/runs/{host.slug}/r-3")
    assert "/runs/export?outcome=failed" in get("/runs?outcome=failed").content.decode()


def test_more_runs_than_a_page_go_out(get, host):
    send(host, *(event(0, "run.started", run=f"r-{n}") for n in range(60)))

    assert len(rows(get("/runs/export"))) == 60


def test_a_run_of_another_workspace_does_not_go_out(get, other_host):
    send(other_host, event(0, "run.started"))

    assert rows(get("/runs/export")) == []
    assert get(f"/runs/{other_host.slug}/r-1/export").status_code == 404


@pytest.mark.parametrize("name", ["=1+1", "@SUM(A1)", "-2", "+3"])
def test_an_id_is_no_formula(get, host, name):
    send(host, event(0, "run.started", payload={"workflowId": name}))

    [only] = rows(get("/runs/export"))

    assert only["workflow"] == f"'{name}"


def test_a_run_goes_out_as_its_host_sent_it(get, host):
    sent = [event(0, "run.started", vendorNote="x"), decided(1), verified(2, "r-1-e1", "pass")]
    send(host, *sent)

    answer = get(f"/runs/{host.slug}/r-1/export")

    assert answer["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.content.decode().splitlines()]
    assert [(each["eventId"], each["payload"]) for each in lines] == [
        (each["eventId"], each["payload"]) for each in sent
    ]
    assert lines[0]["vendorNote"] == "x"
    assert f"/runs/{host.slug}/r-1/export" in get(f"/runs/{host.slug}/r-1").content.decode()


def test_a_figures_numbers_go_out_as_its_table_shows_them(get, host):
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))

    [only] = rows(get("/analytics/verdicts/export?days=7"))

    assert only == {"Verifier": "critic-1", "Pass": "0", "Revise": "0", "Fail": "1"}
    assert get("/analytics/nothing/export").status_code == 404


@pytest.mark.parametrize(("within", "shown"), [("1h", ["new"]), ("7d", ["new", "old"]), ("9y", [])])
def test_the_list_is_narrowed_by_when_a_run_was_last_heard_of(get, host, within, shown):
    send(host, event(0, "run.started", run="old"), event(0, "run.started", run="new"))
    Run.objects.filter(run_id="old").update(last_event_at=timezone.now() - timedelta(days=2))

    assert [each["run"] for each in rows(get(f"/runs/export?within={within}"))] == shown
    page = get(f"/runs?within={within}").content.decode()
    assert [name for name in ("new", "old") if f"/{name}" in page] == shown
