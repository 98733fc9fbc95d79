"""What a verified body tells: an event, a bell, a challenge, or nothing."""

import json

import pytest

from runs.domain.limits import Limits
from runs.domain.refusals import BodyRefused, Refused
from runs.domain.webhook_bodies import Bell, Challenge, Told, delivery_of
from tests.signing import packed

LIMITS = Limits()
EVENT = {
    "eventId": "e-1",
    "runId": "run-1",
    "type": "node.completed",
    "payload": None,
    "timestamp": "2026-11-30T08:00:00Z",
    "sequence": 4,
}
BARE_BELL = {"seq": 4, "runId": "run-1", "type": "node.completed", "nodeId": None}


def told(document):
    return delivery_of(document if isinstance(document, bytes) else packed(document), LIMITS)


def refused(document):
    with pytest.raises(BodyRefused) as error:
        told(document)
    return error.value.reason, error.value.pointer


@pytest.mark.parametrize(
    "body",
    [
        EVENT,
        {"runId": "run-1", "workspaceId": "w", "event": EVENT},
        {"runId": "run-1", "event": EVENT},
        {"specversion": "1.0", "id": "other", "type": "dev.openwop.event.x", "data": EVENT},
    ],
)
def test_an_event_may_be_bare_wrapped_or_in_a_cloud_event(body):
    assert told(body) == Told(EVENT, "run-1", 4)


def test_a_bare_event_may_have_a_key_called_event():
    document = EVENT | {"event": "of the vendor"}

    assert told(document) == Told(document, "run-1", 4)


@pytest.mark.parametrize("lacking", ["eventId", "payload"])
@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: {"runId": "run-1", "event": e}])
def test_without_id_or_payload_it_is_a_bell(lacking, wrap):
    thin = {key: value for key, value in EVENT.items() if key != lacking}

    assert told(wrap(thin)) == Bell("run-1", 4, may_be_verdict=False)


def test_a_bell_of_the_reference_hosts_is_understood():
    assert told(BARE_BELL) == Bell("run-1", 4, may_be_verdict=False)
    assert told(BARE_BELL | {"seq": -1}) == Bell("run-1", None, may_be_verdict=False)


@pytest.mark.parametrize("name", ["agent.verified", "runOrchestrator.decided", "Agent.verified"])
def test_a_bell_says_whether_it_could_be_a_verdict(name):
    assert told(BARE_BELL | {"type": name}).may_be_verdict


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{", ("json_invalid", "")),
        (b"\xff", ("json_encoding", "")),
        (b"[]", ("json_not_object", "")),
        ({"event": EVENT}, ("required", "/runId")),
        ({"runId": "other", "event": EVENT}, ("run_id_mismatch", "/runId")),
        ({"runId": "run-1", "event": "x"}, ("type", "/event")),
        ({"specversion": "1.0"}, ("required", "/data")),
        ({"seq": 4}, ("required", "/runId")),
        ({"seq": 4, "runId": ""}, ("schema", "/runId")),
        ({"seq": 4, "runId": 7}, ("type", "/runId")),
        (b'{"runId":"a","runId":"b","event":{}}', ("json_duplicate_key", "")),
    ],
)
def test_what_tells_nothing_is_refused(body, expected):
    assert refused(body) == expected


@pytest.mark.parametrize("around", ["%s", '{"runId":"run-1","event":%s}'])
def test_a_fault_inside_the_event_is_the_events_own(around):
    event = json.dumps(EVENT | {"type": "agent.verified"})
    doubled = event.replace('"payload": null', '"payload": 1, "payload": {"verdict":"pass"}')

    found = told((around % doubled).encode())

    assert isinstance(found.item, Refused)
    assert (found.item.reason, found.item.holds) == ("json_duplicate_key", True)
    assert found.run_id == "run-1"


def test_the_event_may_nest_as_deep_in_a_wrapper_as_alone():
    deep: object = "x"
    for _ in range(LIMITS.depth - 1):
        deep = [deep]
    event = EVENT | {"payload": deep}

    assert told({"runId": "run-1", "event": event}).item == event
    deeper = told({"runId": "run-1", "event": EVENT | {"payload": [deep]}}).item
    assert isinstance(deeper, Refused)
    assert deeper.reason == "json_too_deep"


def test_a_challenge_is_a_word_to_repeat():
    assert told({"type": "webhook.verification", "challenge": "abc"}) == Challenge("abc")


@pytest.mark.parametrize(
    "body", [{"challenge": 7}, {"challenge": ""}, {"challenge": "x" * 513}, {"challenge": "a\nb"}]
)
def test_what_is_no_word_is_no_challenge(body):
    assert refused(body) == ("required", "/runId")


def test_an_event_with_a_challenge_in_it_is_an_event():
    assert isinstance(told(EVENT | {"challenge": "abc"}), Told)
