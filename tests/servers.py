"""Starts the PostgreSQL and the Redis that tests run on, before Django reads its settings.

Loaded by `-p tests.servers` in pyproject.toml. DATABASE_URL and REDIS_URL, where both are set, are
used instead, by one process: of several, each starts its own, since Redis has no databases of
different names to tell them apart.
"""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

from cryptography.fernet import Fernet

from openwop_console.supervisor.embedded import running_servers

_running = ExitStack()

os.environ.setdefault("OPENWOP_CONSOLE_ENCRYPTION_KEY", Fernet.generate_key().decode())
os.environ.setdefault("OPENWOP_CONSOLE_ALLOW_PRIVATE", "127.0.0.0/8")
is_one_of_many = "PYTEST_XDIST_WORKER" in os.environ
if is_one_of_many or not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
    folder = _running.enter_context(tempfile.TemporaryDirectory(prefix="openwop-console-tests-"))
    servers = _running.enter_context(running_servers(Path(folder) / "servers"))
    os.environ["DATABASE_URL"] = servers.database_url
    os.environ["REDIS_URL"] = servers.redis_url


def pytest_unconfigure() -> None:
    """Stop what was started."""
    _running.close()
