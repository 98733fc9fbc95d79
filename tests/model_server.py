"""An OpenAI-compatible server that says what a test tells it to, over real HTTP.

Each model name has a list of answers; a call takes the next one, and the last one stays. An answer
is a function that gets the call and returns, or writes, what goes over the wire.
"""

import json
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = (30, 10)
NONCE = re.compile(r'"nonce": "([0-9a-f]{32})"')


@dataclass
class Call:
    """One call as it came in."""

    body: dict[str, Any]
    handler: BaseHTTPRequestHandler
    over: threading.Event

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def text(self) -> str:
        return "\n".join(str(message["content"]) for message in self.body["messages"])

    @property
    def nonce(self) -> str:
        found = NONCE.search(self.text)
        return found.group(1) if found else ""

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.handler.send_response(status)
        self.handler.send_header("Content-Type", "application/json")
        self.handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(body)


Answer = Callable[[Call], None]


def completion(text: str | None, usage: tuple[int, int], finish: str = "stop", **message: Any):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "fake",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        },
    }


def says(text: str | Callable[[Call], str], usage: tuple[int, int] = USAGE, finish: str = "stop"):
    """Reply with a text."""

    def answer(call: Call) -> None:
        said = text(call) if callable(text) else text
        call.send(json.dumps(completion(said, usage, finish)).encode())

    return answer


def verdict(accept: bool, critique: str = "", usage: tuple[int, int] = USAGE, **more: Any):
    """Reply as a judge that keeps the contract."""

    def text(call: Call) -> str:
        said = {"nonce": call.nonce, "accept": accept, "critique": critique, **more}
        return json.dumps(said)

    return says(text, usage)


accepts = verdict(True)
dissents = verdict(False, "It does not follow.")


def status(code: int, **headers: str) -> Answer:
    """Answer with an error."""
    body = json.dumps({"error": {"message": "CANARY-ERROR", "type": "x"}}).encode()
    return lambda call: call.send(body, code, **headers)


def garbage(body: bytes = b"<html>nonsense</html>") -> Answer:
    """Answer 200 with something that is no completion."""
    return lambda call: call.send(body)


def refuses(call: Call) -> None:
    """Refuse, as safety filters do."""
    call.send(json.dumps(completion(None, USAGE, refusal="I cannot help.")).encode())


def cut_off(call: Call) -> None:
    """Close the connection in the middle of the body."""
    body = json.dumps(completion("{}", USAGE)).encode()
    call.handler.send_response(200)
    call.handler.send_header("Content-Length", str(len(body)))
    call.handler.end_headers()
    call.handler.wfile.write(body[:40])
    call.handler.wfile.flush()
    call.handler.close_connection = True


def drips(call: Call) -> None:
    """Send a byte now and then, and never come to an end."""
    call.handler.send_response(200)
    call.handler.send_header("Content-Length", "100000")
    call.handler.end_headers()
    while not call.over.wait(0.05):
        call.handler.wfile.write(b" ")
        call.handler.wfile.flush()


def hangs(call: Call) -> None:
    """Say nothing at all."""
    call.over.wait()


class Gate:
    """Holds a call until the test opens it, and lets the test wait until a call has come."""

    def __init__(self, then: Answer) -> None:
        self.then = then
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, call: Call) -> None:
        self.reached.set()
        while not self.opened.wait(0.02):
            if call.over.is_set():
                return
        self.then(call)


@dataclass
class ModelServer:
    """The server, what it was told to say, and what it was asked."""

    url: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    taken: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, **answers: Answer | list[Answer]) -> None:
        """Say what each model answers: `judge_a=accepts` for the model `judge-a`."""
        for name, given in answers.items():
            listed = given if isinstance(given, list) else [given]
            self.answers[name.replace("_", "-")] = listed

    def asked(self, model: str) -> int:
        return sum(call.model == model for call in self.calls)

    def take(self, call: Call) -> Answer:
        with self.lock:
            self.calls.append(call)
            listed = self.answers[call.model]
            number = min(self.taken[call.model], len(listed) - 1)
            self.taken[call.model] += 1
            return listed[number]


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Serve until the test is over."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            call = Call(json.loads(raw), self, told.over)
            with suppress(OSError):
                told.take(call)(call)

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    told = ModelServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield told
    finally:
        told.over.set()
        server.shutdown()
        server.server_close()
        thread.join(timeout=60)
