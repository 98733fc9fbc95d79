"""A run's log as it grows: streams that resume, polls that wait, ends that are seen."""

import json
import threading

import pytest

from openwop_console.demo.dialects import DIALECTS
from openwop_console.demo.engine import Pace

APPROVAL = "captured:postgres.approval"
ACCEPT = {"action": "accept"}


def items(text: str) -> list[dict[str, str]]:
    """The items of a stream, comments left out."""
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]


def stream(caller, run_id: str, mode: str = "debug", after: int | None = None) -> str:
    """The whole stream of a run that ends."""
    headers = {"accept": "text/event-stream"}
    if after is not None:
        headers["last-event-id"] = str(after)
    answer = caller.http.get(
        f"/v1/runs/{run_id}/events", params={"streamMode": mode}, headers=headers
    )
    assert answer.headers["content-type"] == "text/event-stream"
    return answer.text


def test_a_stream_has_every_event_and_closes_after_the_last(caller):
    run_id = caller.start("contract-summary")

    told = items(stream(caller, run_id))

    events = caller.events(run_id)
    assert [int(item["id"]) for item in told] == [event["sequence"] for event in events]
    assert [item["event"] for item in told] == [event["type"] for event in events]
    assert [json.loads(item["data"]) for item in told] == events
    assert told[-1]["event"] == "run.completed"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_resumes_after_the_last_event_seen(caller_for, dialect):
    caller = caller_for(dialect)
    run_id = caller.start("contract-summary")
    caller.until_ended(run_id)
    events = caller.events(run_id)
    seen = events[5]["sequence"]

    told = items(stream(caller, run_id, after=seen))

    first = events[0]["sequence"] if dialect == "in-memory" else seen + 1
    assert [int(item["id"]) for item in told] == list(range(first, events[-1]["sequence"] + 1))


def test_a_stream_that_was_opened_early_sees_what_comes_later(caller):
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)
    heard: list[str] = []
    is_open = threading.Event()

    def listen() -> None:
        with caller.http.stream("GET", f"/v1/runs/{run_id}/events?streamMode=debug") as answer:
            for line in answer.iter_lines():
                is_open.set()
                heard.append(line)

    listener = threading.Thread(target=listen)
    listener.start()
    assert is_open.wait(30)
    caller.resolve(run_id, "gate", ACCEPT)
    listener.join(30)

    assert not listener.is_alive()
    assert "event: run.completed" in heard


def test_a_silent_stream_sends_comments(caller_for):
    caller = caller_for(heartbeat_s=0.02)
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)

    with caller.http.stream("GET", f"/v1/runs/{run_id}/events?streamMode=debug") as answer:
        comment = next(line for line in answer.iter_lines() if line.startswith(":"))

    assert comment == ": keep-alive"


def test_the_default_mode_leaves_out_what_a_verdict_view_needs(caller):
    run_id = caller.start("contract-summary")
    caller.until_ended(run_id)

    told = {item["event"] for item in items(stream(caller, run_id, "updates"))}

    assert "node.completed" in told
    assert not [name for name in told if name.startswith(("agent.", "runOrchestrator."))]


def test_a_mixed_mode_names_the_mode(caller):
    run_id = caller.start("contract-summary")
    caller.until_ended(run_id)

    told = {item["event"] for item in items(stream(caller, run_id, "updates,debug"))}

    assert told == {"updates", "debug"}


def test_values_begin_with_the_state(caller):
    run_id = caller.start("contract-summary")
    caller.until_ended(run_id)

    first, *rest = items(stream(caller, run_id, "values"))

    assert first["event"] == "state.snapshot"
    assert json.loads(first["data"])["status"] == "completed"
    assert [item["event"] for item in rest] == ["run.started", "run.completed"]


@pytest.mark.parametrize("mode", ["bogus", "values,debug", ""])
def test_a_mode_that_does_not_exist_is_refused(caller, mode):
    run_id = caller.start("contract-summary")

    answer = caller.http.get(f"/v1/runs/{run_id}/events", params={"streamMode": mode})

    assert answer.status_code == 400
    assert answer.json()["error"] == "unsupported_stream_mode"
    assert answer.json()["details"]["supported"] == ["values", "updates", "messages", "debug"]


def test_the_in_memory_host_streams_short_items_in_any_mode(caller_for):
    caller = caller_for("in-memory")
    run_id = caller.start("contract-summary")

    first = json.loads(items(stream(caller, run_id, "bogus"))[0]["data"])

    assert set(first) == {"seq", "runId", "type", "timestamp"}


def test_openwop_app_opens_its_stream_with_a_comment(caller_for):
    caller = caller_for("openwop-app")
    run_id = caller.start("contract-summary")

    assert stream(caller, run_id, "messages") == ": open\n\n"


def test_a_poll_starts_after_its_cursor(caller):
    run_id = caller.start("contract-summary")
    caller.until_ended(run_id)
    events = caller.events(run_id)

    def polled(last: int | None) -> dict:
        params = {} if last is None else {"lastSequence": last}
        return caller.http.get(f"/v1/runs/{run_id}/events/poll", params=params).json()

    assert polled(None)["events"] == events
    assert polled(0)["events"] == events[1:]
    assert polled(-1)["events"] == events
    assert polled(10_000) == {"events": [], "isComplete": True}


def test_a_poll_waits_for_news(caller):
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)
    last = caller.events(run_id)[-1]["sequence"]
    got: list[dict] = []

    def wait() -> None:
        params = {"lastSequence": last, "timeout": 10}
        got.append(caller.http.get(f"/v1/runs/{run_id}/events/poll", params=params).json())

    waiter = threading.Thread(target=wait)
    waiter.start()
    caller.resolve(run_id, "gate", ACCEPT)
    waiter.join(30)

    assert got[0]["events"][0]["sequence"] == last + 1


def test_a_poll_gives_up_when_its_time_is_over(caller):
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)

    params = {"lastSequence": 1000, "timeout": 0}
    answer = caller.http.get(f"/v1/runs/{run_id}/events/poll", params=params)

    assert answer.json() == {"events": [], "isComplete": False}


@pytest.mark.parametrize("query", ["timeout=61", "timeout=-1", "timeout=x", "lastSequence=x"])
def test_a_poll_that_makes_no_sense_is_refused(caller, query):
    run_id = caller.start("contract-summary")

    assert caller.http.get(f"/v1/runs/{run_id}/events/poll?{query}").status_code == 400


@pytest.mark.parametrize(
    ("dialect", "tail"),
    [
        ("spec", {"isComplete"}),
        ("postgres", {"isComplete"}),
        ("openwop-app", {"isComplete"}),
        ("sqlite", {"runId", "lastEventSeq", "runStatus", "isTerminal"}),
        ("in-memory", {"runId", "lastEventSeq", "runStatus", "isTerminal"}),
        ("python", {"runId", "lastEventSeq", "runStatus", "isTerminal", "isComplete"}),
    ],
)
def test_each_host_ends_its_polls_in_its_own_words(caller_for, dialect, tail):
    caller = caller_for(dialect)
    run_id = caller.start("contract-summary")
    caller.until_ended(run_id)

    body = caller.http.get(f"/v1/runs/{run_id}/events/poll").json()

    assert set(body) == tail | {"events"}
    if dialect == "python":
        assert (body["isComplete"], body["isTerminal"]) == (False, True)


def test_a_reader_who_hangs_up_is_let_go(caller_for):
    caller = caller_for(pace=Pace(beat_s=30.0))
    run_id = caller.start("contract-summary")

    with caller.http.stream("GET", f"/v1/runs/{run_id}/events") as answer:
        assert answer.status_code == 200

    assert caller.snapshot(run_id)["status"] == "running"
