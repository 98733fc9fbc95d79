"""The Console's own processes as programs, and the environment they share."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from openwop_console.environment import text
from openwop_console.supervisor.children import Program
from openwop_console.supervisor.embedded import Servers
from openwop_console.supervisor.folder import PROJECT, Folder

LOOPBACK = "127.0.0.0/8,::1/128"
WORKER_PROCESSES = 2
SLOW_QUEUES = "jobs,pull"
"""Work that waits long for models and hosts; decisions must not stand in line behind it."""


def environment(folder: Folder, servers: Servers, url: str, *, local: bool) -> dict[str, str]:
    """Return our own environment with what the folder and the servers add to it.

    What is set already wins. A Console that only this machine can reach may deliver to hosts on
    this machine.
    """
    keys = folder.secrets()
    offered = {
        "SECRET_KEY": str(keys["secretKey"]),
        "OPENWOP_CONSOLE_ENCRYPTION_KEY": str(keys["encryptionKey"]),
        "OPENWOP_CONSOLE_UUID": str(keys["consoleUuid"]),
        "OPENWOP_CONSOLE_URL": url,
        "OPENWOP_CONSOLE_ALLOW_PRIVATE": LOOPBACK if local else "",
    }
    missing = {name: value for name, value in offered.items() if not text(name)}
    fixed = {
        "DATABASE_URL": servers.database_url,
        "REDIS_URL": servers.redis_url,
        "DATA_DIR": str(folder.path),
        "PYTHONUNBUFFERED": "1",
    }
    return {**os.environ, **missing, **fixed}


def prepare(folder: Folder, env: dict[str, str]) -> Program:
    """Return the step that readies the database."""
    return _python("prepare", folder, env, "-m", "openwop_console.supervisor.prepare")


def web(folder: Folder, env: dict[str, str], descriptor: int) -> Program:
    """Return the web process on a bound socket."""
    program = _python("web", folder, env, "-m", "openwop_console.supervisor.web", str(descriptor))
    return replace(program, descriptors=(descriptor,))


def worker(folder: Folder, env: dict[str, str]) -> Program:
    """Return the Celery worker that has decisions delivered and gates kept, and does it now."""
    words = worker_words(WORKER_PROCESSES)
    return _python("worker", folder, env, *words, "--queues", "default")


def slow_worker(folder: Folder, env: dict[str, str]) -> Program:
    """Return the Celery worker for what waits long."""
    words = (*worker_words(WORKER_PROCESSES), "--hostname", "slow@%h", "--queues", SLOW_QUEUES)
    return _python("slow-worker", folder, env, *words)


def worker_words(processes: int) -> tuple[str, ...]:
    """Return the words after `python` that start a worker.

    Gossip and mingle are off: workers here have nothing to tell each other, and mingle costs a
    second at every start.
    """
    return (
        *("-m", "celery", "-A", "openwop_console.celery", "worker", "--loglevel", "INFO"),
        *("--concurrency", str(processes), "--prefetch-multiplier", "1"),
        *("--without-gossip", "--without-mingle"),
    )


def beat(folder: Folder, env: dict[str, str]) -> Program:
    """Return the clock that rings for sweeps; without a pid file, none can go stale."""
    schedule = str(folder.path / "beat-schedule")
    words = ("-m", "celery", "-A", "openwop_console.celery", "beat", "--loglevel", "INFO")
    return _python("beat", folder, env, *words, "--schedule", schedule, "--pidfile", "")


def _python(name: str, folder: Folder, env: dict[str, str], *words: str) -> Program:
    return Program(
        name=name,
        argv=(sys.executable, *words),
        log=folder.log(name),
        env=env,
        cwd=Path(PROJECT),
    )
