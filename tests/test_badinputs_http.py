"""Every hostile or odd request with events, over HTTP, to the web process of the product."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from runs.actions.hosts import create_key, revoke_key
from runs.models import Event, Host
from runs.models import Refusal as Count
from tests.factories import add_host_named, decided, event, send
from tests.raw_http import Reply, exchange, read_reply
from tests.raw_http import send as put
from tests.runs.domain.test_badinputs import DEVIATIONS as READ_DEVIATIONS
from tests.runs.domain.test_badinputs import body_of
from tests.web import Web, serving_web

FOLDER = Path(__file__).parent / "fixtures" / "badinputs"
BODIES = [json.loads(line) for line in (FOLDER / "requests.jsonl").read_text().splitlines()]
REQUESTS = [json.loads(line) for line in (FOLDER / "http.jsonl").read_text().splitlines()]

TAKEN = {"status": [200, 201]}
DEVIATIONS = {
    "tr-method-override": (TAKEN, "an event that is new is answered 201"),
    "auth-other-tenant-run": (
        TAKEN,
        "a run id names a run of the key's host; to refuse it would tell what another tenant has",
    ),
    "auth-tenant-header-spoof": (
        TAKEN,
        "as above: the tenant is the key's, whatever a header says",
    ),
}
"""Where the design decides otherwise than the collection the requests come from."""

STATUS_OF = {
    "validation_error": 400,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "version_conflict": 409,
}
CANARY = "CANARY"


class _Anything:
    def __contains__(self, reason: object) -> bool:
        return True


REASONS = _Anything()
"""Where none is listed, any reason will do."""


@dataclass
class Door:
    """The Console, two hosts that send to it, and what to fill requests in with."""

    web: Web
    host: Host
    other_host: Host
    words: dict[str, str] = field(default_factory=dict)
    runs: int = 0

    def fresh(self) -> dict[str, str]:
        """Return the words of one request, with a run of its own."""
        self.runs += 1
        run = f"q{self.runs:04}"
        return self.words | {
            "run": run,
            "other run": f"{run}-b",
            "id": str(uuid4()),
            "second id": str(uuid4()),
            "sequence": "7",
            "now": written(datetime.now(UTC)),
            "held id": f"{run}-e3",
            "held sequence": "3",
        }


@pytest.fixture
def door(transactional_db: None) -> Iterator[Door]:
    with serving_web() as web:
        yield made(web)


def made(web: Web) -> Door:
    host = add_host_named("alpha", workspace="acme")
    other_host = add_host_named("omega", workspace="other")
    key = host.key_for_tests
    revoked = create_key(host=host)
    revoke_key(key_id=revoked.split("_")[2])
    send(other_host, decided(1, run="theirs"))
    words = {
        "key": key,
        "key of b": other_host.key_for_tests,
        "new key": create_key(host=host),
        "revoked key": revoked,
        "expired key": create_key(host=host, expires_at=datetime.now(UTC) - timedelta(days=1)),
        "flipped key": key[:-1] + ("A" if key[-1] != "A" else "B"),
        "cut key": key[:-5],
        "tenant": host.workspace.slug,
        "tenant of b": other_host.workspace.slug,
        "result of b": "theirs-e1",
    }
    return Door(web, host, other_host, words)


def written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def filled(text: str, words: dict[str, str]) -> str:
    text = re.sub(r"<(.)\*(\d+)>", lambda found: found[1] * int(found[2]), text)
    return re.sub(r"<([a-z ]+)>", lambda found: words.get(found[1], found[0]), text)


ORDINARY = (
    '{"eventId": "<id>", "runId": "<run>", "type": "node.completed", "timestamp": "<now>",'
    ' "payload": {"nodeId": "n1", "note": "CANARY"}, "sequence": <sequence>}'
)


def as_of_now(raw: bytes, run: str) -> bytes:
    """Move a body to this moment and to a run of its own, byte for byte as long as before."""
    now = datetime.now(UTC)
    moved = {
        b"run-a": run.encode(),
        b"2026-11-30T08:00:00.000000Z": written(now).encode(),
        b"2026-12-01T07:00:00.000000Z": written(now + timedelta(hours=23)).encode(),
        b"2026-11-30T08:55:42.123456+01:00": written(now).replace("Z", "+00:00").encode(),
    }
    for before, after in moved.items():
        raw = raw.replace(before, after)
    return raw


def groups_of(requests: list[dict[str, Any]]) -> list[str]:
    return sorted({request["group"] for request in requests})


def host_events() -> int:
    return Event.objects.filter(origin="host").count()


def told(reply: Reply) -> list[dict[str, Any]]:
    """Return each refusal of an answer: its own, or those of the items of a batch."""
    document = reply.json()
    return document["rejected"] if reply.status in (200, 201, 207) else [document]


def check_answer(reply: Reply) -> None:
    """Check what holds of every answer."""
    assert reply.status < 500
    assert reply.media_type == "application/json"
    assert CANARY.encode() not in reply.body
    for refused in told(reply):
        assert set(refused) <= {"error", "message", "details", "index", "eventId"}
        assert refused["message"]


@pytest.mark.parametrize("group", groups_of(BODIES))
def test_every_body_is_taken_or_refused_as_listed(door, group):
    for request in BODIES:
        if request["group"] == group:
            check_body(door, request)


def check_body(door: Door, request: dict[str, Any]) -> None:
    name, words = request["name"], door.fresh()
    headers = {
        "Authorization": f"Bearer {words['key']}",
        "Content-Type": request.get("contentType", "application/json"),
        "Content-Encoding": request.get("contentEncoding"),
    }
    expect = request["expect"]
    if name in READ_DEVIATIONS:
        expect = READ_DEVIATIONS[name][0][0]
    before = host_events()

    reply = exchange(door.web, as_of_now(body_of(request), words["run"]), headers=headers)

    check_answer(reply)
    stored = host_events() - before
    if expect == "taken":
        assert (reply.status in (200, 201), stored > 0, told(reply)) == (True, True, []), name
    elif expect == "refused":
        refused = told(reply)
        assert [each["error"] for each in refused] == [request["error"]], name
        assert reply.status in (207, STATUS_OF[request["error"]]), name
        assert refused[0]["details"]["reason"] in request.get("reasons", REASONS), name
        assert (stored > 0) == (reply.status == 207), name
    else:
        assert (stored > 0) == (reply.status in (200, 201)), name


@pytest.mark.parametrize("group", groups_of(REQUESTS))
def test_every_request_is_answered_as_listed(door, group):
    for request in REQUESTS:
        if request["group"] == group:
            check_request(door, request)


def check_request(door: Door, request: dict[str, Any]) -> None:
    name, words = request["name"], door.fresh()
    if request["group"] == "state":
        send(door.host, event(3, "node.completed", run=words["run"]))
    ordinary = {"Authorization": "Bearer <key>", "Content-Type": "application/json"}
    headers = {
        header: None if value is None else filled(value, words)
        for header, value in (ordinary | request.get("headers", {})).items()
    }
    before = host_events()

    reply = exchange(
        door.web,
        filled(request.get("body", ORDINARY) or "", words).encode(),
        method=request.get("method", "POST"),
        path=filled(request.get("path", "/api/v1/events"), words),
        headers=headers,
        is_framed=request.get("framed", False),
    )

    expected = DEVIATIONS[name][0] if name in DEVIATIONS else request
    assert reply.status in expected["status"], name
    assert (host_events() > before) == (reply.status in (200, 201, 207)), name
    assert (reply.status == 401) == ("www-authenticate" in reply.headers), name
    if request.get("framed"):
        return  # answered by the protocol, before there is a request
    check_answer(reply)
    for refused in told(reply):
        assert refused["error"] in expected.get("error", [refused["error"]]), name
        assert refused["details"].get("reason") in expected.get("reasons", REASONS), name


def test_what_one_tenant_sends_under_anothers_run_id_stays_its_own(door):
    words = door.fresh()
    send(door.host, event(1, run=words["run"]))
    headers = {
        "Authorization": f"Bearer {words['key of b']}",
        "Content-Type": "application/json",
        "X-Tenant-Id": words["tenant"],
    }

    reply = exchange(door.web, filled(ORDINARY, words).encode(), headers=headers)

    assert reply.status == 201
    assert list(
        Event.objects.filter(run__run_id=words["run"]).values_list("run__host__slug", "sequence")
    ) == [("alpha", 1), ("omega", 7)]


def test_a_smuggled_request_is_not_answered(door):
    [request] = [each for each in REQUESTS if each["name"] == "tr-cl-te-smuggle"]
    with door.web.connect() as connection:
        head = "".join(f"{name}: {value}\r\n" for name, value in request["headers"].items())
        start = f"POST /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n"
        put(connection, (start + request["body"]).encode())
        assert read_reply(connection).status == 400
        assert connection.recv(1) == b""


@pytest.mark.parametrize("path", ["/api/v1/events", "/api/v1/webhooks/alpha"])
def test_a_body_that_comes_a_byte_at_a_time_is_not_waited_for(door, settings, path):
    settings.BODY_DEADLINE_S = 1
    with door.web.connect() as connection:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {door.words['key']}\r\nContent-Length: 1000\r\n\r\n"
        )
        connection.sendall(head.encode() + b"{")
        reply = read_reply(connection)

    assert (reply.status, reply.json()["details"]["reason"]) == (408, "body_too_slow")


def test_a_body_far_above_the_limit_is_answered_before_it_is_read(door):
    claimed = 64 * 1024 * 1024
    headers = {
        "Authorization": f"Bearer {door.words['key']}",
        "Content-Type": "application/json",
        "Content-Length": str(claimed),
    }
    reply = exchange(door.web, b"[" * (1024 * 1024), headers=headers)

    assert reply.status == 413
    assert reply.json()["details"] == {
        "reason": "body_too_large",
        "limit": 5 * 1024 * 1024,
        "setting": "OPENWOP_CONSOLE_MAX_BODY_BYTES",
    }


def test_what_is_wrong_is_told_in_the_order_of_checks(door):
    headers: dict[str, str | None] = {
        "Content-Type": "text/plain",
        "Authorization": "Bearer nonsense",
        "Content-Length": str(64 * 1024 * 1024),
        "Content-Encoding": "br",
    }
    mended = [
        {},
        {"Content-Type": "application/json"},
        {"Authorization": f"Bearer {door.words['key']}"},
        {"Content-Length": "9"},
        {"Content-Encoding": None},
    ]

    errors = []
    for mend in mended:
        headers |= mend
        errors.append(exchange(door.web, b"not JSON!", headers=headers).json()["error"])

    assert errors == [
        "unsupported_media_type",
        "unauthenticated",
        "payload_too_large",
        "unsupported_media_type",
        "validation_error",
    ]


def test_every_refused_event_is_counted_for_its_host(door):
    def count(reason: str) -> int:
        found = Count.objects.filter(host=door.host, reason=reason).values_list("count", flat=True)
        return sum(found)

    headers = {"Authorization": f"Bearer {door.words['key']}", "Content-Type": "text/plain"}
    before = count("media_type"), count("json_invalid")

    exchange(door.web, b"{}", headers=headers)
    exchange(door.web, b"{", headers=headers | {"Content-Type": "application/json"})

    assert (count("media_type"), count("json_invalid")) == (before[0] + 1, before[1] + 1)


def test_deviations_name_requests_that_exist():
    assert DEVIATIONS.keys() <= {request["name"] for request in REQUESTS}
