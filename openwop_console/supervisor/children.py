"""Child processes that heal: started in groups of their own, restarted when they die.

On Linux the kernel ends them when we die, however we die. Nothing here knows what they are.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
SETTLED_AFTER_S = 20.0
"""A child that lived this long starts over with the shortest pause."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, how to ask it to stop, and how long it may take over that."""

    name: str
    argv: tuple[str, ...]
    log: Path
    env: Mapping[str, str]
    stdin: bytes = b""
    """Written to the child's standard input, which is then closed."""
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    """What the kernel sends it when the supervisor is gone."""
    grace_s: float = 8.0
    uid: int | None = None
    gid: int | None = None
    descriptors: tuple[int, ...] = ()
    cwd: Path = field(default_factory=Path)


class ProgramMissing(RuntimeError):
    """A server program is not installed."""


class ChildFailed(RuntimeError):
    """A child ended before it was of any use."""

    def __init__(self, name: str, status: int, log: Path) -> None:
        super().__init__(f"{name} ended with status {status}. The end of {log}:\n{tail(log)}")


class StartTimedOut(RuntimeError):
    """A child runs and is not ready."""

    def __init__(self, name: str, seconds: float, log: Path) -> None:
        super().__init__(f"{name} was not ready in {seconds:.0f} s. The end of {log}:\n{tail(log)}")


def tail(log: Path, lines: int = 12) -> str:
    """Return the last lines of a log, indented."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 8192))
            found = file.read().decode(errors="replace").splitlines()
    except OSError:
        return "  (no log)"
    return "\n".join(f"  {line}" for line in found[-lines:])


def pause_s(failures: int) -> float:
    """Return how long to wait before a restart, given how often in a row the child has failed."""
    return float(min(FIRST_PAUSE_S * 2**failures, LONGEST_PAUSE_S))


def spawn(program: Program) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, writing to its log."""
    with program.log.open("ab") as log:
        process = subprocess.Popen(
            program.argv,
            stdin=subprocess.PIPE if program.stdin else subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=dict(program.env),
            cwd=program.cwd,
            process_group=0,
            user=program.uid,
            group=program.gid,
            extra_groups=None if program.uid is None else [],
            pass_fds=program.descriptors,
            preexec_fn=_tied_to_us(program.death_signal),
        )
    if process.stdin is not None:
        with process.stdin:
            process.stdin.write(program.stdin)
    return process


def _tied_to_us(death_signal: signal.Signals) -> Callable[[], None] | None:
    """Return what a new child runs before its program so that it does not outlive us."""
    libc, parent = _libc, os.getpid()
    if libc is None:
        return None

    def tie() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # we died before the kernel was told
            os._exit(1)

    return tie


class Child:
    """One program kept alive."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.process = spawn(program)
        self.failures = 0
        self._started = time.monotonic()
        self._due: float | None = None

    @property
    def pid(self) -> int:
        """Return the process id, of the last one while none runs."""
        return self.process.pid

    @property
    def due(self) -> float | None:
        """Return the monotonic time of the next restart, or None while it runs."""
        return self._due

    def ended(self) -> int | None:
        """Return its exit status once it has ended, after whatever it left in its group is killed.

        The group is killed before its leader is reaped: until then its number is not reused.
        """
        if self.process.returncode is None:
            dead = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if dead is None:
                return None
            self._kill_group(signal.SIGKILL)
            self.process.wait()
        return self.process.returncode

    def heal(self, now: float) -> str:
        """Restart it when it has ended and its pause is over; return what happened, or ""."""
        status = self.ended()
        if status is None:
            return ""
        if self._due is None:
            settled = now - self._started >= SETTLED_AFTER_S
            self.failures = 0 if settled else self.failures
            self._due = now + pause_s(self.failures)
            return f"{self.program.name} ended ({status}); again in {self._due - now:.1f} s"
        if now < self._due:
            return ""
        self.process, self._started, self._due = spawn(self.program), now, None
        self.failures += 1
        return f"{self.program.name} restarted, process {self.pid}"

    def ask_to_stop(self) -> None:
        """Send the polite signal."""
        if self.ended() is None:
            self.process.send_signal(self.program.stop_signal)

    def kill(self) -> None:
        """End it and its group now."""
        if self.ended() is None:
            self._kill_group(signal.SIGKILL)
            self.process.wait()

    def _kill_group(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            # Nothing is left, or (macOS) only the zombie that we are about to reap.
            return


def stop(children: Iterable[Child], tick: Callable[[float], object]) -> None:
    """Ask all of them to stop at once, then kill those whose grace is over.

    Args:
        children: those that may end together.
        tick: waits for so many seconds, less when a child ends.
    """
    waiting = list(children)
    began = time.monotonic()
    for child in waiting:
        child.ask_to_stop()
    while waiting := [child for child in waiting if child.ended() is None]:
        for child in waiting:
            if time.monotonic() - began > child.program.grace_s:
                child.kill()
        tick(0.05)


def wait_until_ready(
    child: Child,
    is_ready: Callable[[], bool],
    tick: Callable[[float], object],
    seconds: float = 120.0,
) -> None:
    """Return once a new child is of use.

    Raises:
        ChildFailed: it ended instead.
        StartTimedOut: it still runs, unready.
    """
    name, log = child.program.name, child.program.log
    deadline = time.monotonic() + seconds
    while not is_ready():
        status = child.ended()
        if status is not None:
            raise ChildFailed(name, status, log)
        if time.monotonic() > deadline:
            raise StartTimedOut(name, seconds, log)
        tick(0.02)
