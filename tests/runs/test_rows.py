"""Statements that are written once: how many of them a request of a host sends."""

import pytest

from runs.rows import execute, fetch
from tests.factories import decided, event, run_of, send, verified
from tests.statements import statements

pytestmark = pytest.mark.django_db


def test_statements_that_go_past_django_are_counted_too(host):
    with statements() as seen:
        assert fetch("SELECT %s", [7]) == [(7,)]
        execute("UPDATE runs_run SET held = held", [])
        list(type(host).objects.all())

    assert [each["sql"].split()[0] for each in seen] == ["SELECT", "UPDATE", "SELECT"]


def sent(host, run: str, *events) -> int:
    """Send one batch that goes on with a run, and return how many statements that took."""
    send(host, event(0, "run.started", run=run))
    with statements() as seen:
        send(host, *events)
    assert run_of(host, run).last_sequence == len(events)
    return len(seen)


def test_a_batch_of_many_events_takes_as_many_statements_as_one_of_few(host):
    few = sent(host, "few", *(event(n, run="few") for n in range(1, 3)))
    many = sent(host, "many", *(event(n, run="many") for n in range(1, 60)))

    assert few == many


def test_many_verdicts_are_judged_with_as_many_statements_as_one(host):
    def verdicts(run, count):
        turns = [decided(n, run=run) for n in range(1, 1 + count)]
        said = [verified(count + n, f"{run}-e{n}", "pass", run=run) for n in range(1, 1 + count)]
        return [*turns, *said]

    send(host, *verdicts("first", 1))  # what the host can do is read once
    few = sent(host, "few", *verdicts("few", 1))
    many = sent(host, "many", *verdicts("many", 20))

    assert few == many
