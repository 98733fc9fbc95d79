"""PostgreSQL and Redis for the length of a block, or of a command: what tests and checks run on.

`python -m openwop_console.supervisor.embedded COMMAND ...` runs a command on the two.
"""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from openwop_console.supervisor.children import Child, stop, wait_until_ready
from openwop_console.supervisor.leftovers import stop_leftovers
from openwop_console.supervisor.ports import free_port
from openwop_console.supervisor.postgres import Cluster
from openwop_console.supervisor.redis_server import RedisServer


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the two servers answer."""

    database_url: str
    redis_url: str


@contextmanager
def running_servers(folder: Path) -> Iterator[Servers]:
    """Yield a PostgreSQL and a Redis that live as long as the block; nothing they hold is durable.

    Args:
        folder: an empty folder of the caller's, who also removes it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    password = secrets.token_urlsafe(16)
    redis = RedisServer(folder / "redis", free_port(), password, folder / "redis.log")
    cluster = Cluster(
        folder / "postgres", free_port(), password, folder / "postgres.log", durable=False
    )
    stop_leftovers(cluster.path)
    children: list[Child] = []
    try:
        children.append(Child(redis.program()))
        children.append(Child(cluster.program()))
        wait_until_ready(children[0], redis.is_ready, time.sleep)
        wait_until_ready(children[1], lambda: cluster.is_ready(children[1].pid), time.sleep)
        yield Servers(cluster.url, redis.url)
    finally:
        stop(children, time.sleep)


def main(command: list[str]) -> int:
    """Run a command on servers of its own and return its exit status."""
    with tempfile.TemporaryDirectory() as folder, running_servers(Path(folder)) as servers:
        urls = {"DATABASE_URL": servers.database_url, "REDIS_URL": servers.redis_url}
        return subprocess.run(command, env={**os.environ, **urls}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
