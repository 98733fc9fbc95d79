"""`runs watch`: the lines of a run as they come, and an exit code that says how it ended."""

import json
import threading

import pytest
from click.testing import CliRunner
from django.db import connection

from openwop_console.cli import main, runs
from openwop_console.cli.watching import Follower, RunsFollower, told
from runs.models import Run
from tests.factories import decided, event, run_of, send, verified

pytestmark = pytest.mark.django_db

GOAL_MET = {"agentId": "boss-1", "decision": {"kind": "terminate", "successCriteria": [
    {"key": "done", "met": True}]}}  # fmt: skip
GAVE_UP = {"agentId": "boss-1", "decision": {"kind": "terminate", "successCriteria": [
    {"key": "done", "met": False}]}}  # fmt: skip


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(runs, "adopt", lambda folder: None)  # the tables of this test
    monkeypatch.setattr(runs, "LOOK_EVERY_S", 0.01)
    return lambda *words: CliRunner().invoke(main, ["runs", "watch", *words])


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([event(1, "run.completed")], 0),
        ([event(1, "runOrchestrator.decided", payload=GOAL_MET), event(2, "run.completed")], 0),
        ([event(1, "runOrchestrator.decided", payload=GAVE_UP), event(2, "run.completed")], 1),
        ([event(1, "run.failed")], 1),
        ([event(1, "run.cancelled")], 1),
        ([decided(1), verified(2, "r-1-e1", "fail"), event(3, "run.completed")], 4),
        ([verified(1, "t", "fail", odd="x"), event(2, "run.completed")], 4),
    ],
    ids=["ended", "goal met", "gave up", "failed", "cancelled", "blocked", "held"],
)
def test_it_ends_with_the_run_and_says_how_that_went(run, host, events, code):
    send(host, event(0, "run.started"), *events)

    watched = run("r-1")

    assert watched.exit_code == code, watched.output
    assert "run.started" in watched.stdout
    assert "r-1 " in watched.stderr


def test_a_run_that_goes_on_is_left_after_the_wait(run, host):
    send(host, event(0, "run.started"))

    assert run("r-1", "--wait", "0").exit_code == 3


def test_nothing_that_goes_wrong_ends_like_a_run(run, host):
    assert run("r-9").exit_code == 5
    assert run("r-1", "--wait", "x").exit_code == 5


def test_ctrl_c_ends_it_cleanly(run, host, monkeypatch):
    send(host, event(0, "run.started"))
    monkeypatch.setattr(
        runs.time, "sleep", lambda seconds: (_ for _ in ()).throw(KeyboardInterrupt)
    )

    watched = run("r-1")

    assert watched.exit_code == 130
    assert "Traceback" not in watched.output


def test_every_line_is_a_document_for_programs(run, host):
    send(
        host, event(0, "run.started"), event(1, "node.started", nodeId="n1"), event(2, "run.failed")
    )

    found = [json.loads(line) for line in run("r-1", "--json").stdout.splitlines()]

    assert [each["sequence"] for each in found if each["sequence"] is not None] == [0, 1, 2]
    assert found[1]["nodeId"] == "n1"
    assert all("payload" not in each for each in found)


def test_what_a_host_writes_cannot_steer_the_terminal(run, host):
    send(host, event(0, "run.started"), event(1, "node.started", nodeId="n\u2028\u202e"))
    rows = list(Follower(run_of(host)).news())

    assert all(told(line).isprintable() for line in rows)


def test_lines_come_once_and_late_ones_are_marked(host):
    send(host, event(0, "run.started"), event(3))
    follower = Follower(run_of(host))
    first = [line.row.sequence for line in follower.news()]

    send(host, event(1))
    late = list(follower.news())

    assert first == [0, 3]
    assert [line.row.sequence for line in late] == [1]
    assert "[late, off schema]" in told(late[0])
    assert list(follower.news()) == []


def test_a_burst_larger_than_one_question_is_told_whole(host):
    send(host, event(0, "run.started"))
    follower = Follower(run_of(host))
    list(follower.news())

    send(host, *(event(n) for n in range(1, 501)))

    assert [line.row.sequence for line in follower.news()] == list(range(1, 501))


def test_all_runs_are_watched_from_now_on(host, other_host):
    send(host, event(0, "run.started"))
    follower = RunsFollower("")
    assert list(follower.news()) == []

    send(host, event(1), event(0, "run.started", run="r-2"))
    send(other_host, event(0, "run.started", run="r-3"))
    found = {(line.run.run_id, line.row.sequence) for line in follower.news()}

    assert found == {("r-1", 1), ("r-2", 0), ("r-3", 0)}
    assert list(follower.news()) == []


def test_one_hosts_runs_are_watched_where_that_is_asked_for(host, other_host):
    follower = RunsFollower(host.slug)
    send(host, event(0, "run.started"))
    send(other_host, event(0, "run.started", run="r-3"))

    lines = list(follower.news())

    assert [line.run.run_id for line in lines] == ["r-1"]
    assert "alpha/r-1" in told(lines[0])


@pytest.mark.django_db(transaction=True)
def test_what_arrives_while_somebody_watches_is_shown(run, host, monkeypatch):
    send(host, event(0, "run.started"))
    asked = threading.Event()
    monkeypatch.setattr(
        runs.time, "sleep", lambda seconds: asked.set() or threading.Event().wait(0.01)
    )

    def host_goes_on() -> None:
        assert asked.wait(60)
        send(host, event(1, "node.started"), event(2, "run.completed"))
        connection.close()

    going_on = threading.Thread(target=host_goes_on)
    going_on.start()
    watched = run("r-1", "--wait", "20")
    going_on.join()

    assert watched.exit_code == 0
    assert "node.started" in watched.stdout
    assert Run.objects.get().is_terminal
