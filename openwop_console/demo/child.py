"""The demo host as a child process that never outlives its parent.

The parent holds the child's standard input; when that closes, for whatever reason, the child stops.
Keys travel in the environment, not in the argument list.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

_READY = "listening on "
_STOP_WITHIN_S = 10.0
_INHERITED = frozenset({"HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "TMPDIR"})
"""The child needs none of the Console's own secrets."""


class HostNotReady(Exception):
    """The demo host ended before it listened."""

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status

    def __str__(self) -> str:
        return f"The demo host ended before it listened (status {self.status})."


class HostEnded(Exception):
    """The demo host ended while it was played."""

    def __str__(self) -> str:
        return "The demo host has ended."


@dataclass(frozen=True, slots=True)
class ChildHost:
    """A running demo host and a way to talk to it."""

    url: str
    http: httpx.Client
    process: subprocess.Popen[str]

    def discovery(self) -> dict[str, Any]:
        """What the host advertises."""
        return self._object("GET", "/.well-known/openwop")

    def start(self, workflow_id: str) -> str:
        """Start a run; returns its id."""
        return str(self._object("POST", "/v1/runs", {"workflowId": workflow_id})["runId"])

    def runs(self) -> list[dict[str, Any]]:
        """Snapshots of the host's runs, oldest first."""
        return list(reversed(self._object("GET", "/v1/runs?limit=1000")["runs"]))

    def _object(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """A JSON answer. Raises HostEnded when there is none because the host is gone."""
        try:
            answer = self.http.request(method, path, json=body)
        except httpx.TransportError as error:
            raise HostEnded from error
        found: dict[str, Any] = answer.raise_for_status().json()
        return found


@contextmanager
def child_host(
    *, console_url: str, host_key: str, api_key: str, pace_s: float
) -> Iterator[ChildHost]:
    """A demo host that sends to a Console, for as long as the block lasts.

    Raises:
        HostNotReady: it ended before it listened.
    """
    environment = {
        **{name: value for name, value in os.environ.items() if name in _INHERITED},
        "OPENWOP_DEMO_CONSOLE": console_url,
        "OPENWOP_DEMO_KEY": host_key,
        "OPENWOP_DEMO_API_KEY": api_key,
    }
    module = "openwop_console.demo.host"
    process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
        [sys.executable, "-m", module, "--pace", str(pace_s), "--until-stdin-closes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,  # Ctrl-C is ours to pass on, by closing its input
    )
    try:
        url = _address(process)
        headers = {"authorization": f"Bearer {api_key}"}
        with httpx.Client(base_url=url, headers=headers, trust_env=False) as http:
            yield ChildHost(url, http, process)
    finally:
        _stop(process)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None  # noqa: S101 - we asked for a pipe
    line = process.stdout.readline()
    if not line.startswith(_READY):
        raise HostNotReady(process.poll())
    return line.removeprefix(_READY).strip()


def _stop(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(_STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
