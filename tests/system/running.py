"""The product as a user starts it: `openwop-console serve` in a folder of its own, watched."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0


class Running:
    """One started Console. Its output is read as it comes; its processes are known by pidfd."""

    def __init__(
        self, folder: Path, env: Mapping[str, str] | None = None, prefix: Sequence[str] = ()
    ) -> None:
        self.folder = folder
        self.command = [*(prefix or [sys.executable]), "-m", "openwop_console"]
        self.env = {**_surroundings(), "DATA_DIR": str(folder), "PORT": "0", **(env or {})}
        self.lines: list[str] = []
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            [*self.command, "serve"],
            env=self.env,
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def card(self) -> dict[str, Any]:
        return json.loads((self.folder / "console.json").read_text())

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def until(self, words: str, seen: int = 0) -> int:
        """Wait for a line with these words after the first `seen`; return the lines seen then."""

        def found() -> int | None:
            return next(
                (n + 1 for n, line in enumerate(self.lines) if n >= seen and words in line), None
            )

        with self._news:
            self._news.wait_for(lambda: found() or not self._reader.is_alive(), timeout=PATIENCE_S)
            line = found()
            assert line is not None, f"never said {words!r}:\n{self.output}"
            return line

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run another command on the same folder."""
        return subprocess.run(
            [*self.command, *words],
            env=self.env,
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    def status_of(self, path: str) -> int:
        with urllib.request.urlopen(self.card["url"] + path, timeout=PATIENCE_S) as answer:
            return answer.status

    def child(self, name: str) -> int:
        """Return the process id of a child by the name the supervisor gives it."""
        marks = {
            "postgres": "/bin/postgres\0-D",
            "redis": "-server",
            "web": "openwop_console.supervisor.web",
            "worker": "--queues\0default",
            "slow-worker": "--queues\0jobs,pull",
            "beat": "celery\0-A\0openwop_console.celery\0beat",
        }
        found = [pid for pid in children_of(self.process.pid) if marks[name] in command_line(pid)]
        assert len(found) == 1, f"{name}: {found}"
        return found[0]

    def interrupt(self) -> int:
        """Press Ctrl-C; return the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)

    def end(self) -> None:
        """Leave nothing behind, whatever the test did."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        if self.process.stdout is not None:
            self.process.stdout.close()

    @property
    def family(self) -> "Watched":
        """Everything that this Console has started and that runs now."""
        return Watched(descendants_of(self.process.pid))

    def kill_everything(self) -> None:
        """Kill the supervisor and all it has started, the supervisor first."""
        for pid in [self.process.pid, *descendants_of(self.process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(PATIENCE_S)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._news.notify_all()


def _surroundings() -> dict[str, str]:
    """Return our environment without what would point a Console at other servers than its own."""
    ours = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "OPENWOP_CONSOLE_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def eventually(true: Callable[[], object], within_s: float = PATIENCE_S) -> None:
    """Return once something holds that nobody announces."""
    deadline = time.monotonic() + within_s
    pause = threading.Event()
    while not true():
        assert time.monotonic() < deadline, "it never held"
        pause.wait(0.05)


def _told_by_kernel(path: str) -> str:
    """Return what the kernel tells of a process, nothing of one that has ended meanwhile."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def children_of(pid: int) -> list[int]:
    return [int(child) for child in _told_by_kernel(f"/proc/{pid}/task/{pid}/children").split()]


def descendants_of(pid: int) -> list[int]:
    found = children_of(pid)
    return found + [each for child in found for each in descendants_of(child)]


def command_line(pid: int) -> str:
    return _told_by_kernel(f"/proc/{pid}/cmdline")


class Watched:
    """Processes that must come to an end. A zombie has ended, whoever should have reaped it."""

    def __init__(self, pids: Sequence[int]) -> None:
        self.pidfds: list[int] = []
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                self.pidfds.append(os.pidfd_open(pid))

    def all_end(self, within_s: float = 15.0) -> bool:
        deadline = time.monotonic() + within_s
        poll = select.poll()
        for pidfd in self.pidfds:
            poll.register(pidfd, select.POLLIN)
        while self.pidfds and (left := deadline - time.monotonic()) > 0:
            for pidfd, _ in poll.poll(left * 1000):
                poll.unregister(pidfd)
                os.close(pidfd)
                self.pidfds.remove(pidfd)
        return not self.pidfds
