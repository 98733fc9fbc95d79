"""PostgreSQL processes that outlived a killed supervisor: found, told from strangers, stopped.

Only the holder of a `DATA_DIR`'s lock may call this, so whatever still runs on its cluster is an
orphan. A process is ours if it is a `postgres` that works inside the cluster's folder; a number
in a stale `postmaster.pid` proves nothing, for the kernel reuses it.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

_STEPS = ((signal.SIGINT, 8.0), (signal.SIGQUIT, 3.0), (signal.SIGKILL, 2.0))
"""Fast shutdown, then immediate, then none; each with the seconds it gets."""


def stop_leftovers(cluster: Path) -> list[int]:
    """Stop every server process of a cluster; return the ids of those found.

    A `postmaster.pid` that names a living stranger is removed: PostgreSQL would take the stranger
    for a server and refuse to start. One that names a dead process stays, for PostgreSQL checks it.
    """
    found = running(cluster)
    for number, seconds in _STEPS:
        for pid in running(cluster):
            _send(pid, number)
        if _gone_within(cluster, seconds):
            break
    named = named_postmaster(cluster)
    if named is not None and _lives(named) and not running(cluster):
        (cluster / "postmaster.pid").unlink(missing_ok=True)
    return found


def running(cluster: Path) -> list[int]:
    """Return the ids of the server processes that work in a cluster, the postmaster first."""
    named = named_postmaster(cluster)
    candidates = _all_processes() if Path("/proc/self/cwd").exists() else [named or 0]
    ours = [pid for pid in candidates if pid and _serves(pid, cluster)]
    return sorted(ours, key=lambda pid: (pid != named, pid))


def named_postmaster(cluster: Path) -> int | None:
    """Return the process id that `postmaster.pid` names, if it names one."""
    try:
        first = (cluster / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0]
        return int(first)
    except (OSError, ValueError):
        return None


def _all_processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _serves(pid: int, cluster: Path) -> bool:
    """Say whether a process is a `postgres` of this cluster."""
    entry = Path(f"/proc/{pid}")
    if not Path("/proc/self/cwd").exists():
        return _named_on_command_line(pid, cluster)
    try:
        named = (entry / "comm").read_text(encoding="utf-8").strip()
        return named == "postgres" and (entry / "cwd").samefile(cluster)
    except OSError:
        return False


def _named_on_command_line(pid: int, cluster: Path) -> bool:
    """Ask `ps`, where there is no /proc (macOS)."""
    shown = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return "postgres" in shown and f"-D {cluster} " in shown


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _gone_within(cluster: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while running(cluster):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
