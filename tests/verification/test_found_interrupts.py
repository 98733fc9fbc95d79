"""A host that waits for a person without a word of it in its log: somebody learns of it."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from runs.actions.hosts import connect_host
from runs.actions.leases import take_run_of
from runs.actions.reading_runs import keep_snapshot, read_snapshot
from runs.domain.limits import Limits
from runs.domain.snapshots import snapshot_of
from runs.models import Event, RunSnapshot
from runs.reading import reader_of
from tests.factories import decided, event, run_of, send
from tests.remote import CAPTURED, RunningHost
from tests.runs.conftest import due
from tests.system.running import eventually
from verification import situations
from verification.actions import deliveries, escalations, learning
from verification.domain.decisions import Action, Decision
from verification.models import Escalation

pytestmark = pytest.mark.django_db

PAUSE = {"nodeId": "review", "kind": "approval", "data": {"title": "CANARY"}}
WAITS = {"status": "waiting-approval", "interrupt": PAUSE}
GOES_ON = {"status": "running"}


@pytest.fixture
def run(host):
    send(host, event(0, "run.started"), decided(1))
    return lambda: run_of(host)


def told(host, document, *, is_fresh=True, is_caught_up=True):
    keep_snapshot(
        run_of(host),
        snapshot_of(document, Limits()),
        is_caught_up=is_caught_up,
        is_fresh=is_fresh,
        now=timezone.now() + timedelta(seconds=1),
    )


def asked() -> list[tuple[str, str, str]]:
    rows = Escalation.objects.waiting().order_by("pk")
    return [(each.reason, each.interrupt["nodeId"], each.interrupt["kind"]) for each in rows]


def found() -> list[str]:
    lines = Event.objects.filter(type__startswith="console.interrupt.").order_by("position")
    return [f"{each.type.removeprefix('console.interrupt.')} {each.payload}" for each in lines]


def test_a_person_is_asked_where_the_host_names_what_it_waits_for_and_its_log_does_not(host, run):
    told(host, WAITS)

    assert asked() == [("interrupt", "review", "approval")]
    assert (run().status, run().open_escalations) == ("running", 1)
    assert "CANARY" not in str(list(Event.objects.values()))
    assert "CANARY" not in str(list(Escalation.objects.values()))


def test_a_host_that_says_so_again_asks_nobody_twice(host, run):
    for _ in range(2):
        told(host, WAITS)
    send(host, event(2, "log.appended"))
    told(host, WAITS)

    assert len(found()) == 1
    assert Escalation.objects.count() == 1


def test_what_the_log_says_too_is_asked_once_whichever_says_it_first(host, run):
    suspended = event(2, "node.suspended", payload={"kind": "approval"}, nodeId="review")
    told(host, WAITS)
    send(host, suspended)
    first = Escalation.objects.get()
    send(host, suspended | {"sequence": 3, "eventId": "again"})
    told(host, WAITS)

    assert (len(found()), Escalation.objects.get().pk) == (1, first.pk)
    send(host, event(4, "node.resumed", nodeId="review"))
    assert asked() == []


def test_nobody_is_asked_what_the_log_explains(host, run):
    send(host, event(2, "node.suspended", payload={"kind": "approval"}, nodeId="review"))
    told(host, WAITS)

    assert found() == []
    assert len(asked()) == 1


def test_it_is_closed_when_the_host_names_it_no_more(host, run):
    told(host, WAITS)
    told(host, GOES_ON)
    told(host, GOES_ON)

    assert asked() == []
    assert Escalation.objects.get().closed_because == "interrupt_closed"
    assert [each.split()[0] for each in found()] == ["found", "gone"]
    told(host, WAITS)
    assert len(asked()) == 1


def test_what_the_log_shows_open_stays_open_whatever_a_snapshot_leaves_out(host, run):
    send(host, event(2, "node.suspended", payload={"kind": "approval"}, nodeId="gate"))
    told(host, WAITS)
    told(host, GOES_ON)

    assert [node for _, node, _ in asked()] == ["gate"]


def test_two_pauses_of_one_node_are_told_apart_by_their_ids(host, run):
    told(host, WAITS | {"interrupt": PAUSE | {"interruptId": "i-1"}})
    told(host, WAITS | {"interrupt": PAUSE | {"interruptId": "i-2"}})

    assert [each.interrupt["interruptId"] for each in Escalation.objects.waiting()] == ["i-2"]
    assert Escalation.objects.count() == 2


@pytest.mark.parametrize(
    "document",
    [
        {"status": "waiting-approval", "currentNodeId": "review"},
        {"status": "waiting-approval", "interrupt": {"kind": "approval"}},
        {"status": "waiting-approval", "interrupt": {"nodeId": "review"}},
        {"status": "running", "interrupt": PAUSE},
        {"status": "completed", "interrupt": PAUSE},
    ],
)
def test_nobody_is_asked_where_the_host_does_not_say_what_for(host, run, document):
    told(host, document)

    assert asked() == []


def test_nobody_is_asked_while_events_came_that_the_snapshot_did_not_know(host, run):
    told(host, WAITS, is_fresh=False)

    assert asked() == []


def test_events_that_are_missing_keep_nobody_from_being_asked(host, run):
    send(host, event(9, "log.appended"))
    told(host, WAITS, is_caught_up=False)

    assert asked() == [("interrupt", "review", "approval")]


def test_the_end_of_the_run_ends_it(host, run):
    told(host, WAITS)
    send(host, event(2, "run.cancelled"))
    told(host, WAITS)

    assert asked() == []
    assert len(found()) == 1


def test_an_unsure_result_and_the_pause_it_led_to_are_one_matter(host, run):
    unsure = {"agentId": "worker-1", "decision": {"kind": "answer"}, "confidence": 0.2}
    send(host, event(2, "agent.decided", nodeId="review", payload=unsure))
    told(host, {"status": "waiting-approval", "interrupt": PAUSE | {"kind": "low-confidence"}})

    assert asked() == [("low_confidence", "review", "low-confidence")]


def test_a_word_of_the_host_that_is_no_kind_is_kept_nowhere(host, run):
    told(host, WAITS | {"interrupt": PAUSE | {"kind": "Pay Mr CANARY?"}})

    assert asked() == [("interrupt", "review", "custom")]
    assert "CANARY" not in str(list(Event.objects.values()))


def test_a_judgement_that_fails_holds_the_run_and_is_made_later(host, run, monkeypatch):
    def fails(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr("verification.actions.judge.settle_escalations", fails)
    told(host, WAITS)
    assert (run().held, asked()) == (True, [])
    monkeypatch.undo()

    send(host, event(2, "run.paused"))
    assert (run().held, asked()) == (False, [("interrupt", "review", "approval")])
    positions = Event.objects.order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(1, len(positions) + 1))


def test_the_page_says_that_the_host_waits_and_leads_to_the_matter(host, run, client, ada):
    told(host, WAITS)
    client.force_login(ada)
    page = client.get("/runs/alpha/r-1").text

    assert "the run is waiting-approval, at review (approval). Its events do not say so." in page
    assert f"/queue/{Escalation.objects.get().pk}" in page
    assert "The host waits, which no event says: approval, at review" in page
    assert client.get(f"/queue/{Escalation.objects.get().pk}").status_code == 200


@pytest.fixture(scope="module")
def remotes():
    running: dict[str, RunningHost] = {}

    def remote(dialect: str) -> RunningHost:
        if dialect not in running:
            running[dialect] = RunningHost(dialect=dialect)
        return running[dialect]

    yield remote
    for each in running.values():
        each.stop()


def connect(host, remote) -> None:
    connect_host(host_id=host.slug, base_url=remote.url, api_key=remote.options.api_key)
    host.refresh_from_db()


def bring(remote, host, run_id: str, but: str = "") -> None:
    """Bring in the events of a run, without those of a type that its log should not have."""
    poll = remote.call("GET", f"/v1/runs/{run_id}/events/poll", params={"timeout": 1})
    send(host, *(each for each in poll["events"] if each["type"] != but))


def waiting(remote, host, name: str, but: str = "") -> str:
    """Start a recorded run, bring its events in once it waits, and read its snapshot."""
    run_id = remote.start(f"captured:{name}")
    eventually(
        lambda: remote.call("GET", f"/v1/runs/{run_id}")["status"].startswith("waiting"),
        within_s=20,
    )
    bring(remote, host, run_id, but)
    due(host, run_id)
    taken = take_run_of(host=host.pk, now=timezone.now(), run_id=run_id)
    snapshot = read_snapshot(reader_of(host), taken)
    run = run_of(host, run_id)
    keep_snapshot(run, snapshot, is_caught_up=True, is_fresh=True, now=timezone.now())
    assert RunSnapshot.objects.get(run=run).status.startswith("waiting")
    return run_id


def test_it_is_answered_at_the_host_like_any_other(host, remotes, ada, settings):
    settings.UNDO_S = 0
    remote = remotes("openwop-app")
    connect(host, remote)
    run_id = waiting(remote, host, "openwop-app.approval", but="node.suspended")
    matter = Escalation.objects.get()
    learning.learn(escalation=matter.pk)
    matter.refresh_from_db()
    offered = situations.choices_of(matter, situations.interrupt_of(matter))
    assert Action.ACCEPT in {each.action for each in offered}

    seen = escalations.view_of(escalations.claim(escalation=matter.pk, by=ada))
    said = escalations.resolve(
        escalation=matter.pk, by=ada, decision=Decision(Action.ACCEPT), seen=seen
    )
    deliveries.attempt(delivery=said.delivery.pk)
    said.delivery.refresh_from_db()
    assert said.delivery.state == "accepted"
    for _ in range(20):
        bring(remote, host, run_id, but="node.suspended")
        if run_of(host, run_id).is_terminal:
            break
    said.delivery.refresh_from_db()
    assert said.delivery.effect_position is not None
    assert not Escalation.objects.waiting().exists()


@pytest.mark.parametrize("name", sorted(each.stem for each in Path(CAPTURED).glob("*.json")))
def test_of_no_recorded_run_is_anything_found_that_its_log_shows(host, remotes, name):
    remote = remotes(name.partition(".")[0])
    connect(host, remote)

    waiting(remote, host, name)

    assert found() == []
