"""Webhook deliveries: signed, in each host's spelling, and only where they may go."""

import hashlib
import hmac
import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from openwop_console.demo.dialects import DIALECTS

APPROVAL = "captured:postgres.approval"


class Receiver:
    """Takes deliveries and lets tests wait for them."""

    def __init__(self) -> None:
        self.deliveries: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.deliveries.put((headers, body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def take(self, count: int) -> list[tuple[dict[str, str], bytes]]:
        return [self.deliveries.get(timeout=30) for _ in range(count)]


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.stop()


def proof(headers: dict[str, str]) -> tuple[str, str]:
    """Timestamp and hex signature of a delivery, in any of the spellings."""
    if "openwop-signature" in headers:
        pairs = dict(part.split("=") for part in headers["openwop-signature"].split(","))
        return pairs["t"], pairs["v1"]
    time = headers.get("x-openwop-timestamp") or headers["x-openwop-signature-timestamp"]
    return time, headers["x-openwop-signature"].removeprefix("sha256=")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_delivery_verifies_and_says_what_the_host_says(caller_for, receiver, dialect):
    caller = caller_for(dialect)
    registered = caller.http.post("/v1/webhooks", json={"url": receiver.url, "events": []}).json()
    run_id = caller.start("contract-summary")
    caller.until_ended(run_id)
    events = caller.events(run_id)

    deliveries = receiver.take(len(events))
    caller.http.delete(f"/v1/webhooks/{registered['webhookId']}")

    for headers, body in deliveries:
        time, signature = proof(headers)
        signed = f"{time}.".encode() + body
        expected = hmac.new(registered["secret"].encode(), signed, hashlib.sha256).hexdigest()
        assert signature == expected
        assert registered["webhookId"] in headers.values()
    bodies = [json.loads(body) for _, body in deliveries]
    assert set(bodies[0]) == BODY_KEYS[dialect]


BODY_KEYS = {
    "spec": {"runId", "workspaceId", "event"},
    "sqlite": {"seq", "runId", "type", "nodeId", "timestamp"},
    "postgres": {"seq", "runId", "type", "nodeId", "timestamp"},
    "in-memory": {"seq", "runId", "type", "nodeId", "timestamp"},
    "python": {"eventId", "runId", "type", "timestamp", "sequence", "nodeId"},
    "openwop-app": {"eventId", "runId", "type", "timestamp", "sequence", "payload"},
}


def test_the_published_body_wraps_the_event_as_it_is(caller, receiver):
    registered = caller.http.post(
        "/v1/webhooks", json={"url": receiver.url, "events": ["run.completed"], "secret": "s" * 32}
    ).json()
    run_id = caller.start("contract-summary")
    caller.until_ended(run_id)

    ((headers, body),) = receiver.take(1)
    caller.http.delete(f"/v1/webhooks/{registered['webhookId']}")

    assert json.loads(body)["event"] == caller.events(run_id)[-1]
    assert headers["x-openwop-event-type"] == "run.completed"
    assert headers["x-openwop-signature"].startswith("sha256=")
    assert registered["secret"] == "s" * 32
    assert registered["secretFingerprint"] == hashlib.sha256(b"s" * 32).hexdigest()[:8]


def test_the_python_host_delivers_the_second_event_first(caller_for, receiver):
    caller = caller_for("python")
    registered = caller.http.post("/v1/webhooks", json={"url": receiver.url}).json()
    caller.start("contract-summary")

    deliveries = receiver.take(3)
    caller.http.delete(f"/v1/webhooks/{registered['webhookId']}")

    assert [json.loads(body)["sequence"] for _, body in deliveries] == [1, 0, 2]


def test_an_unsubscribed_receiver_hears_no_more(caller, receiver):
    registered = caller.http.post("/v1/webhooks", json={"url": receiver.url}).json()
    path = f"/v1/webhooks/{registered['webhookId']}"

    assert caller.http.delete(path).status_code == 204
    assert caller.http.delete(path).status_code == 404
    caller.until_ended(caller.start("contract-summary"))
    assert receiver.deliveries.empty()


@pytest.mark.parametrize(
    "url", ["", "http://example.org/x", "ftp://127.0.0.1/x", "http://169.254.169.254/", "https://"]
)
def test_an_address_the_host_must_not_call_is_refused(caller, url):
    answer = caller.http.post("/v1/webhooks", json={"url": url, "events": []})

    assert answer.status_code == 400
    assert answer.json()["error"] == "webhook_url_rejected"


def test_a_configured_receiver_hears_everything_from_the_start(caller_for, receiver):
    caller = caller_for(webhook_url=receiver.url, webhook_secret="configured")
    run_id = caller.start(APPROVAL)
    caller.until_waiting(run_id)

    deliveries = receiver.take(4)

    types = [json.loads(body)["event"]["type"] for _, body in deliveries]
    assert types == [event["type"] for event in caller.events(run_id)]


def test_a_receiver_that_is_gone_does_not_hold_up_the_run(caller):
    gone = Receiver()
    gone.stop()
    registered = caller.http.post("/v1/webhooks", json={"url": gone.url}).json()

    assert caller.until_ended(caller.start("contract-summary"))["status"] == "completed"
    caller.http.delete(f"/v1/webhooks/{registered['webhookId']}")
