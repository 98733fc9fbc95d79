"""Real demo hosts on free ports, one for each way of speaking, and a caller with the API key."""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import httpx
import pytest
import uvicorn

from openwop_console.demo.server import listening_on
from tests.remote import API_KEY, RunningHost

ENDED = ("completed", "failed", "cancelled")


class Caller:
    """Talks to one host as a console would."""

    def __init__(self, running: RunningHost) -> None:
        self.running = running
        self.url = running.url
        headers = {"authorization": f"Bearer {API_KEY}"}
        self.http = httpx.Client(base_url=running.url, headers=headers, timeout=15)
        self.anonymous = httpx.Client(base_url=running.url, timeout=15)

    def close(self) -> None:
        self.http.close()
        self.anonymous.close()

    def start(self, workflow_id: str, inputs: dict[str, Any] | None = None) -> str:
        body = {"workflowId": workflow_id, "inputs": inputs or {}}
        answer = self.http.post("/v1/runs", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["runId"]

    def snapshot(self, run_id: str) -> dict[str, Any]:
        return self.http.get(f"/v1/runs/{run_id}").json()

    def events(self, run_id: str) -> list[dict[str, Any]]:
        answer = self.http.get(f"/v1/runs/{run_id}/events", headers={"accept": "application/json"})
        return answer.json()["events"]

    def until(self, run_id: str, is_reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first snapshot that satisfies; each look waits for news of the run."""
        for _ in range(200):
            events = self.events(run_id)
            snapshot = self.snapshot(run_id)
            if is_reached(snapshot):
                return snapshot
            params = {"lastSequence": events[-1]["sequence"] if events else -1, "timeout": 5}
            self.http.get(f"/v1/runs/{run_id}/events/poll", params=params)
        raise AssertionError(f"never reached; last seen {snapshot}")

    def until_waiting(self, run_id: str) -> dict[str, Any]:
        return self.until(run_id, lambda seen: seen["status"].startswith("waiting-"))

    def until_ended(self, run_id: str) -> dict[str, Any]:
        return self.until(run_id, lambda seen: seen["status"] in ENDED)

    def resolve(
        self, run_id: str, node_id: str, value: object, *, key: str | None = None
    ) -> httpx.Response:
        headers = {} if key is None else {"idempotency-key": key}
        return self.http.post(
            f"/v1/runs/{run_id}/interrupts/{node_id}",
            json={"resumeValue": value},
            headers=headers,
        )


class FakeIngest:
    """A Console's ingest that answers as told and keeps what it committed."""

    def __init__(self, answers: Sequence[int] = (), refuses: Iterable[str] = ()) -> None:
        self.answers = deque(answers)
        self.batches: list[list[dict[str, Any]]] = []
        self.committed: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.refuses = set(refuses)
        """Event ids refused for good."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {k.decode(): v.decode() for k, v in scope["headers"]}
        self.keys.add(headers["authorization"])
        assert scope["path"] == "/api/v1/events"
        status, answer = self.take(json.loads(body)["events"])
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    def take(self, events: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        self.batches.append(events)
        status = self.answers.popleft() if self.answers else 200
        bad = [event for event in events if event["eventId"] in self.refuses]
        if bad and status == 207:
            self.committed += [event for event in events if event not in bad]
            return 207, {"rejected": [{"index": events.index(event)} for event in bad]}
        if bad:
            return 400, {"error": "validation_error"}
        if status in (200, 201):
            self.committed += events
        return status, {}


class FakeConsole:
    """The ingest on a port of its own."""

    def __init__(self, ingest: FakeIngest, port: int) -> None:
        self.ingest = ingest
        self.socket = listening_on(port)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(ingest, lifespan="off", log_level="critical", ws="none")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(
            target=lambda: asyncio.run(self.server.serve(sockets=[self.socket])), daemon=True
        )
        self.thread.start()

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(60)
        assert not self.thread.is_alive()


@pytest.fixture
def console_of() -> Iterator[Callable[..., FakeConsole]]:
    """Starts fake consoles; stops them after the test."""
    consoles: list[FakeConsole] = []

    def console(*answers: int, port: int = 0, refuses: Iterable[str] = ()) -> FakeConsole:
        consoles.append(FakeConsole(FakeIngest(answers, refuses), port))
        return consoles[-1]

    yield console
    for one in consoles:
        one.stop()


@pytest.fixture(scope="module")
def console_for_module() -> Iterator[FakeConsole]:
    """One fake console for all tests of a module."""
    console = FakeConsole(FakeIngest(), 0)
    yield console
    console.stop()


CallerFor = Callable[..., Caller]


@pytest.fixture(scope="session")
def caller_for() -> Iterator[CallerFor]:
    """Calls a host of a dialect; hosts with the same options are shared by all tests."""
    callers: dict[tuple[Any, ...], Caller] = {}

    def caller(dialect: str = "spec", **options: Any) -> Caller:
        slot = (dialect, *sorted(options.items(), key=lambda item: item[0]))
        if slot not in callers:
            callers[slot] = Caller(RunningHost(dialect=dialect, **options))
        return callers[slot]

    yield caller
    for one in callers.values():
        one.close()
        one.running.server.should_exit = True
    for one in callers.values():
        one.running.stop()


@pytest.fixture
def caller(caller_for: CallerFor) -> Caller:
    """Calls the host that speaks as published."""
    return caller_for()
