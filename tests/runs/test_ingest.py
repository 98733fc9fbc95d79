"""Ingest through its one function, against a real PostgreSQL."""

import gzip
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.actions.ingest import Body, ingest
from runs.models import Event, Gap, Run
from runs.models import Refusal as Count
from runs.refusal import Refusal
from tests.factories import decided, event, run_of, send, verified

pytestmark = pytest.mark.django_db


def post(host, document, content_type="application/json", **more):
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    return ingest(host=host, body=Body(raw, content_type, **more))


def test_a_first_event_creates_its_run(host):
    receipt = post(host, event(0, "run.started", payload={"workflowId": "wf"}))

    assert receipt.status == 201
    run = run_of(host)
    assert (run.status, run.workflow_id, run.event_count) == ("running", "wf", 1)


def test_the_same_event_again_is_counted_and_not_stored(host):
    post(host, event(0))
    receipt = post(host, event(0))

    assert (receipt.status, receipt.duplicates) == (200, 1)
    assert Event.objects.count() == 1


@pytest.mark.parametrize("wrap", [lambda events: {"events": events}, lambda events: events])
def test_a_batch_may_be_wrapped_or_bare(host, wrap):
    receipt = post(host, wrap([event(0), event(1)]))

    assert (receipt.status, receipt.accepted) == (200, 2)
    assert receipt.runs == [{"runId": "r-1", "lastSequence": 1, "lastPosition": 2}]


def test_lines_of_json_are_a_batch(host):
    raw = b"\n".join(json.dumps(event(n)).encode() for n in range(3))

    assert post(host, raw, "application/x-ndjson").accepted == 3


def test_a_body_may_be_packed(host):
    raw = gzip.compress(json.dumps(event(0)).encode())

    assert post(host, raw, content_encoding="gzip").status == 201


def test_good_events_of_a_batch_are_stored_and_bad_ones_listed(host):
    receipt = post(host, [event(0), event(-1), event(1)])

    assert (receipt.status, receipt.accepted) == (207, 2)
    (bad,) = receipt.rejected
    assert (bad["index"], bad["error"], bad["details"]["pointer"]) == (
        1, "validation_error", "/sequence",
    )  # fmt: skip


def test_what_is_unreadable_is_refused_whole_and_counted(host):
    with pytest.raises(Refusal) as refused:
        post(host, b'{"runId": ')

    assert refused.value.status == 400
    assert not Run.objects.exists()
    assert Count.objects.get(host=host).count == 1


def test_a_refusal_never_repeats_what_was_sent(host):
    with pytest.raises(Refusal) as refused:
        post(host, event(0, eventId="CANARY " * 60))

    assert "CANARY" not in json.dumps(refused.value.body())


def test_positions_follow_arrival_without_gaps_and_places_follow_the_sequence(host):
    send(host, event(5), event(2))
    send(host, event(0))

    rows = Event.objects.order_by("position").values_list("position", "place")
    assert list(rows) == [(1, 5), (2, 2), (3, 0)]


def test_missing_sequences_are_kept_as_ranges_until_they_arrive(host):
    send(host, event(0), event(4))
    assert list(Gap.objects.values_list("first", "last")) == [(1, 3)]

    send(host, event(2))
    assert list(Gap.objects.order_by("first").values_list("first", "last")) == [(1, 1), (3, 3)]

    send(host, event(1), event(3))
    assert not Gap.objects.exists()


def test_a_host_may_count_from_one(host):
    send(host, event(2), event(3))
    assert list(Gap.objects.values_list("first", "last")) == [(0, 1)]

    send(host, event(1, "run.started"))
    assert not Gap.objects.exists()


def test_the_same_id_with_another_body_is_a_conflict_that_holds_the_run(host):
    send(host, decided(0), verified(1, "r-1-e0", "fail"))
    with pytest.raises(Refusal) as refused:
        post(host, verified(1, "r-1-e0", "pass"))

    assert (refused.value.status, refused.value.error) == (409, "version_conflict")
    kept = Event.objects.get(event_id="r-1-e1")
    assert kept.payload["verdict"] == "fail"
    marker = Event.objects.get(type="console.event.conflicted")
    assert marker.payload["heldDigest"] == bytes(kept.digest).hex()
    assert marker.payload["offeredDigest"] != marker.payload["heldDigest"]


def test_a_conflict_that_is_sent_again_leaves_one_marker(host):
    send(host, event(0))
    for _ in range(3):
        with pytest.raises(Refusal):
            post(host, event(0, payload={"other": True}))

    assert Event.objects.filter(type="console.event.conflicted").count() == 1


def test_a_verdict_with_an_extra_key_is_refused_and_leaves_a_marker_without_content(host):
    leaking = verified(1, "r-1-e0", "fail", result="CANARY-7f3")
    receipt = send(host, decided(0), leaking)

    assert receipt.rejected[0]["details"]["reason"] == "verifier_content_leak"
    marker = Event.objects.get(type="console.verdict.refused")
    assert marker.payload["eventId"] == "r-1-e1"
    assert "CANARY" not in json.dumps(list(Event.objects.values_list("payload", flat=True)))


def test_a_refused_verdict_is_marked_even_when_it_is_the_first_thing_heard_of_its_run(host):
    with pytest.raises(Refusal):
        post(host, verified(1, "r-1-e0", "fail", result="x"))

    assert run_of(host).marked_lines == 1


def test_two_hosts_may_have_runs_of_the_same_id(host, other_host):
    send(host, event(0, "run.started"))
    send(other_host, event(0, "run.completed"))

    assert (run_of(host).status, run_of(other_host).status) == ("running", "completed")


@pytest.fixture(scope="module")
def story():
    run = "r-p"
    return [
        event(0, "run.started", run=run, payload={"workflowId": "wf"}),
        decided(1, run=run),
        event(2, "node.suspended", run=run, nodeId="ask", payload={"kind": "approval"}),
        event(3, "node.resumed", run=run, nodeId="ask"),
        event(5, "node.completed", run=run, nodeId="n1"),
        event(7, "run.completed", run=run),
    ]


@given(data=st.data())
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_any_order_repetition_and_batching_ends_in_the_same_run(host, story, data):
    """Each example is a run of its own, so that one database serves them all."""
    arrivals = data.draw(st.permutations(story * 2))
    run = f"r-{Run.objects.count()}-{random.randrange(10**9)}"
    renamed = [each | {"runId": run, "eventId": f"{run}-{each['sequence']}"} for each in arrivals]
    while renamed:
        size = data.draw(st.integers(1, len(renamed)))
        send(host, *renamed[:size])
        renamed = renamed[size:]

    found = run_of(host, run)
    assert (found.status, found.outcome, found.event_count) == ("completed", "ended", 6)
    assert list(found.gaps.order_by("first").values_list("first", "last")) == [(4, 4), (6, 6)]
    lines = Event.objects.filter(run=found, origin="host").order_by("sequence")
    held = lines.values_list("sequence", flat=True)
    assert list(held) == [0, 1, 2, 3, 5, 7]
