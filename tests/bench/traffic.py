"""What a host sends, made beforehand, and connections that send it and do nothing else."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

TEXT = "Sixteen of the invoices were matched to an order; two need a person to look at them. " * 4


def run_of(events: int, run: str = "", *, verdict_every: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the events of a run: steps of nodes, and now and then a result and its verdict.

    Args:
        events: how many.
        run: its id; made if there is none.
        verdict_every: of so many events one is a result, and the next its verdict; 0: none is.
    """
    run = run or f"bench-{uuid4()}"
    turn = ""
    for sequence in range(events):
        event_id = str(uuid4())
        if sequence == 0:
            kind, payload = "run.started", {"workflowId": "bench"}
        elif verdict_every and sequence % verdict_every == 1:
            turn, kind = event_id, "agent.decided"
            payload = {"agentId": "writer-1", "decision": {"kind": "answer"}, "confidence": 0.9}
        elif verdict_every and sequence % verdict_every == 2:
            kind = "agent.verified"
            payload = {"agentId": "critic-1", "target": turn, "verdict": "pass", "confidence": 0.9}
        else:
            kind = "node.completed"
            payload = {"nodeId": f"n{sequence}", "durationMs": 12, "outputs": {"text": TEXT}}
        yield {
            "eventId": event_id,
            "runId": run,
            "type": kind,
            "nodeId": f"n{sequence}",
            "payload": payload,
            "timestamp": datetime.now(UTC).isoformat(),
            "sequence": sequence,
        }


def batches(events: Iterator[dict[str, Any]], size: int) -> list[bytes]:
    """Return the events as bodies of so many each."""
    kept = list(events)
    return [
        json.dumps({"events": kept[start : start + size]}).encode()
        for start in range(0, len(kept), size)
    ]


@dataclass(frozen=True)
class Post:
    """A whole request, ready to be written to a socket."""

    content: bytes

    @classmethod
    def of(cls, body: bytes, key: str) -> "Post":
        head = (
            "POST /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {key}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return cls(head.encode() + body)


class Line:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, post: Post) -> None:
        """Send a request and wait for its answer, which must be a success."""
        self._socket.sendall(post.content)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._received()
        head, _, body = answer.partition(b"\r\n\r\n")
        length = next(
            int(line.partition(b":")[2])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        while len(body) < length:
            body += self._received()
        assert head.split(b" ", 2)[1] in (b"200", b"201"), (head, body)

    def close(self) -> None:
        self._socket.close()

    def _received(self) -> bytes:
        part = self._socket.recv(65536)
        assert part, "the connection was closed"
        return part


@contextmanager
def lines_to(port: int, count: int) -> Iterator[list[Line]]:
    """Open so many connections for the length of the block."""
    lines = [Line(port) for _ in range(count)]
    try:
        yield lines
    finally:
        for line in lines:
            line.close()


def all_sent(jobs: Sequence[Sequence[Callable[[], None]]]) -> float:
    """Do lists of jobs side by side; return the seconds from the first to the last."""
    ready = threading.Barrier(len(jobs) + 1)

    def work(mine: Sequence[Callable[[], None]]) -> None:
        ready.wait()
        for job in mine:
            job()

    with ThreadPoolExecutor(len(jobs)) as threads:
        working = [threads.submit(work, mine) for mine in jobs]
        ready.wait()
        began = time.perf_counter()
        for each in working:
            each.result()
    return time.perf_counter() - began
