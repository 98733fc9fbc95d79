"""Reading runs from hosts: backfill, gaps, snapshots, streams, and hosts that come back."""

import random
import threading
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from runs import sweeping
from runs.actions import leases
from runs.actions.due import pull_soon
from runs.actions.hosts import advertise
from runs.actions.pulling import look_at_run
from runs.domain.pulling import GIVES_UP_AFTER
from runs.models import (
    CapabilitySnapshot,
    Event,
    Gap,
    Host,
    PulledHost,
    PulledRun,
    Run,
    RunSnapshot,
)
from runs.models import Refusal as Count
from tests.factories import decided, event, run_of, send, verified
from tests.recorded import DIALECTS, Recorded, recorded
from tests.remote import RunningHost
from tests.runs.conftest import due, pull
from tests.runs.test_three_doors import deliver
from tests.runs.v2_host import v2_host

pytestmark = pytest.mark.django_db
DAY_S = 86_400
HOUR_S = 3_600


def longest(dialect):
    return max(recorded(dialect), key=lambda each: len(each.events))


def sequences(host, run_id):
    held = Event.objects.filter(run__host=host, run__run_id=run_id, origin="host")
    return list(held.order_by("sequence").values_list("sequence", flat=True))


def ledger(host, run_id):
    return PulledRun.objects.get(host=host, run_id=run_id)


def look(host, run_id):
    """Look at a run, following it as long as it takes."""
    due(host, run_id)
    taken = leases.take_run_of(host=host.pk, now=timezone.now(), run_id=run_id)
    assert taken is not None
    look_at_run(taken)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_host_is_asked_what_it_can_do_and_its_listed_runs_are_read(remotes, connected, dialect):
    remote = remotes(dialect)
    recording = longest(dialect)
    run = remote.play(recording, "r-1")
    host = connected(remote)
    CapabilitySnapshot.objects.all().delete()

    pull(host)

    document = CapabilitySnapshot.objects.get(host=host, valid_to=None).document
    assert document["implementation"]["name"] == "openwop-console-demo-host"
    assert len(sequences(host, run.run_id)) == len(recording.events)
    assert PulledHost.objects.get(host=host).outcome == "read"


def test_what_a_host_advertises_is_kept_with_the_time_for_which_it_held(connected, db):
    with v2_host() as remote:
        host = connected(remote, api_key="k")
        CapabilitySnapshot.objects.all().delete()
        pull(host)
        pull(host, ahead_s=DAY_S)
        remote.document = remote.document | {"limits": {"maxLoopIterations": 2}}
        pull(host, ahead_s=DAY_S)

    before, now = CapabilitySnapshot.objects.order_by("valid_from")
    assert (before.valid_to, now.valid_to) == (now.valid_from, None)
    assert now.document["limits"] == {"maxLoopIterations": 2}


def test_a_document_that_only_says_when_it_was_written_is_one_snapshot(host):
    first = {"protocolVersion": "1.0", "generatedAt": "2026-11-30T08:00:00Z"}
    CapabilitySnapshot.objects.all().delete()

    told = [advertise(host=host, document=first | {"generatedAt": f"at {n}"}) for n in range(3)]

    assert told == [True, False, False]
    assert CapabilitySnapshot.objects.get().document == first | {"generatedAt": "at 0"}


def test_a_v2_host_is_found_out_and_read_by_its_own_paths(connected):
    bound = "acme/run-0123456789abcdef"
    with v2_host() as remote:
        remote.runs = {f"acme/other-run-{n:012}": [event(0, "run.started")] for n in range(4)}
        remote.runs[bound] = [
            event(0, "run.started", run=bound, schemaVersion=1),
            event(1, "orchestrator.decided", run=bound, schemaVersion=1),
            event(2, "run.completed", run=bound, schemaVersion=1),
        ]
        remote.status[bound] = "completed"
        host = connected(remote, api_key="k")

        pull(host)

    host.refresh_from_db()
    assert host.protocol_major == 2
    assert sequences(host, bound) == [0, 1, 2]
    assert run_of(host, bound).status == "completed"
    assert Event.objects.get(run__run_id=bound, sequence=1).type == "runOrchestrator.decided"
    assert "/runs/acme~2Frun-0123456789abcdef/events/poll?timeout=1" in remote.asked
    assert "/runs?limit=100&cursor=4" in remote.asked


def test_a_v2_cursor_has_its_own_name(connected):
    with v2_host() as remote:
        remote.runs["r-1"] = [event(n) for n in range(3)]
        host = connected(remote, api_key="k")
        Host.objects.filter(pk=host.pk).update(protocol_major=2)
        send(host, event(0), event(1))
        due(host, "r-1")
        pull(host)

    assert "/runs/r-1/events/poll?timeout=1&afterSequence=1" in remote.asked
    assert sequences(host, "r-1") == [0, 1, 2]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_gap_is_filled_whatever_the_host_makes_of_cursors(remotes, connected, dialect):
    remote = remotes(dialect)
    recording = longest(dialect)
    run = remote.play(recording, "r-1")
    host = connected(remote)
    lost = {2, 3, len(run.events) - 2}
    send(host, *(each for n, each in enumerate(run.events) if n not in lost))
    assert Gap.objects.exists()

    due(host, "r-1")
    pull(host)

    assert not Gap.objects.exists()
    assert len(sequences(host, "r-1")) == len(recording.events)


def test_the_first_event_is_not_skipped_by_a_cursor_of_zero(remotes, connected):
    remote = remotes("spec")
    recording = longest("python")
    run = remote.play(recording, "r-1")
    host = connected(remote)
    send(host, *run.events[1:])

    due(host, "r-1")
    pull(host)

    assert sequences(host, "r-1")[0] == 0


@pytest.mark.parametrize("dialect", ["spec", "sqlite", "in-memory", "openwop-app"])
def test_a_run_that_goes_on_is_followed_until_it_ends(remotes, connected, dialect, settings):
    settings.PULL_TAIL_S = 10
    remote = remotes(dialect)
    recording = longest("openwop-app" if dialect == "spec" else dialect)
    run = remote.begin(recording, "r-1")
    remote.go_on(run, recording, 2)
    host = connected(remote)
    numbers = list(range(3, len(recording.events) + 1))

    def play(left):
        remote.go_on(run, recording, left.pop(0))
        if left:
            threading.Timer(0.02, play, [left]).start()

    threading.Timer(0.1, play, [numbers]).start()
    for _ in range(len(numbers)):
        look(host, "r-1")
        if run_of(host, "r-1").is_terminal:
            break

    assert len(sequences(host, "r-1")) == len(recording.events)
    assert not Gap.objects.exists()


def test_following_a_run_takes_one_look_where_the_stream_tells_everything(
    remotes, connected, settings
):
    settings.PULL_TAIL_S = 10
    remote = remotes("spec")
    recording = longest("openwop-app")
    run = remote.begin(recording, "r-1")
    remote.go_on(run, recording, 1)
    host = connected(remote)
    threading.Timer(0.3, remote.go_on, [run, recording]).start()

    look(host, "r-1")

    assert run_of(host, "r-1").is_terminal
    row = ledger(host, "r-1")
    assert (row.next_at, row.settled_with) == (None, len(recording.events))


def test_a_snapshot_is_kept_with_what_the_run_waits_for_and_no_token(connected):
    remote = RunningHost(dialect="openwop-app")
    try:
        run_id = remote.start("captured:openwop-app.approval")
        remote.call("GET", f"/v1/runs/{run_id}/events/poll", params={"timeout": 1})
        host = connected(remote)
        due(host, run_id)
        pull(host)
    finally:
        remote.stop()

    snapshot = RunSnapshot.objects.get(run__run_id=run_id)
    assert (snapshot.status, snapshot.is_beyond_log) == ("waiting-approval", False)
    assert [each["kind"] for each in snapshot.interrupts] == ["approval", "approval"]
    assert snapshot.interrupts[0]["interruptId"]
    said = str(snapshot.interrupts)
    assert "token" not in said.lower()
    assert "callbackUrl" not in said
    assert PulledHost.objects.get(host=host).lists_interrupts is True


def test_what_only_the_snapshot_names_is_found_once_it_is_no_older_than_the_events(connected):
    bound = "acme/run-0123456789abcdef"
    with v2_host() as remote:
        remote.runs[bound] = [event(0, "run.started", run=bound, schemaVersion=1)]
        remote.status[bound] = "waiting-approval"
        remote.told[bound] = {"interrupt": {"nodeId": "review", "kind": "approval"}}
        host = connected(remote, api_key="k")
        Host.objects.filter(pk=host.pk).update(protocol_major=2)
        found = []
        for _ in range(3):
            due(host, bound)
            pull(host)
            found.append(Event.objects.filter(type="console.interrupt.found").count())

    assert found == [0, 1, 1]
    line = Event.objects.get(type="console.interrupt.found")
    assert line.payload == {
        "nodeId": "review", "interruptId": None, "kind": "approval", "atSequence": 0,
    }  # fmt: skip
    run = run_of(host, bound)
    assert (run.status, run.open_escalations) == ("running", 1)


def test_children_and_parents_that_a_snapshot_names_are_read_too(remotes, connected):
    remote = remotes("sqlite")
    parent = remote.play(longest("sqlite"), "parent")
    parent.children = [remote.play(longest("sqlite"), "child")]
    host = connected(remote)
    PulledHost.objects.filter(host=host).update(lists_runs=False)

    due(host, "parent")
    pull(host)

    assert sequences(host, "child")


def test_a_run_that_the_host_calls_ended_and_whose_end_is_missing_says_so(remotes, connected):
    remote = remotes("spec")
    recording = longest("openwop-app")
    run = remote.begin(recording, "r-1")
    remote.go_on(run, recording, 3)
    run.status = "failed"
    host = connected(remote)

    for _ in range(GIVES_UP_AFTER + 1):
        due(host, "r-1")
        pull(host)

    snapshot = RunSnapshot.objects.get()
    assert (snapshot.status, snapshot.is_beyond_log) == ("failed", True)
    line = Event.objects.get(type="console.run.read")
    assert line.payload["status"] == "failed"
    assert run_of(host, "r-1").status == "running"
    assert ledger(host, "r-1").next_at is None


def test_a_status_that_we_do_not_know_is_unknown(remotes, connected):
    remote = remotes("spec")
    run = remote.begin(longest("python"), "r-1")
    remote.go_on(run, longest("python"), 2)
    run.status = "on-fire"
    host = connected(remote)

    for _ in range(2):
        due(host, "r-1")
        pull(host)

    snapshot = RunSnapshot.objects.get()
    assert (snapshot.status, snapshot.status_as_sent) == ("unknown", "on-fire")
    assert snapshot.is_beyond_log


def test_a_host_that_was_away_is_left_alone_and_then_read_to_the_last_event(remotes, connected):
    remote = remotes("spec")
    recording = longest("openwop-app")
    run = remote.begin(recording, "r-1")
    remote.go_on(run, recording, 4)
    host = connected(remote)
    pull(host)
    remote.host.faults.plan({"standing": {"fault": "down", "covers": "all"}})
    remote.go_on(run, recording)

    due(host, "r-1")
    pull(host)
    away = PulledHost.objects.get(host=host)
    assert (away.failures, away.rests_until > timezone.now()) == (1, True)
    assert ledger(host, "r-1").next_at is not None
    due(host, "r-1")
    assert pull(host) == 0  # nothing is asked while it rests

    remote.host.faults.clear()
    pull(host, ahead_s=3600)
    pull(host, ahead_s=7200)

    assert len(sequences(host, "r-1")) == len(recording.events)
    back = PulledHost.objects.get(host=host)
    assert (back.failures, back.rests_until) == (0, None)


def pass_time(host, seconds: float) -> None:
    """Let so much time pass for the ledger of what is read, by dating everything in it back."""
    ago = timedelta(seconds=seconds)
    for model, names in ((PulledHost, ["rests_until"]), (PulledRun, [])):
        moments = ["next_at", "lease_until", *names]
        dated_back = {name: F(name) - ago for name in moments}
        model.objects.filter(host=host).update(**dated_back)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("fault", ["down", "server_error"])
def test_an_hour_away_costs_a_host_a_dozen_requests_and_us_no_event(
    remotes, connected, dialect, fault
):
    remote = remotes(dialect)
    recording = longest(dialect)
    run = remote.begin(recording, "r-1")
    remote.go_on(run, recording, 2)
    host = connected(remote)
    due(host, "r-1")
    pull(host)
    held_before = len(sequences(host, "r-1"))
    remote.host.faults.plan({"standing": {"fault": fault, "covers": "all"}})
    remote.go_on(run, recording)

    passed, looks = 0.0, 0
    while passed < HOUR_S:
        due(host, "r-1")  # somebody rings all the time: it changes nothing
        looks += pull(host)
        if looks == 3:  # the worker is killed in the middle of a look
            PulledRun.objects.update(lease_until=timezone.now() + timedelta(seconds=30), fence=9)
        assert pull(host) == 0
        until = PulledHost.objects.get(host=host).rests_until
        rest_s = max(10.0, (until - timezone.now()).total_seconds() + 1)
        pass_time(host, rest_s)
        passed += rest_s

    assert looks <= 16
    assert PulledHost.objects.get(host=host).failures == looks
    assert len(sequences(host, "r-1")) == held_before < len(recording.events)
    remote.host.faults.clear()
    for _ in range(3):
        pass_time(host, HOUR_S)
        pull(host)
    assert len(sequences(host, "r-1")) == len(recording.events)
    assert not Gap.objects.filter(run__host=host).exists()
    assert PulledHost.objects.get(host=host).failures == 0


def test_rests_grow_with_each_failure_and_heed_what_the_host_asks(remotes, connected):
    remote = remotes("spec")
    host = connected(remote)
    remote.host.faults.plan(
        {"standing": {"fault": "rate_limited", "covers": "all", "retryAfter": 1200}}
    )
    now = timezone.now()

    pull(host)

    row = PulledHost.objects.get(host=host)
    assert row.rests_until - now >= timedelta(seconds=1200)
    assert row.outcome == "answered rate_limited 429"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", ["drops 30 %", "in reverse"])
def test_after_bad_deliveries_nothing_is_missing(remotes, connected, dialect, kind):
    remote = remotes(dialect)
    host = connected(remote)
    chance = random.Random(7)
    for n, recording in enumerate(list(recorded(dialect))[:8]):
        run = remote.play(recording, f"r-{n}")
        events = list(run.events)
        if kind == "in reverse":
            events.reverse()
        else:
            events = [each for each in events if chance.random() > 0.3] or events[-1:]
        deliver(remote, host, run, events)
    PulledHost.objects.filter(host=host).update(next_at=None)  # by bells and gaps alone

    sweeping.make_due(timezone.now() + timedelta(seconds=DAY_S))
    pull(host, ahead_s=DAY_S)

    for n, recording in enumerate(list(recorded(dialect))[:8]):
        assert len(sequences(host, f"r-{n}")) == len(recording.events)
    assert not Gap.objects.filter(run__host=host).exists()


def test_an_event_that_is_refused_leaves_its_gap_and_is_asked_for_less_and_less(remotes, connected):
    remote = remotes("spec")
    events = [event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail", result="CANARY")]
    events += [event(3, "node.completed", nodeId="n1"), event(4, "run.completed")]
    run = remote.begin(Recorded("spec", "leak", "completed", ()), "r-1")
    run.events, run.types, run.status = events, [e["type"] for e in events], "completed"
    host = connected(remote)

    for _ in range(GIVES_UP_AFTER + 2):
        due(host, "r-1")
        pull(host)

    assert sequences(host, "r-1") == [0, 1, 3, 4]
    assert list(Gap.objects.values_list("first", "last")) == [(2, 2)]
    assert run_of(host, "r-1").held
    assert ledger(host, "r-1").next_at is None
    assert Count.objects.filter(host=host, reason="verifier_content_leak").exists()
    assert Event.objects.filter(type="console.verdict.refused").count() == 1


def test_a_run_that_goes_on_is_not_read_from_its_lasting_gap_again_and_again(remotes, connected):
    remote = remotes("spec")
    run = remote.begin(longest("openwop-app"), "r-1")
    run.events = [event(n) for n in (0, 1, 4, 5)]
    run.types = [each["type"] for each in run.events]
    host = connected(remote)
    due(host, "r-1")
    pull(host)
    assert ledger(host, "r-1").not_given == 5

    run.events.append(event(6))
    run.types.append("node.started")
    due(host, "r-1")
    pull(host)

    assert sequences(host, "r-1") == [0, 1, 4, 5, 6]


def test_a_bell_for_a_run_that_the_host_does_not_have_is_given_up(remotes, connected):
    remote = remotes("spec")
    host = connected(remote)

    for _ in range(GIVES_UP_AFTER):
        due(host, "nobody")
        pull(host)

    row = ledger(host, "nobody")
    assert (row.next_at, row.outcome) == (None, "answered run_not_found 404")
    assert PulledHost.objects.get(host=host).failures == 0
    assert not Run.objects.filter(run_id="nobody").exists()


def test_a_bell_that_comes_during_a_look_makes_the_run_due_again(remotes, connected):
    remote = remotes("spec")
    recording = longest("python")
    remote.play(recording, "r-1")
    host = connected(remote)
    due(host, "r-1")
    taken = leases.take_run_of(host=host.pk, now=timezone.now(), run_id="r-1")
    PulledRun.objects.filter(pk=taken.pk).update(rung_at=timezone.now())

    look_at_run(taken)

    assert ledger(host, "r-1").next_at <= timezone.now()


def test_a_verdict_that_was_announced_and_is_not_given_holds_the_run(remotes, connected):
    remote = remotes("sqlite")
    run = remote.begin(longest("sqlite"), "r-1")
    remote.go_on(run, longest("sqlite"), 3)
    host = connected(remote)
    pull_soon(host=host, run_id="r-1", owed_verdict=3, now=timezone.now())
    pull(host)
    assert not run_of(host, "r-1").held  # there was other news: it may still be on its way
    due(host, "r-1")
    pull(host)
    assert run_of(host, "r-1").held

    send(host, decided(2, run="x"), verified(3, "t", "pass", run="r-1"))
    assert not run_of(host, "r-1").held
