"""Ways for the host to misbehave on request, and a log of the answers it was sent.

Tests need a host that is down, slow, lying or forgetful at a moment of their choosing. All of it
hangs on `/admin/faults`, which exists only on a host started with `--faults`.
"""

import asyncio
import base64
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from openwop_console.demo.asgi import (
    Answer,
    JsonObject,
    Line,
    Operation,
    Refused,
    Reply,
    Request,
    Stream,
    json_object,
)

_HUGE = 1 << 30
_SECRET_HEADERS = frozenset({"authorization", "cookie"})


class Fault(StrEnum):
    """One way to misbehave."""

    NONE = "none"
    DOWN = "down"
    """The connection is cut without an answer; nothing is applied."""
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    """429 with Retry-After."""
    APPLY_THEN_HANG = "apply_then_hang"
    """The answer is taken, but the caller never hears so."""
    APPLY_THEN_ERROR = "apply_then_error"
    NO_EFFECT = "no_effect"
    """200, and nothing happens."""
    SLOW_BODY = "slow_body"
    REDIRECT = "redirect"
    GARBAGE = "garbage"
    HUGE_BODY = "huge_body"
    ALREADY_RESOLVED = "already_resolved"
    NOT_FOUND = "not_found"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Planned:
    """A fault waiting for its request."""

    fault: Fault
    covers_all: bool = False
    """Any request meets it, not only answers to interrupts."""
    retry_after_s: int = 1
    location: str = "/v1/elsewhere"


@dataclass(slots=True)
class Faults:
    """The faults to come, and the requests that came."""

    queue: deque[Planned] = field(default_factory=deque)
    """Each meets one request, in order."""
    standing: Planned | None = None
    """Meets every request once the queue is empty."""
    forgets_keys: bool = False
    second_resolve: int | None = None
    """Status for a second answer, where it should not be the dialect's own."""
    received: list[JsonObject] = field(default_factory=list)
    _bell: asyncio.Event = field(default_factory=asyncio.Event)

    async def around(self, request: Request, operation: Operation) -> Answer:
        """Answer a request, with the fault that is due, and keep a record of it."""
        is_resolve = request.method == "POST" and "/interrupts/" in request.path
        planned = self._due(is_resolve=is_resolve)
        entry = self._log(request, planned.fault) if is_resolve else None
        answer = await _misbehave(planned, request, operation)
        if entry is not None:
            entry["status"] = getattr(answer, "status", None)
        return answer

    def _due(self, *, is_resolve: bool) -> Planned:
        planned = self.queue[0] if self.queue else self.standing
        if planned is None or not (is_resolve or planned.covers_all):
            return Planned(Fault.NONE)
        if self.queue:
            self.queue.popleft()
        return planned

    def _log(self, request: Request, fault: Fault) -> JsonObject:
        headers = {k: v for k, v in request.headers.items() if k not in _SECRET_HEADERS}
        entry: JsonObject = {
            "method": request.method,
            "path": request.path,
            "headers": headers,
            "bodyBase64": base64.b64encode(request.body).decode(),
            "fault": fault.value,
        }
        self.received.append(entry)
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()
        return entry

    async def wait_for(self, count: int, timeout_s: float) -> None:
        """Return when `count` answers were received, or `timeout_s` has passed."""
        try:
            async with asyncio.timeout(timeout_s):
                while len(self.received) < count:
                    await self._bell.wait()
        except TimeoutError:
            return

    def plan(self, body: JsonObject) -> None:
        """Take a new plan. Raises Refused (400) for a fault that is not known."""
        try:
            queue = [_planned(item) for item in body.get("queue", [])]
            standing = None if body.get("standing") is None else _planned(body["standing"])
        except (KeyError, ValueError, TypeError) as error:
            raise Refused(400, "validation_error", "Unknown fault.") from error
        self.queue = deque(queue)
        self.standing = standing
        self.forgets_keys = bool(body.get("forgetsKeys", False))
        self.second_resolve = body.get("secondResolve")

    def clear(self) -> None:
        """Behave again and forget what came."""
        self.plan({})
        self.received.clear()


class FaultsAdmin:
    """The operations of `/admin/faults`."""

    def __init__(self, faults: Faults, applied: list[JsonObject]) -> None:
        self._faults = faults
        self._applied = applied

    async def show(self, request: Request) -> Answer:
        """What came and what took effect; `count` and `timeout` wait for more to come."""
        count = int(request.query.get("count", "0"))
        await self._faults.wait_for(count, float(request.query.get("timeout", "10")))
        body: JsonObject = {
            "queued": [planned.fault.value for planned in self._faults.queue],
            "received": self._faults.received,
            "applied": self._applied,
        }
        return Reply(200, body)

    async def put(self, request: Request) -> Answer:
        """Replace the plan."""
        self._faults.plan(json_object(request))
        return Reply(204)

    async def delete(self, request: Request) -> Answer:  # the signature of every operation
        """No more faults, empty logs."""
        self._faults.clear()
        self._applied.clear()
        return Reply(204)


@dataclass(frozen=True, slots=True)
class _Cut:
    """No answer: the connection breaks."""

    async def deliver(self, line: Line) -> None:
        await line.drop()


@dataclass(frozen=True, slots=True)
class _Silence:
    """No answer until the caller gives up."""

    async def deliver(self, line: Line) -> None:
        await line.gone()


@dataclass(frozen=True, slots=True)
class _Garbage:
    """200 and bytes that are not JSON."""

    status: int = 200

    async def deliver(self, line: Line) -> None:
        body = b"\x1f\x8b\x00<html>{]"
        headers = {"content-type": "application/json", "content-length": str(len(body))}
        await line.start(self.status, headers)
        await line.write(body, more=False)


def _planned(item: dict[str, Any]) -> Planned:
    return Planned(
        fault=Fault(item["fault"]),
        covers_all=item.get("covers") == "all",
        retry_after_s=int(item.get("retryAfter", 1)),
        location=str(item.get("location", "/v1/elsewhere")),
    )


async def _misbehave(planned: Planned, request: Request, operation: Operation) -> Answer:
    match planned.fault:
        case Fault.NONE:
            return await _answered(request, operation)
        case Fault.APPLY_THEN_HANG:
            await _answered(request, operation)
            return _Silence()
        case Fault.APPLY_THEN_ERROR:
            await _answered(request, operation)
            return _error(500, "internal_error")
        case Fault.NO_EFFECT:
            params = request.params
            ids = {"runId": params.get("run", ""), "nodeId": params.get("node", "")}
            return Reply(200, {**ids, "status": "running"})
        case _:
            return _refusal(planned)


def _refusal(planned: Planned) -> Answer:
    answers: dict[Fault, Answer] = {
        Fault.DOWN: _Cut(),
        Fault.SERVER_ERROR: _error(500, "internal_error"),
        Fault.RATE_LIMITED: _error(429, "rate_limited").with_header(
            "retry-after", str(planned.retry_after_s)
        ),
        Fault.REDIRECT: Reply(307, {}, {"location": planned.location}),
        Fault.GARBAGE: _Garbage(),
        Fault.SLOW_BODY: Stream(_drip, "application/json"),
        Fault.HUGE_BODY: Stream(_flood, "application/json"),
        Fault.ALREADY_RESOLVED: _error(409, "interrupt_already_resolved"),
        Fault.NOT_FOUND: _error(404, "interrupt_not_found"),
        Fault.EXPIRED: _error(410, "interrupt_expired"),
    }
    return answers[planned.fault]


async def _answered(request: Request, operation: Operation) -> Answer:
    try:
        return await operation(request)
    except Refused as refused:
        return refused.reply()


def _error(status: int, code: str) -> Reply:
    return Reply(status, {"error": code, "message": "Asked to answer so."})


async def _drip(line: Line) -> None:
    """A byte now and then, for as long as anybody listens."""
    while True:
        await line.write(b" ")
        await asyncio.sleep(0.05)


async def _flood(line: Line) -> None:
    """A gibibyte of one JSON string."""
    await line.write(b'{"padding":"')
    for _ in range(_HUGE // 65536):
        await line.write(b"a" * 65536)
    await line.write(b'"}')
