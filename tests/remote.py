"""The demo host as the remote host of a test: served by uvicorn in a thread of its own."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx

from openwop_console.demo.application import Host, Options
from openwop_console.demo.server import HostServer

API_KEY = "key-of-the-tests"
CAPTURED = Path(__file__).parent / "fixtures" / "captured_interrupts"


class RunningHost:
    """A host on a free port, with the routes that let a test misuse it and look inside."""

    def __init__(self, **options: Any) -> None:
        defaults = {"api_key": API_KEY, "captured": CAPTURED, "has_faults": True}
        self.options = Options(**{**defaults, **options})
        self.is_up = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self.thread.start()
        assert self.is_up.wait(60)

    async def serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.host = Host(self.options)
        self.server = HostServer(self.host)
        self.url = self.server.url
        self.is_up.set()  # the socket listens already: a first request waits for the server
        await self.server.run_until_stopped()

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(60)
        assert not self.thread.is_alive()

    def call(self, method: str, path: str, **more: Any) -> Any:
        headers = {"authorization": f"Bearer {self.options.api_key}"}
        answer = httpx.request(method, self.url + path, headers=headers, timeout=15, **more)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def start(self, workflow: str) -> str:
        """Start a run and return its id."""
        return self.call("POST", "/v1/runs", json={"workflowId": workflow})["runId"]

    def resolves(self, count: int = 1) -> list[dict[str, Any]]:
        """Return the resolve requests that arrived, once there are so many."""
        seen = self.call("GET", "/admin/faults", params={"count": count, "timeout": 10})
        return seen["received"]
