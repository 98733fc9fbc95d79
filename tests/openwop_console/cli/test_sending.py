"""Lines reach a Console as they are, once or more, and are counted once."""

import json
from collections import Counter

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openwop_console.cli.sending import (
    BYTES_AT_ONCE,
    LINES_AT_ONCE,
    Refusal,
    Sender,
    SendingStopped,
    batches,
)


class Console:
    """The outside: answers as asked, or takes every line it has not seen."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.bad = b""
        self.bodies: list[bytes] = []
        self.seen: Counter[bytes] = Counter()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.content)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        lines = request.content.split(b"\n")
        if self.bad and self.bad in lines:
            return httpx.Response(400, json={"error": "invalid_json", "message": "Not JSON."})
        new = [line for line in lines if line not in self.seen]
        self.seen.update(lines)
        counts = {"accepted": len(new), "duplicates": len(lines) - len(new), "rejected": []}
        return httpx.Response(200, json=counts)


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def sender_to(pauses):
    def build(console: Console, **options) -> Sender:
        client = httpx.Client(base_url="http://console", transport=httpx.MockTransport(console))
        return Sender(client, sleep=pauses.append, **options)

    return build


def lines(*contents: bytes):
    return next(batches(contents))


def busy(status=503, **headers):
    return httpx.Response(status, headers=headers)


@given(
    st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")), max_size=1200),
    st.integers(1, 1300),
)
def test_batches_hold_every_line_from_the_first_on_in_order_and_never_too_many(found, first):
    cut = list(batches(found, first))

    flat = [line for batch in cut for line in batch]
    wanted = [
        (n, raw.strip()) for n, raw in enumerate(found, start=1) if n >= first and raw.strip()
    ]
    assert [(line.number, line.content) for line in flat] == wanted
    assert all(0 < len(batch) <= LINES_AT_ONCE for batch in cut)


def test_a_batch_is_never_larger_than_a_console_takes():
    cut = list(batches([b"x" * (BYTES_AT_ONCE // 3)] * 7))

    assert len(cut) > 1
    assert all(sum(len(line.content) + 1 for line in batch) <= BYTES_AT_ONCE for batch in cut)


def test_what_is_sent_is_what_stood_in_the_file(sender_to):
    console = Console()

    sender_to(console).send(lines(b'{"a": 1.0}\n', b"\n", b' {"b":"\xc3\xa9"}\r\n'))

    assert console.bodies == [b'{"a": 1.0}\n{"b":"\xc3\xa9"}']


def test_a_busy_console_is_asked_again_when_it_wants_to_be(sender_to, pauses):
    console = Console(busy(429, **{"Retry-After": "7"}), busy(503), httpx.ConnectError("gone"))
    sender = sender_to(console)

    sender.send(lines(b"1", b"2"))

    assert pauses == [7.0, 1.0, 2.0]
    assert (sender.tally.accepted, sender.tally.duplicates) == (2, 0)


def test_a_console_that_stays_away_stops_the_sending_and_says_so(sender_to, pauses):
    sender = sender_to(Console(*[busy()] * 50), give_up_after_s=10)

    with pytest.raises(SendingStopped, match="503"):
        sender.send(lines(b"1"))

    assert sum(pauses) <= 10
    assert sender.tally.last_line == 0


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_key_that_is_not_good_for_this_stops_the_sending_at_once(sender_to, pauses, status):
    body = {"error": "no", "message": "This key may not."}
    console = Console(httpx.Response(status, json=body))

    with pytest.raises(SendingStopped, match="This key may not"):
        sender_to(console).send(lines(b"1", b"2"))

    assert len(console.bodies) == 1
    assert pauses == []


@given(st.integers(1, 40), st.data())
def test_one_unreadable_line_costs_no_other(total, data):
    at = data.draw(st.integers(1, total))
    console = Console()
    console.bad = b"bad"
    contents = [b"bad" if n == at else str(n).encode() for n in range(1, total + 1)]
    client = httpx.Client(base_url="http://console", transport=httpx.MockTransport(console))
    sender = Sender(client)

    sender.send(lines(*contents))

    assert sender.tally.refusals == [Refusal(at, "invalid_json", "Not JSON.")]
    assert sender.tally.accepted == total - 1
    assert sender.tally.last_line == total


def test_items_that_were_refused_are_named_by_their_line_in_the_file(sender_to):
    rejected = [{"index": 1, "eventId": "e", "error": "version_conflict", "message": "Differs."}]
    body = {"accepted": 1, "duplicates": 0, "rejected": rejected}
    sender = sender_to(Console(httpx.Response(207, content=json.dumps(body))))

    sender.send(lines(b"1", b"", b"2"))

    assert sender.tally.refusals == [Refusal(3, "version_conflict", "Differs.")]


def test_a_batch_of_which_every_line_was_refused_is_not_sent_again(sender_to):
    rejected = [
        {"index": n, "eventId": None, "error": "validation_error", "message": "No."}
        for n in range(3)
    ]
    body = {"error": "validation_error", "message": "No.", "details": {"rejected": rejected}}
    console = Console(httpx.Response(400, json=body))
    sender = sender_to(console)

    sender.send(lines(b"1", b"2", b"3"))

    assert len(console.bodies) == 1
    assert [each.line for each in sender.tally.refusals] == [1, 2, 3]


@pytest.mark.parametrize("details", [None, [], {"rejected": 7}, {"rejected": [{}]}], ids=repr)
def test_a_refusal_that_does_not_list_every_line_is_no_crash(sender_to, details):
    answer = {"error": "validation_error", "message": "No.", "details": details}
    sender = sender_to(Console(*[httpx.Response(400, json=answer)] * 3))

    sender.send(lines(b"1", b"2"))

    assert [each.line for each in sender.tally.refusals] == [1, 2]


def test_an_answer_from_something_else_is_no_crash(sender_to):
    sender = sender_to(Console(httpx.Response(418, content=b"<html>")))

    sender.send(lines(b"1"))

    assert sender.tally.refusals == [Refusal(1, "http_418", "I'm a teapot")]
