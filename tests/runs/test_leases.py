"""Who looks at what: one at a time, a few per host, and never twice with effect."""

from datetime import UTC, datetime, timedelta

import pytest

from runs import sweeping
from runs.actions import leases
from runs.actions.leases import HostLook, RunLook
from runs.actions.outcomes import Ended, end_host, end_run
from runs.domain.pulling import Held, Look, Trouble
from runs.models import Host, PulledHost, PulledRun, ReceivedDelivery, Run
from tests.factories import add_host_named, event, send

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
LATER = timedelta(minutes=10)


@pytest.fixture
def hosts(db):
    """Two hosts with an address, neither due itself."""
    return [pullable(name) for name in ("alpha", "beta")]


def pullable(name):
    host = add_host_named(name, workspace="acme")
    Host.objects.filter(pk=host.pk).update(base_url=f"https://{name}.example")
    PulledHost.objects.create(host=host)
    host.refresh_from_db()
    return host


def run(host, run_id, *, due_s=0, **more):
    at = NOW + timedelta(seconds=due_s)
    return PulledRun.objects.create(host=host, run_id=run_id, next_at=at, **more)


def taken(now=NOW):
    found = leases.take_next(now)
    return found.run_id if isinstance(found, RunLook) else found


def ended(news=0, trouble=None, **more):
    return Ended(Look(Held(last=1), news=news, trouble=trouble, **more), "read")


def test_what_has_been_due_longest_is_taken_first_and_once(hosts):
    run(hosts[0], "second", due_s=-1)
    run(hosts[1], "first", due_s=-2)
    run(hosts[0], "not yet", due_s=1)

    assert [taken(), taken(), taken()] == ["first", "second", None]


def test_a_host_is_taken_once_too(hosts):
    PulledHost.objects.filter(host=hosts[0]).update(next_at=NOW)

    assert isinstance(leases.take_next(NOW), HostLook)
    assert leases.take_next(NOW) is None


def test_only_so_many_runs_of_one_host_are_read_at_once_and_others_have_their_turn(hosts, settings):
    settings.PULL_PER_HOST = 2
    for n in range(50):
        run(hosts[0], f"crowd-{n:02}", due_s=-100)
    run(hosts[1], "alone")

    assert [taken(), taken(), taken(), taken()] == ["crowd-00", "crowd-01", "alone", None]
    assert leases.crowded_hosts(NOW) == {hosts[0].pk}


def test_a_host_in_trouble_rests_and_is_then_tried_by_one(hosts):
    for n in range(3):
        run(hosts[0], f"r-{n}")
    resting = NOW + timedelta(seconds=30)
    PulledHost.objects.filter(host=hosts[0]).update(failures=3, rests_until=resting)

    assert taken() is None
    assert [taken(resting), taken(resting)] == ["r-0", None]


def test_a_host_without_an_address_is_not_read(hosts):
    run(hosts[0], "r")
    Host.objects.filter(pk=hosts[0].pk).update(base_url="")

    assert taken() is None


def test_a_lease_that_ran_out_is_taken_again_and_the_dead_one_changes_nothing(hosts):
    run(hosts[0], "r")
    lost = leases.take_run_of(host=hosts[0].pk, now=NOW)
    assert taken(NOW + leases.lease_time() - timedelta(seconds=1)) is None

    again = leases.take_run_of(host=hosts[0].pk, now=NOW + leases.lease_time())
    assert (again.run_id, again.fence) == ("r", lost.fence + 1)

    end_run(lost, ended(news=5), now=NOW + LATER)
    row = PulledRun.objects.get()
    assert (row.fence, row.looked_at) == (again.fence, None)
    assert row.lease_until is not None

    end_run(again, ended(news=5), now=NOW + LATER)
    row.refresh_from_db()
    assert (row.lease_until, row.looked_at) == (None, NOW + LATER)


def test_a_dead_look_at_a_host_changes_nothing_either(hosts):
    PulledHost.objects.filter(host=hosts[0]).update(next_at=NOW)
    lost = leases.take_host(host=hosts[0].pk, now=NOW)
    again = leases.take_host(host=hosts[0].pk, now=NOW + LATER)

    end_host(lost, outcome="late", now=NOW + LATER)
    assert PulledHost.objects.get(host=hosts[0]).outcome == ""
    end_host(again, outcome="read", now=NOW + LATER)
    assert PulledHost.objects.get(host=hosts[0]).outcome == "read"


def test_looks_that_fail_side_by_side_count_once(hosts):
    for n in range(3):
        run(hosts[0], f"r-{n}")
    looks = [leases.take_run_of(host=hosts[0].pk, now=NOW) for _ in range(3)]

    for each in looks:
        end_run(each, ended(trouble=Trouble.HOST), now=NOW + timedelta(seconds=1))

    row = PulledHost.objects.get(host=hosts[0])
    assert row.failures == 1
    assert row.rests_until > NOW


def test_one_answer_ends_the_rest_of_a_host(hosts):
    run(hosts[0], "r")
    look = leases.take_run_of(host=hosts[0].pk, now=NOW)
    PulledHost.objects.filter(host=hosts[0]).update(failures=4, rests_until=NOW + LATER)

    end_run(look, ended(news=1), now=NOW)

    row = PulledHost.objects.get(host=hosts[0])
    assert (row.failures, row.rests_until) == (0, None)


def sweep():
    sweeping.make_due(NOW)
    return set(PulledRun.objects.filter(next_at__lte=NOW).values_list("run_id", flat=True))


def heard(host, run_id, *events, ago_s=3600):
    send(host, *(event(*each, run=run_id) for each in events))
    Run.objects.filter(run_id=run_id).update(last_event_at=NOW - timedelta(seconds=ago_s))


def test_the_sweep_finds_gaps_and_silence_and_leaves_the_rest(hosts, settings):
    settings.PULL_GAP_S, settings.PULL_SILENT_S = 5, 60
    host, _ = hosts
    elsewhere = add_host_named("without address", workspace="acme")
    whole = [(0, "run.started"), (1, "run.completed")]
    heard(host, "gap", (0, "run.started"), (2, "run.completed"), ago_s=6)
    heard(host, "gap just now", (0, "run.started"), (2, "run.completed"), ago_s=1)
    heard(host, "silent", (0, "run.started"), ago_s=61)
    heard(host, "busy", (0, "run.started"), ago_s=1)
    heard(host, "whole", *whole)
    heard(elsewhere, "not to be had", (0, "run.started"))

    assert sweep() == {"gap", "silent"}


def test_the_sweep_leaves_alone_what_is_settled_until_more_is_heard(hosts):
    host, _ = hosts
    heard(host, "gap", (0, "run.started"), (2, "run.completed"))
    PulledRun.objects.create(host=host, run_id="gap", settled_with=2)

    assert sweep() == set()
    heard(host, "gap", (5, "node.completed"))
    assert sweep() == {"gap"}


def test_the_sweep_does_not_hurry_what_has_its_time(hosts):
    host, _ = hosts
    heard(host, "gap", (0, "run.started"), (2, "run.completed"))
    run(host, "gap", due_s=300)

    assert sweep() == set()


def test_the_sweep_begins_to_read_a_host_that_is_new(db):
    host = add_host_named("new", workspace="acme")
    Host.objects.filter(pk=host.pk).update(base_url="https://new.example")
    add_host_named("no address", workspace="acme")

    sweeping.make_due(NOW)

    assert PulledHost.objects.get().host == host
    assert sweeping.is_anything_due(NOW)


def test_nothing_is_made_due_where_reading_is_turned_off(hosts, settings):
    settings.PULL = False
    heard(hosts[0], "gap", (0, "run.started"), (2, "run.completed"))

    sweeping.sweep(NOW)

    assert not PulledRun.objects.exists()


def test_old_evidence_is_dropped(hosts):
    for days in (1, 31):
        at = NOW - timedelta(days=days)
        ReceivedDelivery.objects.create(
            host=hosts[0], body_sha256=bytes([days]) * 32, spelling="x", outcome="bell", at=at,
            last_at=at,
        )  # fmt: skip

    sweeping.sweep(NOW)

    assert ReceivedDelivery.objects.get().at == NOW - timedelta(days=1)
