"""`openwop-console serve`: starts everything in order, keeps it alive, stops it in reverse.

One loop in one thread. It says on the terminal what a person needs and leaves the rest to the logs.
"""

import http.client
import ipaddress
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress

import click

from openwop_console.environment import text
from openwop_console.supervisor import programs
from openwop_console.supervisor.children import Child, ChildFailed, stop, wait_until_ready
from openwop_console.supervisor.embedded import Servers
from openwop_console.supervisor.folder import Folder, write_json
from openwop_console.supervisor.leftovers import stop_leftovers
from openwop_console.supervisor.ports import bound, free_port
from openwop_console.supervisor.postgres import Cluster
from openwop_console.supervisor.prepare import ADMIN
from openwop_console.supervisor.redis_server import RedisServer
from openwop_console.supervisor.wakeups import StopAsked, Wakeups

ANSWER_TIMEOUT_S = 2.0
LOOK_EVERY_S = 1.0


def serve(folder: Folder, address: str, port: int) -> None:
    """Run a Console on a folder until somebody stops it.

    Raises:
        AlreadyRunning: the folder is served by another process.
        FolderUnusable: it cannot be written.
        PortTaken: the address cannot be bound.
        ChildFailed: something it needs ended during the start.
        StartTimedOut: something it needs did not come up.
    """
    os.umask(0o077)
    folder.make()
    with folder.locked(), Wakeups() as wakeups, bound(address, port) as sock:
        console = Console(folder, sock, wakeups.wait)
        folder.announce(console.url)
        try:
            console.start()
            console.watch()
        except StopAsked:
            tell("\nStopping ...")
        finally:
            console.stop()
    tell("Stopped.")


class Console:
    """Everything that one `serve` runs."""

    def __init__(self, folder: Folder, sock: socket.socket, wait: Callable[[float], None]) -> None:
        self.folder = folder
        self.sock = sock
        self.wait = wait
        self.address, self.port = sock.getsockname()[:2]
        self.url = f"http://{shown(self.address)}:{self.port}"
        self.servers: list[Child] = []
        self.processes: list[Child] = []

    def start(self) -> None:
        """Bring everything up, in order; return when a browser would get a page."""
        began = time.monotonic()
        tell(f"OpenWOP Console, in {self.folder.path}")
        is_new = "host" not in self.folder.secrets()
        servers = self._start_servers()
        local = ipaddress.ip_address(self.address).is_loopback
        env = programs.environment(self.folder, servers, self.url, local=local)
        self._prepare(env)
        web = Child(programs.web(self.folder, env, self.sock.fileno()))
        self.processes.append(web)
        self.processes.append(Child(programs.worker(self.folder, env)))
        wait_until_ready(web, self._answers, self.wait)
        self.processes.append(Child(programs.slow_worker(self.folder, env)))
        self.processes.append(Child(programs.beat(self.folder, env)))
        card = self._write_card(servers)
        say("web, workers", f"logs in {self.folder.path / 'logs'}")
        self._welcome(card, time.monotonic() - began, is_new=is_new)

    def watch(self) -> None:
        """Restart whatever dies, until a stop signal comes."""
        while True:
            now = time.monotonic()
            children = [*self.servers, *self.processes]
            for child in children:
                if news := child.heal(now):
                    tell(f"  {news}")
            due = [child.due - now for child in children if child.due is not None]
            self.wait(min([LOOK_EVERY_S, *due]))

    def stop(self) -> None:
        """End our processes, then the servers they use. A second stop signal ends all at once."""
        try:
            stop(reversed(self.processes), self.wait)
            stop(reversed(self.servers), self.wait)
        except StopAsked:
            for child in [*self.processes, *self.servers]:
                child.kill()

    def _start_servers(self) -> Servers:
        """Start both embedded servers at once, or neither where a URL names another."""
        redis_url, database_url = text("REDIS_URL"), text("DATABASE_URL")
        redis = None if redis_url else self._start_redis()
        cluster = None if database_url else self._start_postgres()
        if redis is not None:
            wait_until_ready(self.servers[0], redis.is_ready, self.wait)
            say("redis", f"127.0.0.1:{redis.port}")
        if cluster is not None:
            server = self.servers[-1]
            wait_until_ready(server, lambda: cluster.is_ready(server.pid), self.wait)
            say("postgresql", f"127.0.0.1:{cluster.port}")
        return Servers(
            database_url=cluster.url if cluster else database_url,
            redis_url=redis.url if redis else redis_url,
        )

    def _start_redis(self) -> RedisServer:
        password = str(self.folder.secrets()["redisPassword"])
        port = self._kept_port("redisPort")
        redis = RedisServer(self.folder.path / "redis", port, password, self.folder.log("redis"))
        self.servers.append(Child(redis.program()))
        return redis

    def _start_postgres(self) -> Cluster:
        path, log = self.folder.path / "postgres", self.folder.log("postgres")
        if stopped := stop_leftovers(path):
            say("postgresql", f"stopped {len(stopped)} processes of a killed Console")
        password = str(self.folder.secrets()["postgresPassword"])
        cluster = Cluster(path, self._kept_port("postgresPort"), password, log)
        self.servers.append(Child(cluster.program()))
        return cluster

    def _kept_port(self, name: str) -> int:
        """Return the port of the last start when it is free, else another, and keep it."""
        kept = self.folder.secrets().get(name)
        port = free_port(kept if isinstance(kept, int) else 0)
        if port != kept:
            self.folder.remember(**{name: port})
        return port

    def _prepare(self, env: dict[str, str]) -> None:
        program = programs.prepare(self.folder, env)
        child = Child(program)
        self.processes.append(child)
        while (status := child.ended()) is None:
            self.wait(0.05)
        self.processes.remove(child)
        if status != 0:
            raise ChildFailed("Preparing the database", status, program.log)
        say("database", "migrated")

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(
            shown(self.address).strip("[]"), self.port, timeout=ANSWER_TIMEOUT_S
        )
        with suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/readyz")
            return connection.getresponse().status < http.HTTPStatus.INTERNAL_SERVER_ERROR
        return False

    def _write_card(self, servers: Servers) -> dict[str, object]:
        """Write `console.json`: how people and programs reach this Console."""
        kept = self.folder.secrets()
        card: dict[str, object] = {
            "url": self.url,
            "admin": {"username": ADMIN, "password": kept["adminPassword"]},
            "host": kept["host"],
            "databaseUrl": servers.database_url,
            "redisUrl": servers.redis_url,
        }
        write_json(self.folder.console_file, card)
        return card

    def _welcome(self, card: dict[str, object], seconds: float, *, is_new: bool) -> None:
        """Say where it is. The password and the key are shown once, at the first start."""
        tell(f"Ready in {seconds:.1f} s: {self.url}")
        if is_new:
            admin, host = card["admin"], card["host"]
            assert isinstance(admin, dict)  # noqa: S101  (built a few lines above)
            assert isinstance(host, dict)  # noqa: S101
            tell(f"  sign in as    {admin['username']}  password {admin['password']}")
            tell(f"  host {host['id']}    key {host['key']}")
            tell(f"  Shown once. Kept in {self.folder.console_file}")
        else:
            tell(f"  Password and host key are in {self.folder.console_file}")
        tell("  Stop with Ctrl-C.")


def shown(address: str) -> str:
    """Return an address as a browser on this machine would write it."""
    found = ipaddress.ip_address(address)
    if found.is_unspecified:
        return "127.0.0.1"
    return f"[{address}]" if found.version == 6 else address


def say(what: str, news: str) -> None:
    """Print one status line."""
    tell(f"  {what:<18}{news}")


def tell(line: str) -> None:
    """Print a line; a reader who has gone away is no reason to stop."""
    with suppress(OSError):
        click.echo(line)
