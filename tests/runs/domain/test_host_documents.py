"""What hosts answer, read strictly as JSON and tolerantly as documents."""

import pytest

from runs.domain.host_documents import (
    ListedRun,
    Unreadable,
    document_in,
    log_in,
    log_in_frame,
    major_of,
    runs_in,
)
from runs.domain.limits import Limits
from runs.domain.projection import RunStatus
from runs.domain.refusals import Refused
from runs.domain.sse import Frame
from tests.factories import event
from tests.signing import packed

LIMITS = Limits(batch_events=2)


def log(document, run_id="r-1"):
    raw = document if isinstance(document, bytes) else packed(document)
    return log_in(raw, run_id=run_id, limits=LIMITS)


def frame(data, name="node.started"):
    raw = data if isinstance(data, bytes) else packed(data)
    return log_in_frame(Frame(name, raw, "1"), run_id="r-1", limits=LIMITS)


@pytest.mark.parametrize(
    "tail",
    [
        {},
        {"isComplete": False},
        {"runId": "r-1", "lastEventSeq": 2, "runStatus": "running", "isTerminal": False},
        {"runId": "r-1", "lastSequence": 2, "status": "running", "isTerminal": False},
    ],
)
def test_the_answers_of_both_majors_and_of_live_hosts_hold_events(tail):
    events = [event(n) for n in range(3)]

    found = log({"events": events, **tail})

    assert (list(found.events), found.newest) == (events, 2)
    assert not found.has_bells


def test_a_long_log_is_not_a_batch_that_is_too_long():
    assert len(log({"events": [event(n) for n in range(50)]}).events) == 50


def test_what_a_host_repeats_below_the_cursor_is_passed_over():
    found = log({"events": [event(n) for n in range(5)]})

    assert [each["sequence"] for each in found.above(2)] == [3, 4]
    assert len(found.above(None)) == 5


def test_a_number_under_its_other_name_counts():
    other = event(7) | {"seq": 7}
    del other["sequence"]

    assert log({"events": [other]}).newest == 7


def test_events_of_another_run_are_refused():
    (refused,) = log({"events": [event(0, run="r-2")]}).events

    assert isinstance(refused, Refused)
    assert (refused.reason, refused.run_id) == ("run_id_mismatch", None)


def test_one_bad_event_does_not_cost_the_others():
    good, bad = packed(event(0)), packed(event(1)).replace(b'"r-1-e1"', rb'"\u0000"')

    first, second = log(b'{"events":[' + good + b"," + bad + b"]}").events

    assert first == event(0)
    assert isinstance(second, Refused)
    assert second.reason == "nul_character"


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"[]", b"{}", b'{"events":{}}', b"<html>", b'{"events":[],"events":[{}]}',
        b'{"events":[{}],"a":"\\u0000"}', b"[" * 300,
    ],
)  # fmt: skip
def test_what_is_no_log_is_unreadable(raw):
    with pytest.raises(Unreadable):
        log(raw)


def test_an_event_without_id_or_payload_is_a_bell():
    thin = {"seq": 4, "runId": "r-1", "type": "node.started", "timestamp": "x"}

    found = frame(thin)

    assert (list(found.events), found.has_bells, found.newest) == ([], True, 4)


def test_a_frame_holds_one_event_or_a_batch():
    assert list(frame(event(3)).events) == [event(3)]
    batch = [event(n) for n in range(4)]
    assert list(frame(batch, "batch").events) == batch
    assert list(frame([], "batch").events) == []


def test_a_frame_with_a_snapshot_tells_no_event():
    assert frame({"runId": "r-1", "status": "running"}, "state.snapshot").events == ()


def test_a_fault_in_a_frame_is_the_events_own():
    (refused,) = frame(packed(event(0)).replace(b'"r-1-e0"', rb'"\u0000"')).events

    assert isinstance(refused, Refused)
    assert (refused.reason, refused.pointer) == ("nul_character", "/eventId")


def test_a_frame_that_is_no_json_is_unreadable():
    with pytest.raises(Unreadable):
        frame(b"{")


def test_a_list_of_runs_is_read_and_what_is_no_run_passed_over():
    page = runs_in(
        packed(
            {
                "runs": [
                    {"runId": "a", "status": "completed", "more": 1},
                    {"runId": "acme/" + "x" * 20, "status": "on fire"},
                    {"runId": ""}, {"status": "running"}, "r",
                ],
                "nextCursor": "c-2",
            }
        ),
        limits=LIMITS,
    )  # fmt: skip

    assert page.runs == [
        ListedRun("a", RunStatus.COMPLETED),
        ListedRun("acme/" + "x" * 20, RunStatus.UNKNOWN),
    ]
    assert page.next_cursor == "c-2"


@pytest.mark.parametrize("cursor", [None, 7, "x" * 513])
def test_a_cursor_that_cannot_be_kept_is_none(cursor):
    assert runs_in(packed({"runs": [], "nextCursor": cursor}), limits=LIMITS).next_cursor == ""


def test_a_list_without_runs_is_unreadable():
    with pytest.raises(Unreadable):
        runs_in(b'{"items":[]}', limits=LIMITS)


@pytest.mark.parametrize("raw", [b"[]", b"1", b'{"a":1,"a":2}', b'{"a":"\\ud800"}'])
def test_a_document_is_an_object_that_two_readers_agree_on(raw):
    with pytest.raises(Unreadable):
        document_in(raw)


@pytest.mark.parametrize(
    ("document", "major"),
    [
        ({"protocolVersion": "1.0"}, 1),
        ({"protocolVersion": "1.1"}, 1),
        ({"protocolVersions": ["2.0"], "preferredVersion": "2.0"}, 2),
        ({"protocolVersions": ["1.1", "2.0"], "preferredVersion": "2.0"}, 1),
        ({"protocolVersion": "10.0"}, None),
        ({"protocolVersions": "2.0"}, None),
        ({"protocolVersions": [2]}, None),
        ({}, None),
    ],
)
def test_the_major_is_one_where_a_host_speaks_both(document, major):
    assert major_of(document) == major
