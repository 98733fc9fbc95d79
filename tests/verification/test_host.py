"""What reaches a host, and what its answers are read as."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from runs.domain.log import Origin
from runs.pinned import Line
from tests.local_servers import http, serving
from verification.domain.answer import Reached
from verification.domain.frozen import resume_body
from verification.host import HostClient, lines_of, post_webhook

KEY = "hk_test_CANARY"
BODY = resume_body({"action": "accept", "decidedAt": "2026-11-30T08:00:00.000Z"}).content
IDEMPOTENCY = "5f0c8f1e-6a55-4b32-9a0b-0a41a2b0c001"


def client(url, **more):
    known = {"api_key": KEY, "allow_private": ["127.0.0.0/8"], "deadline_s": 2.0}
    return HostClient(url, **{**known, **more})


def parts(request):
    head, _, body = request.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (h.partition(":") for h in rest)}
    return first, headers, body


@pytest.mark.parametrize(
    ("major", "run_id", "path"),
    [
        (1, "run-1", "/v1/runs/run-1/interrupts/gate"),
        (1, "a/b c", "/v1/runs/a%2Fb%20c/interrupts/gate"),
        (2, "acme/r-9f3c", "/runs/acme~2Fr-9f3c/interrupts/gate"),
        (2, "acme/ü", "/runs/acme~2F~C3~BC/interrupts/gate"),
    ],
)
def test_a_decision_reaches_the_runs_surface_of_its_major(major, run_id, path):
    with serving(http()) as server:
        client(server.url, major=major).resolve_interrupt(run_id, "gate", BODY, IDEMPOTENCY)

    first, headers, body = parts(server.requests[0])
    assert first == f"POST {path} HTTP/1.1"
    assert body == BODY
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["idempotency-key"] == IDEMPOTENCY
    assert headers["content-type"] == "application/json"
    assert headers.get("openwop-version") == (None if major == 1 else "2.0")


def test_a_path_before_the_host_stays():
    with serving(http()) as server:
        client(f"{server.url}/openwop/").resolve_interrupt("r", "n", BODY, IDEMPOTENCY)

    assert server.requests[0].startswith(b"POST /openwop/v1/runs/r/interrupts/n ")


@pytest.mark.parametrize(
    ("node", "segment"), [("a/../b", "a%2F..%2Fb"), ("..", "%2E%2E"), ("a:b", "a%3Ab")]
)
def test_a_node_cannot_leave_its_place_in_the_path(node, segment):
    with serving(http()) as server:
        client(server.url).resolve_interrupt("r", node, BODY, IDEMPOTENCY)

    assert server.requests[0].startswith(f"POST /v1/runs/r/interrupts/{segment} ".encode())


@pytest.mark.parametrize(("major", "path"), [(1, "/v1/interrupts/t%2F1"), (2, "/interrupts/t%2F1")])
def test_a_token_is_its_own_authorization(major, path):
    with serving(http()) as server:
        answer = client(server.url, major=major).resolve_by_token("t/1", BODY, IDEMPOTENCY)

    first, headers, body = parts(server.requests[0])
    assert first == f"POST {path} HTTP/1.1"
    assert "authorization" not in headers
    assert (body, answer.status) == (BODY, 200)


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        ("200 OK", b'{"status":"running"}', ""),
        ("200 OK", b"<html>", ""),
        ("204 No Content", b"", ""),
        ("409 Conflict", b'{"error":"interrupt_already_resolved"}', "interrupt_already_resolved"),
        ("410 Gone", b'{"error":"openwop-app.interrupt_gone"}', "openwop-app.interrupt_gone"),
        ("404 Not Found", b'{"error":{"code":"x"}}', ""),
        ("404 Not Found", b'["error"]', ""),
        ("404 Not Found", b"<html>not here</html>", ""),
        ("400 Bad Request", b'{"error":"your answer was CANARY, sir"}', ""),
        ("400 Bad Request", b'{"error":"' + b"x" * 200 + b'"}', ""),
        ("500 Oops", b"[" * 100_000, ""),
        ("500 Oops", b"\xff\xfe\x00", ""),
    ],
)
def test_an_answer_is_read_for_its_status_and_its_code_alone(status, body, code):
    with serving(http(status, body)) as server:
        answer = client(server.url).resolve_interrupt("r", "n", BODY, IDEMPOTENCY)

    assert (answer.reached, answer.status) == (Reached.ANSWERED, int(status[:3]))
    assert answer.code == code
    assert "CANARY" not in repr(answer)


@pytest.mark.parametrize(
    ("header", "body", "seconds"),
    [
        ("Retry-After: 120", b"{}", 120.0),
        ("Retry-After: 0", b"{}", 0.0),
        ("Retry-After: soon", b"{}", None),
        ("Retry-After: -5", b"{}", None),
        ("Retry-After: " + "9" * 400, b"{}", 999999999999.0),
        ("X: y", b'{"details":{"retryAfterMs":1500}}', 1.5),
        ("X: y", b'{"details":{"retryAfterMs":true}}', None),
        ("X: y", b'{"details":{"retryAfterMs":-1}}', None),
        ("X: y", b'{"details":{"retryAfterMs":1e400}}', None),
        ("X: y", b'{"details":[]}', None),
    ],
)
def test_a_hosts_wish_to_wait_is_read(header, body, seconds):
    with serving(http("429 Slow", body, (header,))) as server:
        answer = client(server.url).resolve_interrupt("r", "n", BODY, IDEMPOTENCY)

    assert answer.retry_after_s == seconds


def test_a_wish_to_wait_until_a_date_is_read():
    until = datetime.now(UTC) + timedelta(seconds=90)
    header = f"Retry-After: {format_datetime(until, usegmt=True)}"
    with serving(http("503 Down", b"", (header,))) as server:
        answer = client(server.url).resolve_interrupt("r", "n", BODY, IDEMPOTENCY)

    assert 80 < answer.retry_after_s <= 90


def test_a_run_is_read():
    with serving(http(body=b'{"runId":"r","status":"running"}')) as server:
        reading = client(server.url).read_run("r")

    assert reading.document == {"runId": "r", "status": "running"}
    assert server.requests[0].startswith(b"GET /v1/runs/r HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("major", "after", "query"),
    [
        (1, None, "timeout=1"),
        (1, -1, "timeout=1"),
        (1, 0, "timeout=1&lastSequence=0"),
        (1, 41, "timeout=1&lastSequence=41"),
        (2, 41, "timeout=1&afterSequence=41"),
    ],
)
def test_events_are_asked_for_above_a_sequence(major, after, query):
    with serving(http(body=b'{"events":[]}')) as server:
        assert client(server.url, major=major).poll_events("r", after) == ()

    assert f"/runs/r/events/poll?{query} HTTP/1.1".encode() in server.requests[0]


def test_events_are_read_in_both_spellings():
    events = [
        {"eventId": "e1", "sequence": 1, "type": "node.suspended", "nodeId": "n", "payload": {}},
        {"seq": 2, "type": "node.resumed", "nodeId": None, "data": {"action": "accept"}},
        {"sequence": True, "type": "odd"},
        "noise",
    ]

    lines = lines_of({"events": events})

    assert [(one.sequence, one.type, one.node_id) for one in lines] == [
        (1, "node.suspended", "n"),
        (2, "node.resumed", None),
        (None, "odd", None),
    ]
    assert lines[1].payload == {"action": "accept"}
    assert {one.origin for one in lines} == {Origin.HOST}


@pytest.mark.parametrize(
    ("status", "body"),
    [("200 OK", b"[]"), ("200 OK", b"{}"), ("200 OK", b"<html>"), ("404 No", b'{"events":[]}')],
)
def test_a_log_that_cannot_be_read_is_not_an_empty_one(status, body):
    with serving(http(status, body)) as server:
        assert client(server.url).poll_events("r", 1) is None


def test_what_a_host_advertises_is_read_without_a_key():
    with serving(http(body=b'{"protocolVersion":"1.0"}')) as server:
        reading = client(server.url, major=2).discovery()

    first, headers, _ = parts(server.requests[0])
    assert first == "GET /.well-known/openwop HTTP/1.1"
    assert "authorization" not in headers
    assert headers["openwop-version"] == "2.0"
    assert reading.document == {"protocolVersion": "1.0"}


def test_a_document_that_is_cut_is_not_read():
    with serving(http(body=json.dumps({"events": [{}] * 50}).encode())) as server:
        reading = client(server.url, read_limit=16).read_events("r")

    assert (reading.answer.status, reading.document) == (200, None)


@pytest.mark.parametrize("url", ["", "not a url", "http://127.0.0.1:1", "ftp://x.example"])
def test_a_host_without_a_usable_address_is_never_connected_to(url):
    answer = HostClient(url, KEY).resolve_interrupt("r", "n", BODY, IDEMPOTENCY)

    assert answer.reached is Reached.FORBIDDEN
    assert answer.why.endswith(".") or "OPENWOP_CONSOLE_ALLOW_PRIVATE" in answer.why


def test_a_range_that_is_none_is_refused_at_once():
    with pytest.raises(ValueError, match="here"):
        HostClient("https://h.example", allow_private=["here"])


def test_the_key_does_not_show_in_what_is_printed_or_logged(caplog):
    with serving(http("401 No", b'{"error":"unauthenticated"}')) as server, caplog.at_level(0):
        host = client(server.url)
        answer = host.resolve_interrupt("r", "n", BODY, IDEMPOTENCY)

    shown = repr(host) + repr(answer) + caplog.text
    assert "CANARY" not in shown
    assert "accept" not in shown


def test_a_webhook_goes_the_same_way():
    with serving(http()) as server:
        ours = Line(resolver=lambda h, p: ["127.0.0.1"], deadline_s=1)
        refused = post_webhook(f"https://h.example:{server.port}/", BODY, {"webhook-id": "x"}, ours)

    assert refused.reached is Reached.FORBIDDEN
    assert server.connections == 0
