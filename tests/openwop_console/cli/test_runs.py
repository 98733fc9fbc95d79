"""`runs` and `hosts rotate`, on the tables of a Console that runs."""

import json

import pytest
from click.testing import CliRunner
from django.utils import timezone

from openwop_console.cli import hosts, main, runs
from runs.actions.webhook_secrets import secrets_of
from tests.factories import event, send

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(monkeypatch):
    for module in (runs, hosts):
        monkeypatch.setattr(module, "adopt", lambda folder: None)  # the tables of this test
    return lambda *words: CliRunner().invoke(main, words)


def test_runs_are_listed_and_narrowed(run, host, other_host):
    send(host, event(0, "run.started"), event(1, "run.failed"))
    send(other_host, event(0, "run.started", run="r-2"))

    everything = json.loads(run("runs", "list", "--json").output)
    failed = json.loads(run("runs", "list", "--status", "failed", "--json").output)

    assert {each["runId"] for each in everything} == {"r-1", "r-2"}
    assert [each["runId"] for each in failed] == ["r-1"]
    assert "r-1" in run("runs", "list").output


@pytest.mark.parametrize(
    "mistyped", [("--status", "faild"), ("--standing", "block"), ("--host", "nobody")]
)
def test_a_filter_that_names_nothing_is_an_error_and_not_an_empty_list(run, host, mistyped):
    listed = run("runs", "list", *mistyped)

    assert listed.exit_code != 0
    assert mistyped[1] in listed.output


def test_one_run_is_shown_with_what_is_missing(run, host):
    send(host, event(0, "run.started"), event(3))

    shown = json.loads(run("runs", "get", "r-1", "--json").output)

    assert (shown["host"], shown["missing"]) == (host.slug, [[1, 2]])
    assert "[[1, 2]]" in run("runs", "get", "r-1").output


def test_a_run_that_several_hosts_have_must_be_told_apart(run, host, other_host):
    for each in (host, other_host):
        send(each, event(0, "run.started"))

    asked = run("runs", "get", "r-1")
    named = run("runs", "get", "r-1", "--host", other_host.slug, "--json")

    assert asked.exit_code == 1
    assert "--host" in asked.output
    assert json.loads(named.output)["host"] == other_host.slug


def test_a_run_that_nobody_knows_is_an_error(run, host):
    shown = run("runs", "get", "r-9")

    assert shown.exit_code == 1
    assert "no run r-9" in shown.output


def test_a_new_secret_is_in_force_and_the_old_one_for_as_long_as_asked(run, host):
    old = secrets_of(host, timezone.now())

    first = json.loads(run("hosts", "rotate", host.slug, "--json").output)["webhookSecret"]
    host.refresh_from_db()
    assert secrets_of(host, timezone.now()) == [first, *old]

    second = json.loads(run("hosts", "rotate", host.slug, "--overlap", "0", "--json").output)[
        "webhookSecret"
    ]
    host.refresh_from_db()
    assert secrets_of(host, timezone.now()) == [second]


def test_the_secret_of_a_host_that_nobody_knows_is_not_rotated(run):
    assert run("hosts", "rotate", "nobody").exit_code == 1
